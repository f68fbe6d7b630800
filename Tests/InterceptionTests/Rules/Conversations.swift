import Foundation
import Framing
import Interception
import Packets
import Streams
import TestSupport
import Testing

/// Conversations of the built-in formats, from their fixtures.
enum Conversations {
    /// A piece of a conversation.
    struct Piece {
        var bytes: [UInt8]
        var direction: Direction
    }

    /// A conversation of a format, each piece as it was sent.
    static func of(_ name: String) throws -> (format: Format, pieces: [Piece]) {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "fixtures/\(name)")
        let file = try #require(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".pcap") }.sorted()
                .first)
        let log = StreamEventLog()
        var reassembly = ReassemblyOptions()
        reassembly.serverPorts = Set(try BuiltInFormats.all().flatMap(\.ports))
        var packets = CaptureDecoder(options: reassembly, receiver: log)
        var reader = CaptureReader(CaptureBytes([UInt8](try Data(contentsOf: folder.appending(path: file)))))
        try reader.read(to: &packets)
        packets.finish()
        let pieces = log.events.compactMap { event -> Piece? in
            guard case .received(1, let direction, let bytes, _, _) = event else { return nil }
            return Piece(bytes: bytes, direction: direction)
        }
        return (try #require(try BuiltInFormats.format(named: name)), pieces)
    }
}

/// The frames and other bytes of a stream.
final class Framed: FrameReceiver {
    /// A frame: its parts and its bytes.
    struct Frame {
        var info: FrameInfo
        var bytes: [UInt8]
    }

    private(set) var frames: [Frame] = []
    private(set) var unframed = 0

    /// Frames a whole stream.
    init(_ bytes: [UInt8], _ direction: Direction, _ format: Format) {
        var framer = Framer(rule: format.directions[direction].rule, direction: direction, aligned: true)
        let (scratch, time) = (FramingScratch(), Timestamp(nanoseconds: 0))
        if !bytes.isEmpty { framer.receive(bytes.span.bytes, at: time, packet: 0, scratch: scratch, into: self) }
        framer.finish(scratch: scratch, into: self)
    }

    func framed(_ frame: FrameInfo, bytes: RawSpan, from direction: Direction) {
        frames.append(Frame(info: frame, bytes: bytes.copied(0..<bytes.byteCount)))
    }

    func unframed(_ run: UnframedRun, from direction: Direction) { unframed += run.byteCount }

    func missing(offset: Int, byteCount: Int, from direction: Direction, at time: Timestamp) {}
}

/// What a chain of stages did with a conversation, on a clock that runs as far as the chain asks for.
struct Played {
    /// The bytes that came out.
    var passed = PerDirection<[UInt8]>(fromClient: [], fromServer: [])
    /// The ends that came out.
    var ends = PerDirection<Ending?>(fromClient: nil, fromServer: nil)
    /// What came out when, in milliseconds since the opening.
    var writes: [(time: Double, bytes: [UInt8], direction: Direction)] = []
    /// What was reported, without times.
    var reports: [ActionReport] = []
    var released = 0

    /// Plays pieces, a millisecond between them, and both ends.
    ///
    /// - Parameter pace: how much time passes between pieces.
    init(
        _ rules: [Rule], seed: UInt64 = 1, connection: Int = 1, _ format: Format?, _ pieces: [Conversations.Piece],
        pace: Interval = .milliseconds(1), limits: StageChain.Limits = StageChain.Limits()
    ) throws {
        let set = RuleSet(rules, seed: seed)
        var chain = set.stages(of: connection, format: format, limits: limits) ?? StageChain([], limits: limits)
        let begin = Timestamp(nanoseconds: 1_000)
        var now = begin
        take(chain.take(.began, at: now), now, begin)
        func wake(_ end: Timestamp, _ played: inout Played) {
            while let next = chain.nextWake, next <= end {
                now = max(now, next)
                played.take(chain.take(.wake, at: now), now, begin)
            }
            now = max(now, end)
        }
        for piece in pieces {
            take(chain.take(.bytes(piece.bytes, piece.direction), at: now), now, begin)
            wake(now + pace, &self)
        }
        for direction in Direction.allCases { take(chain.take(.end(.fin, direction), at: now), now, begin) }
        wake(now + .seconds(1e6), &self)
    }

    private mutating func take(_ outputs: [StageChain.Output], _ now: Timestamp, _ begin: Timestamp) {
        for output in outputs {
            switch output {
            case .write(let bytes, let direction, _):
                passed[direction] += bytes
                writes.append(((now - begin).seconds * 1_000, bytes, direction))
            case .end(let ending, let direction): ends[direction] = ending
            case .report(var report):
                report.time = Timestamp(nanoseconds: 0)
                reports.append(report)
            case .released(let count, _), .discarded(let count, _): released += count
            case .cut(_, let report): if var report { report.time = Timestamp(nanoseconds: 0); reports.append(report) }
            case .pause, .resume, .decided: break
            }
        }
    }
}
