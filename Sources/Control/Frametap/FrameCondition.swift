import Expressions
import Framing
import Streams
import Trace

/// A condition on a frame of a trace, in the language of format files. It holds for what the frame's line shows as it holds for the
/// frame itself: lines have neither its source nor its target.
package struct FrameCondition: Sendable {
    private let expression: Expression

    /// - Parameter inTrace: whether it may ask for the connection and the time.
    /// - Throws: the error, with its column.
    package init(_ text: String, inTrace: Bool = false) throws(ExpressionError) {
        expression = try Expression(parsing: text) { FrameValues.complaint(about: $0, inTrace: inTrace) }
    }

    /// Whether it holds.
    ///
    /// - Parameter connection: the frame's connection and time, if it may ask for them.
    package func holds(for frame: FrameEvent, on connection: FrameValues.ConnectionValues? = nil) -> Bool {
        expression.evaluate(Values(frame: frame, connection: connection))
    }

    private struct Values: FieldSource {
        let frame: FrameEvent
        let connection: FrameValues.ConnectionValues?

        func value(at path: [String]) -> Value {
            switch path[0] {
            case "type": frame.type.map(Value.text) ?? .absent
            case "from": .text(frame.from.sender)
            case "length": .integer(Int64(frame.length))
            case "index": .integer(Int64(frame.index))
            case "offset": .integer(Int64(frame.offset))
            case "segments": .integer(Int64(frame.segments))
            case "merged": .boolean(frame.merged)
            case "missing": .integer(Int64(missing))
            case "heartbeat": .boolean(frame.isHeartbeat)
            case "fields" where path.count > 1: Self.value(frame.fields[path[1]]?.inside(path[2...]))
            case "body" where path.count > 1: body(path)
            case "connection": connection?.value(at: path.dropFirst()) ?? .absent
            case "time": connection?.timeText ?? .absent
            default: .absent
            }
        }

        private var missing: Int { frame.body["missing"]?.integer ?? 0 }

        private func body(_ path: [String]) -> Value {
            switch path[1] {
            case "length" where path.count == 2: return Self.value(frame.body["length"])
            case "text" where path.count == 2 && missing == 0: return Self.value(frame.body["text"])
            case "json", "protobuf", "fields":
                guard missing == 0, let form = frame.body[path[1]] else { return .absent }
                return Self.value(form.value(at: path[2...], ignoringCase: false))
            default:
                // Short for the same in any of these forms.
                guard missing == 0 else { return .absent }
                let found = ["json", "protobuf", "fields"].lazy.compactMap {
                    frame.body[$0]?.value(at: path[1...], ignoringCase: false)
                }
                return Self.value(found.first)
            }
        }

        private static func value(_ json: JSONValue?) -> Value {
            guard let json else { return .absent }
            return json.scalar.map { Value($0) } ?? .text(json.compactText)
        }
    }
}
