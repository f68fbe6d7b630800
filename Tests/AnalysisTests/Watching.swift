import Analysis
import Expressions
@testable import Framing
import Streams
import TestSupport
import Trace

/// A heartbeat monitor under test: heartbeats every second, a gap after three, times in nanoseconds.
struct Watching {
    static let gap: Int64 = 3_000_000_000
    let monitor: HeartbeatMonitor
    private let chat: ChatBytes
    private(set) var findings: [Finding] = []
    private var connections: [Int: TracedConnection] = [:]
    private var frames: [Int: Int] = [:]

    init(_ monitor: HeartbeatMonitor = HeartbeatMonitor()) throws {
        self.monitor = monitor
        chat = try ChatBytes()
    }

    /// The findings, by connection and time.
    var found: [String] { found(.heartbeatGap) }

    /// The findings of a kind, by connection and time.
    func found(_ kind: Finding.Kind) -> [String] {
        findings.filter { $0.kind == kind }.map { "#\($0.connection) at \($0.time.nanoseconds)" }
    }

    /// A frame of a type, on a connection that is opened with its first frame.
    mutating func frame(_ type: String, at time: Int64, on number: Int = 1, from direction: Direction = .fromClient)
        throws
    {
        let bytes = try chat.message(type, Array("x".utf8), from: direction)
        let shape = FrameShape(head: bytes.count - 1, body: 1)
        let at = Timestamp(nanoseconds: time)
        let info = FrameInfo(
            index: frames[number, default: 0], offset: 0, shape: shape, started: at, time: at, segments: 1,
            merged: false, position: 1, companions: 1, missing: 0, packet: 0)
        frames[number, default: 0] += 1
        let traced = TracedFrame(
            info: info, direction: direction, isHeartbeat: type.hasPrefix("heart"))
        let connection = connection(number)
        connection.traffic[direction].add(1, at: at)
        monitor.frame(traced, bytes: bytes.span.bytes, on: connection, into: &findings)
    }

    /// A heartbeat, after time has passed until then.
    mutating func heartbeat(at time: Int64, on number: Int = 1) throws {
        advance(to: time)
        try frame("heartA", at: time, on: number)
    }

    /// A connection opens, and its format is known.
    mutating func open(at time: Int64, on number: Int) {
        advance(to: time)
        monitor.recognised(connection(number), into: &findings)
    }

    mutating func advance(to time: Int64) {
        monitor.advance(to: Timestamp(nanoseconds: time), into: &findings)
    }

    /// Settles everything due, as far as the client and the server are known.
    mutating func settle(at time: Int64, otherKnown other: Int64, on number: Int = 1) {
        let known = PerDirection(fromClient: Timestamp(nanoseconds: time), fromServer: Timestamp(nanoseconds: other))
        monitor.settle(connection(number), before: known, into: &findings)
    }

    mutating func finish(_ direction: Direction, at time: Int64, on number: Int = 1, passing: Bool = true) {
        if passing { advance(to: time) }
        monitor.finished(direction, at: Timestamp(nanoseconds: time), on: connection(number), into: &findings)
    }

    mutating func close(at time: Int64, on number: Int = 1, passing: Bool = true) {
        if passing { advance(to: time) }
        let closing = Closing(reason: .endOfInput, by: nil, time: Timestamp(nanoseconds: time))
        monitor.closed(closing, on: connection(number), into: &findings)
    }

    private mutating func connection(_ number: Int) -> TracedConnection {
        if let known = connections[number] { return known }
        let address = IPAddress(v4: 0x7f00_0001)
        let opened = TracedConnection(
            Opening(
                number: number, time: Timestamp(nanoseconds: 0), client: Endpoint(address, 40_000),
                server: Endpoint(address, 8_088)))
        opened.recognise(chat.format, FormatChoice(by: .option, evidence: "requested"))
        connections[number] = opened
        return opened
    }
}
