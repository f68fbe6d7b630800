import Streams

extension JSONHead {
    /// Members keep their places, and what is between them; new ones are written after the last one in the same way.
    package func edit(_ head: [UInt8], _ changes: [Field], body: Int) throws(EncodingError) -> [UInt8] {
        var head = head
        for change in changes where change.name != sizeField { try Self.set(change, in: &head) }
        guard let sizeField else { return head }
        let old = field(sizeField, of: head.span.bytes)
        if case .value(body)? = old?.decimalInteger { return head }
        // A number stays a number: the format allows both.
        var size = FieldValue.text(String(body))
        if case .integer? = old { size = .integer(Int64(body)) }
        try Self.set(Field(sizeField, size), in: &head)
        return head
    }

    package func overwrite(_ head: [UInt8], _ changes: inout [Field]) throws(EncodingError) -> [UInt8] {
        var head = head
        for change in changes where Self.place(of: JSONMemberName(change.name), in: head.span.bytes) != nil {
            try Self.set(change, in: &head)
            changes.removeAll { $0.name == change.name }
        }
        return head
    }

    package func place(ofField name: String, in head: RawSpan) -> Range<Int>? {
        Self.place(of: JSONMemberName(name), in: head)
    }

    private static func set(_ change: Field, in head: inout [UInt8]) throws(EncodingError) {
        var text: [UInt8] = []
        JSONOutput.value(change.value, into: &text)
        if let place = place(of: JSONMemberName(change.name), in: head.span.bytes) {
            head.replaceSubrange(place, with: text)
            return
        }
        var name: [UInt8] = []
        JSONOutput.string(change.name, into: &name)
        var last: (key: Range<Int>, value: Range<Int>)?
        var scanner = JSONScanner()
        do throws(JSONSyntaxError) {
            scanner.skipSpace(head.span.bytes)
            try scanner.members(head.span.bytes) { key, _, value in last = (key.range, value) }
        } catch {
            throw EncodingError("the head is no JSON object: \(error)", withoutValues: "the head is no JSON object")
        }
        guard let last else {
            // The empty object ends where the scanner is.
            head.insert(contentsOf: name + [UInt8(ascii: ":")] + text, at: scanner.position - 1)
            return
        }
        var start = last.key.lowerBound
        while start > 0, [0x20, 0x09, 0x0a, 0x0d].contains(head[start - 1]) { start -= 1 }
        let member =
            [UInt8(ascii: ",")] + head[start..<last.key.lowerBound] + name
            + head[last.key.upperBound..<last.value.lowerBound] + text
        head.insert(contentsOf: member, at: last.value.upperBound)
    }
}
