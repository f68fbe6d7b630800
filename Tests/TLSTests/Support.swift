import Foundation
import Packets
import Streams
import TLS

/// Keeps what a connection reports, per direction.
final class TLSLog: TLSReceiver {
    /// An entry and its direction.
    struct Call: Hashable {
        let entry: Entry
        let direction: Direction
    }

    enum Entry: Hashable {
        case plaintext([UInt8])
        case lost(Int, isExact: Bool, records: Int)
        case event(TLSEvent)
    }

    private(set) var entries = PerDirection<[Entry]>(fromClient: [], fromServer: [])
    /// Those of both directions, in order.
    private(set) var calls: [Call] = []

    func plaintext(_ bytes: RawSpan, from direction: Direction) {
        add(.plaintext(bytes.copied()), direction)
    }

    func lost(plaintextBytes: Int, isExact: Bool, records: Int, from direction: Direction) {
        add(.lost(plaintextBytes, isExact: isExact, records: records), direction)
    }

    func event(_ event: TLSEvent, from direction: Direction) {
        add(.event(event), direction)
    }

    private func add(_ entry: Entry, _ direction: Direction) {
        entries[direction].append(entry)
        calls.append(Call(entry: entry, direction: direction))
    }

    /// All plaintext of a direction.
    func text(_ direction: Direction) -> [UInt8] {
        entries[direction].flatMap { entry -> [UInt8] in
            if case .plaintext(let bytes) = entry { bytes } else { [] }
        }
    }

    /// All events of a direction.
    func events(_ direction: Direction) -> [TLSEvent] {
        entries[direction].compactMap { entry in
            if case .event(let event) = entry { event } else { nil }
        }
    }

    var allEvents: [TLSEvent] { events(.fromClient) + events(.fromServer) }

    /// What was negotiated, in order.
    var negotiations: [Negotiation] {
        allEvents.compactMap { event in
            if case .negotiated(let negotiation) = event { negotiation } else { nil }
        }
    }

    var failures: [DecryptionFailure] {
        allEvents.compactMap { event in
            if case .decryptionFailed(let failure) = event { failure } else { nil }
        }
    }
}

/// One step of feeding a connection.
enum Step: Hashable {
    case bytes([UInt8], Direction)
    case missing(Int, Direction)
    case finish(Direction)
}

/// Feeds a new connection; returns what it reported, and the connection.
@discardableResult
func run(_ steps: [Step], _ keys: KeyLog) -> (log: TLSLog, connection: TLSConnection) {
    let log = TLSLog()
    var connection = TLSConnection()
    for step in steps {
        switch step {
        case .bytes(let bytes, let direction):
            connection.receive(bytes.span.bytes, from: direction, keys: keys, into: log)
        case .missing(let count, let direction):
            connection.missing(count, from: direction, keys: keys, into: log)
        case .finish(let direction): connection.finish(from: direction, keys: keys, into: log)
        }
    }
    return (log, connection)
}

/// A captured conversation with its keys: `fixtures/tls/README.md` says how they were made.
struct Recording: CustomStringConvertible {
    let name: String
    let keys: KeyLog
    /// The segments of each connection, in order of capture.
    let connections: [[Step]]

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "fixtures/tls")

    var description: String { name }

    /// Every recording.
    static let names: [String] = {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return files.filter { $0.hasSuffix(".pcap") }.map { String($0.dropLast(5)) }.sorted()
    }()

    init(_ name: String) throws {
        self.name = name
        keys = try Recording.keys(name)
        let capture = try Data(contentsOf: Recording.folder.appending(path: name + ".pcap"))
        let log = StreamEventLog()
        var decoder = CaptureDecoder(receiver: log)
        var parser = CaptureParser()
        _ = try parser.parse(Array(capture).span.bytes, isLast: true, to: &decoder)
        decoder.finish()
        var connections: [Int: [Step]] = [:]
        for event in log.events {
            switch event {
            case .received(let number, let direction, let bytes, _, _):
                connections[number, default: []].append(.bytes(bytes, direction))
            case .missing(let number, let direction, let count, _):
                connections[number, default: []].append(.missing(count, direction))
            case .finished(let number, let direction, _, _):
                connections[number, default: []].append(.finish(direction))
            case .opened, .noticed, .closed: break
            }
        }
        self.connections = connections.sorted { $0.key < $1.key }.map { $0.value + Recording.ends }
    }

    static let ends: [Step] = [.finish(.fromClient), .finish(.fromServer)]

    static func keys(_ name: String) throws -> KeyLog {
        var keys = KeyLog()
        let text = try Data(contentsOf: folder.appending(path: name + ".keys"))
        _ = keys.add(Array(text).span.bytes)
        return keys
    }

    /// What tshark decrypts: a line a connection and direction, such as `0 client hello\n`, with escaped line ends.
    static func expected(_ name: String) throws -> [PerDirection<[UInt8]>] {
        let text = try String(contentsOf: folder.appending(path: name + ".plaintext"), encoding: .utf8)
        let lines = text.split(separator: "\n").map { line in
            let plaintext = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)[2]
            return Array(
                plaintext.replacingOccurrences(of: "\\n", with: "\n").replacingOccurrences(of: "\\r", with: "\r").utf8)
        }
        return stride(from: 0, to: lines.count - 1, by: 2).map {
            PerDirection(fromClient: lines[$0], fromServer: lines[$0 + 1])
        }
    }

    /// The bytes of one direction of a connection, joined.
    func stream(_ direction: Direction, of connection: Int = 0) -> [UInt8] {
        connections[connection].flatMap { step -> [UInt8] in
            if case .bytes(let bytes, direction) = step { bytes } else { [] }
        }
    }
}

/// The bytes that hexadecimal digits stand for; spaces are left out.
func hex(_ text: String) -> [UInt8] {
    let digits = text.compactMap { $0.hexDigitValue.map(UInt8.init) }
    return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

/// A small generator whose numbers depend on its seed alone (SplitMix64).
struct Random: RandomNumberGenerator {
    var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

/// The same bytes in pieces of other lengths.
func recut(_ steps: [Step], _ random: inout Random, longest: Int) -> [Step] {
    steps.flatMap { step -> [Step] in
        guard case .bytes(let bytes, let direction) = step else { return [step] }
        var pieces: [Step] = []
        var at = 0
        while at < bytes.count {
            let end = min(bytes.count, at + Int.random(in: 1...longest, using: &random))
            pieces.append(.bytes(Array(bytes[at..<end]), direction))
            at = end
        }
        return pieces
    }
}

/// The segments of both directions in another order, in which each direction keeps its own. Without the ends.
func shuffle(_ steps: [Step], _ random: inout Random) -> [Step] {
    var rest = PerDirection<ArraySlice<Step>>(fromClient: [], fromServer: [])
    for step in steps {
        if case .bytes(_, let direction) = step { rest[direction].append(step) }
    }
    var shuffled: [Step] = []
    // Now this direction gets far ahead, now that.
    while !rest.fromClient.isEmpty || !rest.fromServer.isEmpty {
        let direction: Direction = Bool.random(using: &random) ? .fromClient : .fromServer
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            if let step = rest[direction].popFirst() { shuffled.append(step) }
        }
    }
    return shuffled
}
