import Framing
import Streams

/// JSON objects in bodies, as peers write and read them.
enum PeerJSON {
    /// An object without whitespace between its tokens, its members in this order.
    static func object(_ members: [Field]) -> [UInt8] {
        var bytes = Array("{".utf8)
        for (index, member) in members.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            JSONOutput.string(member.name, into: &bytes)
            bytes.append(UInt8(ascii: ":"))
            JSONOutput.value(member.value, into: &bytes)
        }
        return bytes + Array("}".utf8)
    }

    /// A member of an object; nil if the bytes are not an object, or it has no member of that name.
    static func member(_ name: String, of object: [UInt8]) -> FieldValue? {
        try? JSONHead(sizeField: nil).value(of: name, in: object.span.bytes)
    }

    /// Whether the bytes are an object.
    static func isObject(_ bytes: [UInt8]) -> Bool {
        do throws(JSONSyntaxError) {
            _ = try JSONHead(sizeField: nil).value(of: "", in: bytes.span.bytes)
            return true
        } catch {
            return false
        }
    }

    /// A member that is text.
    static func text(_ name: String, of object: [UInt8]) -> String? {
        guard case .text(let text)? = member(name, of: object) else { return nil }
        return text
    }
}
