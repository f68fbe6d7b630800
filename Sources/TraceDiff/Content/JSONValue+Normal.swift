import Expressions
import Trace

extension JSONValue {
    /// The value with numbers written in one way: `1.0` and `1e0` are `1`. Numbers beyond a Double's digits stay as they are.
    var normalized: JSONValue {
        guard case .number(let text) = self, text.contains(where: { ".eE".contains($0) }), text.utf8.count <= 16,
            let number = Double(text), number.isFinite
        else { return self }
        return .number(Int64(exactly: number).map(String.init) ?? String(number))
    }
}

extension JSONValue {
    /// The value with another one at a path.
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

extension Pattern {
    /// The text with `«any»` for each part that the pattern finds, from left to right.
    func masking(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var masked: [UInt8] = []
        var at = 0
        while at < bytes.count {
            let length = prefixLength(in: bytes.span.bytes.extracting(at..<bytes.count)) ?? 0
            if length > 0 {
                masked += Array("«any»".utf8)
                at += length
            } else {
                masked.append(bytes[at])
                at += 1
            }
        }
        return String(decoding: masked, as: UTF8.self)
    }
}
