import Streams

/// A head that is one JSON object.
package struct JSONHead: Head {
    /// The field that counts the body's bytes, filled in by the encoder.
    package let sizeField: String?

    /// A JSON head.
    package init(sizeField: String?) {
        self.sizeField = sizeField
    }

    /// The value of one member, after checking that the whole head is a JSON object and valid UTF-8.
    ///
    /// Of members with the same name the last one wins, as in most JSON parsers.
    package func value(of name: JSONMemberName, in head: RawSpan) throws(JSONSyntaxError) -> FieldValue? {
        try place(of: name, inChecked: head).map { JSONText.value($0.kind, $0.range, in: head) }
    }

    /// The value if it is a small number or a string of one, in digits only; nil for anything else.
    func smallCount(of name: JSONMemberName, in head: RawSpan) throws(JSONSyntaxError) -> Int? {
        guard let (kind, range) = try place(of: name, inChecked: head) else { return nil }
        switch kind {
        case .string(escaped: false), .number(fractional: false): return Self.smallCount(at: range, in: head)
        default: return nil
        }
    }

    /// The same for the value in a range.
    static func smallCount(at range: Range<Int>, in head: RawSpan) -> Int? {
        var digits = range
        if head[byte: range.lowerBound] == UInt8(ascii: "\"") {
            digits = range.lowerBound + 1..<range.upperBound - 1
        }
        guard (1...9).contains(digits.count) else { return nil }
        var count = 0
        for at in digits {
            let digit = head[unchecked: at] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            count = 10 * count + Int(digit)
        }
        return count
    }

    private func place(
        of name: JSONMemberName, inChecked head: RawSpan
    ) throws(JSONSyntaxError) -> (kind: JSONScanner.Kind, range: Range<Int>)? {
        var found: (kind: JSONScanner.Kind, range: Range<Int>)?
        var scanner = JSONScanner()
        try scanner.members(head) { key, kind, range in
            if name.isKey(key, in: head) { found = (kind, range) }
        }
        guard scanner.isAtEnd(head) else {
            throw JSONSyntaxError(offset: scanner.position, expected: "the head's end")
        }
        if let offset = head.firstInvalidUTF8() {
            throw JSONSyntaxError(offset: offset, expected: "UTF-8")
        }
        return found
    }

    /// The members sorted by name; of members with the same name, the last.
    package func fields(of head: RawSpan) -> [Field] {
        var fields: [Field] = []
        var scanner = JSONScanner(at: head.objectStart)
        do throws(JSONSyntaxError) {
            try scanner.members(head) { key, kind, range in
                let name = JSONText.string(key, in: head)
                fields.append(Field(name, JSONText.value(kind, range, in: head)))
            }
        } catch {
            return []
        }
        // Sorting is stable, so the last of those with the same name is the last one here, too.
        fields.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        guard zip(fields, fields.dropFirst()).contains(where: { $0.name.hasBytes(of: $1.name) }) else { return fields }
        return fields.indices.compactMap { index in
            index + 1 < fields.count && fields[index + 1].name.hasBytes(of: fields[index].name) ? nil : fields[index]
        }
    }

    package func field(_ name: String, of head: RawSpan) -> FieldValue? {
        let name = JSONMemberName(name)
        var found: FieldValue?
        var scanner = JSONScanner(at: head.objectStart)
        do throws(JSONSyntaxError) {
            try scanner.members(head) { key, kind, range in
                if name.isKey(key, in: head) { found = JSONText.value(kind, range, in: head) }
            }
        } catch {
            return nil
        }
        return found
    }

    /// The range of a member's value, the last of that name; nil if there is none.
    static func place(of name: JSONMemberName, in head: RawSpan) -> Range<Int>? {
        var found: Range<Int>?
        var scanner = JSONScanner(at: head.objectStart)
        do throws(JSONSyntaxError) {
            try scanner.members(head) { key, _, range in
                if name.isKey(key, in: head) { found = range }
            }
        } catch {
            return nil
        }
        return found
    }

    /// The object pretty-printed as by these systems' clients: two spaces, ` : `, LF.
    ///
    /// The size is written as a decimal string, at its position in `fields`, otherwise at the end.
    package func encode(_ fields: [Field], body: Int) throws(EncodingError) -> [UInt8] {
        var fields = fields
        if let sizeField {
            let size = Field(sizeField, .text(String(body)))
            if let index = fields.firstIndex(where: { $0.name == sizeField }) {
                // A number stays a number: the format allows both.
                if case .integer = fields[index].value {
                    fields[index].value = .integer(Int64(body))
                } else {
                    fields[index] = size
                }
            } else {
                fields.append(size)
            }
        }
        var bytes: [UInt8] = Array("{".utf8)
        for (index, field) in fields.enumerated() {
            bytes += Array((index == 0 ? "\n  " : ",\n  ").utf8)
            JSONOutput.string(field.name, into: &bytes)
            bytes += Array(" : ".utf8)
            JSONOutput.value(field.value, into: &bytes)
        }
        bytes += Array("\n}".utf8)
        return bytes
    }
}

extension RawSpan {
    /// Where the JSON object starts: after white space.
    fileprivate var objectStart: Int {
        var scanner = JSONScanner()
        scanner.skipSpace(self)
        return scanner.position
    }

    /// Whether no byte has its highest bit.
    private var isASCII: Bool {
        var at = 0
        while at &+ 8 <= byteCount {
            if unsafeLoadUnaligned(fromUncheckedByteOffset: at, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 {
                return false
            }
            at &+= 8
        }
        while at < byteCount {
            if self[unchecked: at] >= 0x80 { return false }
            at &+= 1
        }
        return true
    }

    /// The offset of the first byte that is not UTF-8, or nil if all are.
    package func firstInvalidUTF8() -> Int? {
        if isASCII { return nil }
        return withUnsafeBytes { buffer in
            var decoder = Unicode.UTF8.ForwardParser()
            var iterator = buffer.makeIterator()
            var offset = 0
            while true {
                switch decoder.parseScalar(from: &iterator) {
                case .valid(let scalar): offset += scalar.count
                case .emptyInput: return nil
                case .error: return offset
                }
            }
        }
    }
}
