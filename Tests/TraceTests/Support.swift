import Streams

@testable import Framing
@testable import Trace

/// 2026-11-21T08:00:00Z, when every scripted trace begins.
let start = Timestamp(seconds: 1_795_248_000, nanoseconds: 0)

/// A trace written by hand: plays events to a sink, filling in the values that follow from earlier events.
final class Script {
    private let sink: any TraceSink
    private let format: Format
    private var counts: [Int: PerDirection<ByteCounts>] = [:]
    private(set) var connections: [Int: TracedConnection] = [:]

    init(_ sink: any TraceSink) throws {
        self.sink = sink
        guard let format = try BuiltInFormats.format(named: "im-json") else { throw MissingFormat() }
        self.format = format
    }

    struct MissingFormat: Error {}

    /// Opens a connection, and recognises its format unless told otherwise.
    func open(
        _ number: Int = 1, at milliseconds: Int64 = 13, port: UInt16 = 51034, server: UInt16 = 8088,
        by: FormatChoice.Way = .content, isRecognised: Bool = true, handshake: Bool = true, clientGuessed: Bool = false
    ) {
        let loopback = IPAddress(v4: 0x7f00_0001)
        let opening = Opening(
            number: number, time: start + .milliseconds(milliseconds), client: Endpoint(loopback, port),
            server: Endpoint(loopback, server), handshake: handshake, clientGuessed: clientGuessed)
        let connection = TracedConnection(opening)
        connections[number] = connection
        sink.opened(connection)
        if isRecognised {
            connection.recognise(format, FormatChoice(by: by, evidence: "JSON head with size, CRLF"))
        }
        sink.recognised(connection)
    }

    /// How a frame was segmented.
    struct Cutting {
        var segments = 1
        var position = 1
        var companions = 1
        var isMerged = false
        var missing = 0

        static let whole = Cutting()
        static func split(_ segments: Int) -> Cutting { Cutting(segments: segments) }
        static func merged(_ position: Int, of companions: Int) -> Cutting {
            Cutting(position: position, companions: companions, isMerged: true)
        }
    }

    /// A frame with this head and body.
    func frame(
        _ number: Int = 1, from direction: Direction = .fromClient, at time: Timestamp, _ fields: [Field],
        body: [UInt8], _ cutting: Cutting = .whole, isHeartbeat: Bool = false
    ) throws {
        guard let connection = connections[number] else { return }
        let bytes = try format.directions[direction].encode(fields, body: body)
        var count = counts[number] ?? PerDirection(fromClient: ByteCounts(), fromServer: ByteCounts())
        let info = FrameInfo(
            index: count[direction].frames, offset: count[direction].bytes,
            shape: FrameShape(head: bytes.count - body.count, body: body.count), started: time, time: time,
            segments: cutting.segments, merged: cutting.isMerged, position: cutting.position,
            companions: cutting.companions, missing: cutting.missing, packet: 0)
        count[direction].frames += 1
        count[direction].framed += bytes.count
        counts[number] = count
        let frame = TracedFrame(info: info, direction: direction, isHeartbeat: isHeartbeat)
        sink.frame(frame, bytes: bytes.span.bytes, on: connection)
    }

    /// A client's text message.
    func text(
        _ text: String, on number: Int = 1, at milliseconds: Int64 = 20, type: String = "txt",
        from: String = "CinentA", to: String = "CinentB", _ cutting: Cutting = .whole
    ) throws {
        try frame(
            number, at: start + .milliseconds(milliseconds), clientHead(type, from, to), body: Array(text.utf8), cutting
        )
    }

    /// A client's heartbeat.
    func heartbeat(_ number: Int = 1, at milliseconds: Int64 = 14) throws {
        try frame(
            number, at: start + .milliseconds(milliseconds), clientHead("heartA", "CinentA", ""),
            body: Array("A心跳".utf8), isHeartbeat: true)
    }

    func clientHead(_ type: String, _ from: String, _ to: String) -> [Field] {
        [Field("type", .text(type)), Field("CinentID", .text(from)), Field("targetID", .text(to))]
    }

    /// The closing of a connection with these counts.
    func close(
        _ number: Int = 1, at milliseconds: Int64, _ reason: CloseReason = .fin, by: Direction? = .fromClient,
        detail: String? = nil, client: ByteCounts = ByteCounts(), server: ByteCounts = ByteCounts()
    ) {
        guard let connection = connections[number] else { return }
        let closing = Closing(reason: reason, by: by, time: start + .milliseconds(milliseconds), detail: detail)
        sink.closed(closing, counts: PerDirection(fromClient: client, fromServer: server), on: connection)
    }

    /// A heartbeat gap.
    func gap(
        _ number: Int = 1, at milliseconds: Int64, severity: Finding.Severity = .warning,
        message: String = "heartbeat gap: 3.0 s since heartB, expected every 1 s"
    ) {
        sink.finding(
            Finding(
                kind: .heartbeatGap, severity: severity, connection: number, format: "im-json", from: .fromClient,
                time: start + .milliseconds(milliseconds), message: message,
                data: [Field("expectedEvery", .number(1)), Field("lastIndex", .integer(4))]))
    }
}

/// The counts of a direction.
func counts(framed: Int = 0, unframed: Int = 0, padding: Int = 0, missing: Int = 0, frames: Int = 0) -> ByteCounts {
    var counts = ByteCounts()
    (counts.framed, counts.unframed, counts.padding) = (framed, unframed, padding)
    (counts.missing, counts.frames) = (missing, frames)
    return counts
}

/// A scripted trace as text.
func text(_ options: TextOptions = TextOptions(), _ play: (Script, TextWriter) throws -> Void) throws -> String {
    let output = MemoryOutput()
    let writer = TextWriter(to: output, options: options)
    try play(try Script(writer), writer)
    writer.flush()
    return output.text
}

/// A scripted trace as NDJSON.
func ndjson(
    bodyLimit: Int = 4_096, source: String = "chat.pcapng", _ play: (Script, NDJSONWriter) throws -> Void
) throws -> String {
    let output = MemoryOutput()
    let writer = NDJSONWriter(to: output, source: source, tool: "frametap 0.1.0", bodyLimit: bodyLimit)
    try play(try Script(writer), writer)
    writer.flush()
    return output.text
}

/// A small generator whose numbers depend on its seed alone (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
