import Framing
import Streams
import TestSupport
import Trace

/// Traces made by hand.
enum Traces {
    static let start = Timestamp(seconds: 1_795_248_000, nanoseconds: 0)

    /// A frame with a text body.
    static func frame(
        _ from: Direction, _ type: String?, _ text: String = "", fields: [String: JSONValue] = [:],
        heartbeat: Bool = false, at milliseconds: Int64 = 0
    ) -> FrameEvent {
        let time = start + .milliseconds(milliseconds)
        return FrameEvent(
            connection: 1, from: from, index: 0, time: time, started: time, offset: 0, length: text.utf8.count + 8,
            segments: 1, merged: false, type: type, isHeartbeat: heartbeat,
            fields: .object(fields.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) }),
            body: .object([
                .init("length", .number(String(text.utf8.count))), .init("text", .text(text)),
            ]))
    }

    /// A trace of conversations, each frame a millisecond after the previous one if it has no time of its own.
    static func trace(_ conversations: [[FrameEvent]]) -> RecordedTrace {
        var trace = RecordedTrace(source: "test")
        for (index, frames) in conversations.enumerated() {
            var connection = RecordedConnection(
                number: index + 1, opened: start, client: "127.0.0.1:\(40_000 + index)", server: "127.0.0.1:8088")
            connection.format = "im-json"
            for (place, frame) in frames.enumerated() {
                var frame = frame
                frame.connection = index + 1
                if frame.time == start {
                    frame.time = start + .milliseconds(Int64(place) + 1)
                    frame.started = frame.time
                }
                connection.items.append(.frame(frame))
            }
            let last = connection.items.last?.time ?? start
            connection.closing = ClosedEvent(time: last, reason: "fin", by: .fromClient)
            trace.connections.append(connection)
        }
        return trace
    }

    /// A conversation of random frames, some of which repeat, some with fields.
    static func conversation(_ count: Int, using generator: inout SeededGenerator) -> [FrameEvent] {
        (0..<count).map { _ in
            let from: Direction = Bool.random(using: &generator) ? .fromClient : .fromServer
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: return frame(from, "ok")
            case 1: return frame(from, "ping", "beat")
            default:
                let type = ["txt", "img", "cmd"].randomElement(using: &generator)
                let fields: [String: JSONValue] = [
                    "id": .number(String(Int.random(in: 0..<100, using: &generator))),
                    "to": .text("user \(Int.random(in: 0..<4, using: &generator))"),
                    "size": .number("3"),
                ]
                return frame(from, type, "text \(Int.random(in: 0..<1_000, using: &generator))", fields: fields)
            }
        }
    }
}
