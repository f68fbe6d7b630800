import Foundation
import Packets
import Pipeline
import Streams
import TLS

/// A capture of `fixtures/tls` with its key log, parts of which may be left out.
struct TLSCapture {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../../../fixtures/tls"
    ).standardized

    private let bytes: [UInt8]
    private let lines: [Substring]
    private let expected: [Substring]
    /// Its stream events.
    var events: [StreamEvent]

    init(_ name: String) throws {
        bytes = Array(try Data(contentsOf: Self.folder.appending(path: name + ".pcap")))
        let keys = try String(contentsOf: Self.folder.appending(path: name + ".keys"), encoding: .utf8)
        lines = keys.split(separator: "\n")
        let plaintext = try String(contentsOf: Self.folder.appending(path: name + ".plaintext"), encoding: .utf8)
        expected = plaintext.split(separator: "\n")
        events = []
        let log = StreamEventLog()
        try play(to: log)
        events = log.events
    }

    /// Plays its packets.
    func play(to receiver: any StreamReceiver) throws {
        var decoder = CaptureDecoder(receiver: receiver)
        var parser = CaptureParser()
        _ = try parser.parse(bytes.span.bytes, isLast: true, to: &decoder)
        decoder.finish()
    }

    /// What a direction of a connection sent, as tshark decrypts it.
    func plaintext(_ direction: Direction, of connection: Int = 1) -> [UInt8] {
        let line = expected[2 * (connection - 1) + (direction == .fromClient ? 0 : 1)]
        let text = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)[2]
        return Array(
            text.replacingOccurrences(of: "\\n", with: "\n").replacingOccurrences(of: "\\r", with: "\r").utf8)
    }

    /// The lines of the key log whose labels are wanted.
    func secrets(_ isWanted: (Substring) -> Bool) -> [UInt8] {
        Array((lines.filter { !$0.hasPrefix("#") && isWanted($0) }.joined(separator: "\n") + "\n").utf8)
    }

    /// Its key log without the lines that begin so.
    func keyLog(without label: String? = nil) -> KeyLog {
        var log = KeyLog()
        let text = secrets { line in label.map { !line.hasPrefix($0) } ?? true }
        _ = log.add(text.span.bytes)
        return log
    }

    /// Decrypts its streams.
    func decrypted(_ keys: KeyLog, more: (@Sendable () -> [UInt8])? = nil) -> StreamEventLog {
        var decoding = TLSDecoding()
        (decoding.keyLog, decoding.more) = (keys, more)
        let log = StreamEventLog()
        let streams = DecryptedStreams(decoding, to: log)
        var receivers: [Int: any ConnectionReceiver] = [:]
        for event in events {
            switch event {
            case .opened(let opening): receivers[opening.number] = streams.open(opening)
            case .received(let number, let direction, let bytes, let time, let packet):
                receivers[number]?.received(bytes.span.bytes, from: direction, at: time, packet: packet)
            case .missing(let number, let direction, let count, let time):
                receivers[number]?.missing(count, from: direction, at: time)
            case .noticed(let number, let direction, let notice, let time, let packet):
                receivers[number]?.noticed(notice, from: direction, at: time, packet: packet)
            case .finished(let number, let direction, let ending, let time):
                receivers[number]?.finished(ending, from: direction, at: time)
            case .closed(let number, let closing): receivers[number]?.closed(closing)
            }
        }
        return log
    }
}

extension StreamEventLog {
    /// How many bytes of a direction are missing.
    func missing(of connection: Int, from direction: Direction) -> Int {
        events.reduce(0) { sum, event in
            if case .missing(connection, direction, let count, _) = event { sum + count } else { sum }
        }
    }

    /// The notices of a connection.
    func notices(of connection: Int) -> [StreamNotice] {
        events.compactMap { if case .noticed(connection, _, let notice, _, _) = $0 { notice } else { nil } }
    }

    /// What is known about a connection's TLS.
    func facts(of connection: Int) -> [TLSFacts] {
        notices(of: connection).compactMap { if case .tls(let facts) = $0 { facts } else { nil } }
    }

    /// The labels of a connection's missing secrets; nil where none is named.
    func missingLabels(of connection: Int) -> [String?] {
        notices(of: connection).compactMap { notice -> String?? in
            if case .tlsKeysMissing(_, let label) = notice { .some(label) } else { nil }
        }
    }

    /// What is wrong with a connection's TLS.
    func faults(of connection: Int) -> [String] {
        notices(of: connection).compactMap { if case .tlsFault(let text) = $0 { text } else { nil } }
    }
}
