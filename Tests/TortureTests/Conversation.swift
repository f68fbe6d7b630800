import Framing
import Pipeline
import Replay
import Streams
import Trace
import TraceDiff

/// Conversations as a capture would have them.
enum Conversation {
    static let nobody = Endpoint(IPAddress(v4: 0x7f00_0001), 1)

    /// A recording of messages, one after the other, a millisecond apart, on one connection.
    ///
    /// - Parameter closer: who closes it first.
    static func recording(
        _ format: Format, _ messages: [(from: Direction, bytes: [UInt8])], rules: TraceRules = TraceRules(),
        closedBy closer: Direction = .fromClient
    ) throws -> Recording {
        let reading = TraceReading(of: "test")
        let decoder = Decoder(
            DecodingOptions(.fixed(format)), analyses: [], sinks: [reading.sink(tool: "test", bodyLimit: .max)])
        var time = Timestamp(nanoseconds: 0)
        let connection = decoder.open(Opening(number: 1, time: time, client: nobody, server: nobody))
        for message in messages {
            time = time + .milliseconds(1)
            connection.received(message.bytes.span.bytes, from: message.from, at: time, packet: 0)
        }
        connection.closed(Closing(reason: .fin, by: closer, time: time + .milliseconds(1)))
        decoder.finish()
        return try Recording(reading.trace, format: format.name, rules: rules)
    }

    /// The format of `sized.py` and `sized.c`.
    static let sizedFormat = """
        format: sized
        header:
          - size: u16
          - kind: { type: u8, names: { 1: say, 2: ask, 17: said, 18: asked } }
        framing: { rule: length-field, field: size, counts: body }
        frame: { type: kind }
        body: text
        """

    /// The format of `lines.py` and `lines.swift`.
    static func linesFormat(ends: String) -> String {
        "format: lines\nframing: { rule: delimiter, end: \"\(ends)\" }\nbody: text"
    }

    /// The format of `heads.py`.
    static let headsFormat = """
        format: heads
        framing: { rule: head-and-body, head: json, ends: "\\r\\n", size: size }
        frame: { type: type }
        body: text
        """

    /// What a client says to `sized`, and what it answers.
    static func sized(reversing: Bool) -> [(from: Direction, bytes: [UInt8])] {
        let bodies: [(UInt8, String)] = [(1, "hello"), (2, "how are you?"), (1, ""), (2, "second to last"), (1, "bye")]
        return bodies.flatMap { kind, text -> [(from: Direction, bytes: [UInt8])] in
            let body = Array(text.utf8)
            func frame(_ kind: UInt8, _ body: [UInt8]) -> [UInt8] { [0, UInt8(body.count), kind] + body }
            return [
                (.fromClient, frame(kind, body)), (.fromServer, frame(kind + 16, reversing ? body.reversed() : body)),
            ]
        }
    }

    /// What a client says to `lines`, and what it answers.
    static func lines(_ texts: [String], ends: String) -> [(from: Direction, bytes: [UInt8])] {
        texts.flatMap { text -> [(from: Direction, bytes: [UInt8])] in
            let capitals = text.utf8.map { (0x61...0x7a).contains($0) ? $0 - 32 : $0 }
            return [(.fromClient, Array((text + ends).utf8)), (.fromServer, capitals + Array(ends.utf8))]
        }
    }

    /// What a client says to `heads`, and what it answers.
    static func heads() -> [(from: Direction, bytes: [UInt8])] {
        [("say", 7), ("img", 1234), ("say", 12)].flatMap { type, size -> [(from: Direction, bytes: [UInt8])] in
            let body = [UInt8](repeating: 0x61, count: size)
            let frame = Array("{\"size\":\"\(size)\",\"type\":\"\(type)\"}\r\n".utf8) + body
            return [(.fromClient, frame), (.fromServer, frame)]
        }
    }
}
