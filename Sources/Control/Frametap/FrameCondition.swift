import Expressions
import Framing
import Streams
import Trace

/// A condition on a frame of a trace, in the language of format files.
package struct FrameCondition: Sendable {
    private let expression: Expression

    /// - Throws: the error, with its column.
    package init(_ text: String) throws(ExpressionError) {
        expression = try Expression(parsing: text) { FrameValues.complaint(about: $0) }
    }

    /// Whether it holds.
    package func holds(for frame: FrameEvent) -> Bool { expression.evaluate(Values(frame: frame)) }

    private struct Values: FieldSource {
        let frame: FrameEvent

        func value(at path: [String]) -> Value {
            switch path[0] {
            case "type": return frame.type.map(Value.text) ?? .absent
            case "from": return .text(frame.from.sender)
            case "length": return .integer(Int64(frame.length))
            case "index": return .integer(Int64(frame.index))
            case "offset": return .integer(Int64(frame.offset))
            case "segments": return .integer(Int64(frame.segments))
            case "merged": return .boolean(frame.merged)
            case "missing": return .integer(Int64(frame.body["missing"]?.integer ?? 0))
            case "heartbeat": return .boolean(frame.isHeartbeat)
            case "fields": return Self.value(path.dropFirst(), in: frame.fields)
            case "body": return Self.value(path.dropFirst(), in: frame.body)
            default: return path.count == 1 ? Self.value(path[...], in: frame.fields) : .absent
            }
        }

        private static func value(_ path: ArraySlice<String>, in json: JSONValue) -> Value {
            var value = json
            for name in path {
                if case .array(let items) = value, let place = Int(name), items.indices.contains(place) {
                    value = items[place]
                } else if let member = value[name] ?? (name == path.first ? value["json"]?[name] : nil) {
                    value = member
                } else {
                    return .absent
                }
            }
            switch value {
            case .null: return .absent
            case .boolean(let flag): return .boolean(flag)
            case .text(let text): return .text(text)
            case .number(let digits):
                return Int64(digits).map(Value.integer) ?? UInt64(digits).map(Value.unsigned)
                    ?? Double(digits).map(Value.number) ?? .text(digits)
            case .array, .object: return .text(value.compactText)
            }
        }
    }
}
