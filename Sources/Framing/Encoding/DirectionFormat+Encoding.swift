import Streams

extension DirectionFormat {
    /// The bytes of a frame with these fields and this body.
    ///
    /// Lengths, constants, padding and checksums are filled in. If the direction has several kinds of frames, `layout` selects
    /// one; otherwise the first one in order that has all the given fields and does not contradict them.
    ///
    /// - Parameters:
    ///   - fields: values by name, in the order in which they are written by a head without an order of its own.
    ///   - body: the body's bytes.
    ///   - layout: the name of the frame's kind.
    public func encode(
        _ fields: [Field], body: [UInt8], layout: String? = nil
    ) throws(EncodingError) -> [UInt8] {
        let layout = try choose(fields, layout)
        var parts = FrameParts(
            head: try layout.head?.encode(fields, body: body.count) ?? [], body: body,
            trailer: try layout.trailer?.encode(fields, body: body.count) ?? [])
        parts.given = fields
        try layout.rule.fillIn(&parts)
        try layout.fillInChecksums(&parts)
        return try layout.rule.encode(parts)
    }

    private func choose(_ fields: [Field], _ name: String?) throws(EncodingError) -> FrameLayout {
        if let name {
            if let layout = layouts.first(where: { $0.name == name }) { return layout }
            let known = layouts.compactMap(\.name).joined(separator: ", ")
            throw EncodingError("there is no kind of frame \(name); known are \(known)")
        }
        return layouts.first { $0.takes(fields) } ?? layouts[0]
    }
}

extension FrameLayout {
    /// Whether the layout has all of these fields, and none of its constants contradicts them.
    fileprivate func takes(_ given: [Field]) -> Bool {
        guard let head = head as? BinaryHead else { return true }
        let known = head.fields + (trailer?.fields ?? [])
        return given.allSatisfy { field in
            if let own = known.first(where: { $0.name == field.name }) {
                let value = field.value.unnamed(own.names)
                guard let bytes = try? BinaryHead.encode(value, as: own) else { return false }
                // Compared as bytes: hex digits equal the bytes they represent.
                return own.constant.map { (try? BinaryHead.encode($0, as: own)) == bytes } ?? true
            }
            if let bits = known.lazy.compactMap({ $0.bits.first { $0.name == field.name } }).first {
                return bits.constant == nil || bits.constant.map(FieldValue.integer) == field.value.unnamed(bits.names)
            }
            return rule.noted.contains(field.name)
        }
    }
}
