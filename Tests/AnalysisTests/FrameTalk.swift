import Analysis
import Framing
import Streams
import Trace

/// Connections to one server, whose frames an analysis gets one by one; times in milliseconds.
struct FrameTalk {
    /// A server that relays and broadcasts.
    static let relay = """
        format: relay
        framing: { rule: head-and-body, head: json, ends: "\\r\\n", size: size }
        client: { frame: { type: type, from: from, to: to } }
        server: { frame: { type: type, from: from } }
        body: text
        relay: { sent: type == "chat", received: type == "chat", within: 1 s }
        broadcast: { sent: type == "news", receipt: type == "seen", within: 1 s }
        """
    static let server = Endpoint(IPAddress(v4: 0x7f00_0001), 9_000)

    private let analysis: any Analysis
    private let format: Format
    private(set) var findings: [Finding] = []
    private var connections: [Int: TracedConnection] = [:]
    private var counts: [Int: PerDirection<Int>] = [:]

    init(_ analysis: any Analysis, format: String = FrameTalk.relay) throws {
        self.analysis = analysis
        self.format = try FormatLoader.load(format, file: "talk.yaml")
    }

    /// A frame, on a connection that is opened with its first one.
    mutating func frame(
        head: [UInt8], body: [UInt8] = [], on number: Int = 1, from direction: Direction = .fromClient, at time: Int64
    ) {
        let connection = connection(number, at: time)
        var count = counts[number] ?? PerDirection(fromClient: 0, fromServer: 0)
        let info = FrameInfo(
            index: count[direction], offset: 0, shape: FrameShape(head: head.count, body: body.count),
            started: .milliseconds(time), time: .milliseconds(time), segments: 1, merged: false, position: 1,
            companions: 1, missing: 0, packet: 0)
        count[direction] += 1
        counts[number] = count
        connection.traffic[direction].add(1, at: info.time)
        let bytes = head + body
        let frame = TracedFrame(info: info, direction: direction, isHeartbeat: false)
        analysis.frame(frame, bytes: bytes.span.bytes, on: connection, into: &findings)
    }

    /// A frame with a JSON head.
    mutating func say(
        _ type: String, _ body: String = "", on number: Int, by direction: Direction = .fromClient, from: String = "",
        to: String = "", at time: Int64
    ) {
        let head =
            #"{"from":"\#(from)","size":"\#(body.utf8.count)","to":"\#(to)","type":"\#(type)"}"# + "\r\n"
        frame(head: Array(head.utf8), body: Array(body.utf8), on: number, from: direction, at: time)
    }

    /// The connection ends; the next frame on one of its number begins another.
    mutating func close(_ number: Int, at time: Int64) {
        guard let connection = connections.removeValue(forKey: number) else { return }
        counts[number] = nil
        let closing = Closing(reason: .fin, by: .fromClient, time: .milliseconds(time))
        analysis.closed(closing, on: connection, into: &findings)
    }

    private mutating func connection(_ number: Int, at time: Int64) -> TracedConnection {
        if let known = connections[number] { return known }
        let client = Endpoint(IPAddress(v4: 0x7f00_0001), UInt16(40_000 + number))
        let opened = TracedConnection(
            Opening(number: number, time: .milliseconds(time), client: client, server: Self.server))
        opened.recognise(format, FormatChoice(by: .option, evidence: "requested"))
        connections[number] = opened
        return opened
    }
}

extension Timestamp {
    fileprivate static func milliseconds(_ time: Int64) -> Timestamp { Timestamp(nanoseconds: time * 1_000_000) }
}
