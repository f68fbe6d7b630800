import Streams

extension BinaryHead {
    package func edit(_ head: [UInt8], _ changes: [Field], body: Int) throws(EncodingError) -> [UInt8] {
        var bytes: [UInt8] = []
        for (index, field) in fields.enumerated() {
            guard let place = place(of: index, in: head.span.bytes) else {
                // The frame had no such part.
                bytes += try BinaryHead([field]).encode(changes, body: body)
                continue
            }
            let old = field.value(in: head.span.bytes, at: place.lowerBound, size: place.count)
            if field.constant == nil, let value = try field.value(old, changedBy: changes), value != old {
                bytes += try Self.encode(value, as: field)
            } else {
                bytes += head[place]
            }
        }
        return bytes
    }

    package func overwrite(_ head: [UInt8], _ changes: inout [Field]) throws(EncodingError) -> [UInt8] {
        var bytes = head
        let given = changes
        // From the end, so that places stay where they are.
        for (index, field) in fields.enumerated().reversed() {
            guard let place = place(of: index, in: head.span.bytes) else { continue }
            let names = [field.name] + field.bits.map(\.name)
            changes.removeAll { names.contains($0.name) }
            let old = field.value(in: head.span.bytes, at: place.lowerBound, size: place.count)
            guard let value = try field.value(old, changedBy: given) else { continue }
            bytes.replaceSubrange(place, with: try Self.encode(value, as: field))
        }
        return bytes
    }

    package func place(ofField name: String, in head: RawSpan) -> Range<Int>? {
        fields.firstIndex { $0.name == name }.flatMap { place(of: $0, in: head) }
    }
}

extension HeaderField {
    /// The value after changes to the field or to its named bits, whose other bits remain; nil if none concerns it.
    func value(_ old: FieldValue, changedBy changes: [Field]) throws(EncodingError) -> FieldValue? {
        let own = changes.last { $0.name == name }
        var value = own?.value.unnamed(names) ?? old
        var isChanged = own != nil
        for part in bits {
            guard let change = changes.last(where: { $0.name == part.name }) else { continue }
            value = try part.setting(change.value, in: value)
            isChanged = true
        }
        return isChanged ? value : nil
    }

    /// Whether the field, or its bits of this name, can have only one value; nil if it has no such name.
    func isConstant(_ name: String) -> Bool? {
        if name == self.name { return constant != nil }
        return bits.first { $0.name == name }.map { $0.constant != nil }
    }
}

extension HeaderField.Bits {
    /// A number with other bits in this place.
    func setting(_ value: FieldValue, in whole: FieldValue) throws(EncodingError) -> FieldValue {
        guard let part = value.unnamed(names).unsignedNumber, count >= 64 || part >> UInt64(count) == 0 else {
            throw EncodingError.unfit(name, value, "it has \(count) bits")
        }
        guard let number = whole.unsignedNumber else {
            throw EncodingError(
                "\(name) cannot be set: its field is \(whole.shortDescription)",
                withoutValues: "\(name) cannot be set: its field is no number")
        }
        let mask = count >= 64 ? UInt64.max : (UInt64(1) << UInt64(count) - 1) << UInt64(lowest)
        let new = number & ~mask | part << UInt64(lowest)
        return FieldValue(new)
    }

    /// Where the bits are: a byte, and a bit of it, from the least significant on.
    func places(in field: Range<Int>, _ order: ByteOrder) -> [(byte: Int, bit: Int)] {
        (lowest..<lowest + count).compactMap { bit in
            let byte = order == .big ? field.upperBound - 1 - bit / 8 : field.lowerBound + bit / 8
            return field.contains(byte) ? (byte, bit % 8) : nil
        }
    }
}
