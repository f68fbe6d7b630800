import Framing
import Streams

/// JSON objects in bodies, as peers write and read them.
extension JSONValue {
    /// A body as JSON; nil if it is none.
    init?(body: [UInt8]) {
        do throws(JSONSyntaxError) {
            try self.init(parsing: body.span.bytes)
        } catch {
            return nil
        }
    }

    /// The bytes of an object with these members, in this order, without spaces.
    static func body(_ members: [(String, JSONValue)]) -> [UInt8] {
        var bytes: [UInt8] = []
        JSONValue.members(members).write(into: &bytes)
        return bytes
    }

    /// Whether the value is an object.
    var isObject: Bool { if case .object = self { true } else { false } }
}
