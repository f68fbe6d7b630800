import Framing
import Expressions
import Trace

extension JSONValue {
    /// The value with numbers in canonical form: `1.0` and `1e0` are `1`. Numbers beyond a Double's digits stay as they are.
    var normalized: JSONValue {
        guard case .number(let text) = self, text.utf8.count <= 16,
            text.utf8.contains(where: { $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e") }),
            let number = Double(text), number.isFinite
        else { return self }
        return .number(Int64(exactly: number).map(String.init) ?? String(number))
    }
}

extension JSONValue {
    /// The value with the one at a path replaced.
    func replacing(_ path: ArraySlice<FieldPath.Step>, with new: JSONValue) -> JSONValue {
        guard let step = path.first else { return new }
        switch (self, step) {
        case (.object(let members), .member(let name)):
            return .object(
                members.map { $0.name == name ? Member(name, $0.value.replacing(path.dropFirst(), with: new)) : $0 })
        case (.array(var elements), .element(let index)) where elements.indices.contains(index):
            elements[index] = elements[index].replacing(path.dropFirst(), with: new)
            return .array(elements)
        default: return self
        }
    }
}

extension [Pattern] {
    /// The text with `«any»` for each part that one of the patterns finds, from left to right, the longest first; and how many
    /// bytes these parts have.
    func masking(_ text: String) -> (text: String, masked: Int) {
        let bytes = Array<UInt8>(text.utf8)
        var masked: [UInt8] = []
        var (at, count) = (0, 0)
        while at < bytes.count {
            let length = map { $0.prefixLength(in: bytes.span.bytes, from: at) ?? 0 }.max() ?? 0
            if length > 0 {
                masked += Array<UInt8>("«any»".utf8)
                (at, count) = (at + length, count + length)
            } else {
                // A whole character: no match begins inside it.
                repeat {
                    masked.append(bytes[at])
                    at += 1
                } while at < bytes.count && bytes[at] & 0xc0 == 0x80
            }
        }
        return (String(decoding: masked, as: UTF8.self), count)
    }
}
