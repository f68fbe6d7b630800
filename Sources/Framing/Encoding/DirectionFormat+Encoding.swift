import Streams

extension DirectionFormat {
    /// The bytes of a frame with these fields and this body.
    ///
    /// Lengths, constants, padding and checksums are filled in; a frame whose fields would be read as other values is an error. If
    /// the direction has several kinds of frames, `layout` selects one; otherwise the first one in order that has all the given
    /// fields and does not contradict them.
    ///
    /// - Parameters:
    ///   - fields: values by name, in the order in which they are written by a head without an order of its own.
    ///   - body: the body's bytes.
    ///   - layout: the name of the frame's kind.
    package func encode(
        _ fields: [Field], body: [UInt8], layout: String? = nil
    ) throws(EncodingError) -> [UInt8] {
        try candidates(fields, layout, type: nil)[0].write(fields, body: body, verifying: fields)
    }

    /// The bytes of a frame of a trace, or written by hand.
    ///
    /// Of a line that has only the type, the field that names it is filled in, too.
    func encode(_ line: FrameLine) throws(EncodingError) -> [UInt8] {
        guard let type = line.type, let name = fieldNaming(type, line.fields) else {
            return try encode(line, line.fields)
        }
        do throws(EncodingError) {
            return try encode(line, [Field(name, .text(type))] + line.fields)
        } catch {
            // A value without a name is its own type.
            guard let number = Int64(type) else { throw error }
            return try encode(line, [Field(name, .integer(number))] + line.fields)
        }
    }

    /// The field that names a type, if it is not given, and the type is not the name of a kind.
    private func fieldNaming(_ type: String, _ given: [Field]) -> String? {
        guard case .field(let name) = typeName, !given.contains(where: { $0.name == name }),
            !layouts.contains(where: { $0.name == type }), layouts.contains(where: { $0.has(name) })
        else { return nil }
        return name
    }

    /// Several kinds may have the same fields: the one is taken that is named as the frame's type, otherwise the first whose body
    /// is as long as the trace says.
    private func encode(_ line: FrameLine, _ fields: [Field]) throws(EncodingError) -> [UInt8] {
        var fault: EncodingError?
        var other: (layout: FrameLayout, body: [UInt8])?
        for layout in try candidates(fields, line.layout, type: line.type) {
            do throws(EncodingError) {
                let format = layout.body ?? self.body
                let head = layout.bodyHead(of: fields, keys: format.keyFields)
                let body = try format.encode(line.body, type: line.type, head: head, length: line.bodyLength)
                if line.bodyLength ?? body.count == body.count {
                    return try layout.write(fields, body: body, verifying: fields)
                }
                other = other ?? (layout, body)
            } catch {
                fault = fault ?? error
            }
        }
        // A body that was edited has another length.
        if let other { return try other.layout.write(fields, body: other.body, verifying: fields) }
        throw fault ?? EncodingError("there is no kind of frame for these fields")
    }

    /// The kinds that a frame with these fields may be; at least one.
    private func candidates(
        _ fields: [Field], _ name: String?, type: String?
    ) throws(EncodingError) -> [FrameLayout] {
        if let name {
            let named = layouts.filter { $0.name == name }
            if !named.isEmpty { return named }
            let known = layouts.compactMap(\.name).joined(separator: ", ")
            throw EncodingError("there is no kind of frame \(name); known are \(known)")
        }
        if case .layout = typeName, let type, !layouts.contains(where: { $0.name == type }) {
            throw EncodingError("there is no type \(type); \(LoadContext.hint(type, layouts.compactMap(\.name)))")
        }
        var fitting = layouts.filter { $0.takes(fields) }
        // Of a kind that has these fields it can be said which value it cannot have.
        if fitting.isEmpty { fitting = layouts.filter { layout in fields.allSatisfy { layout.has($0.name) } } }
        if fitting.isEmpty { return [layouts[0]] }
        return fitting.filter { type != nil && $0.name == type } + fitting.filter { type == nil || $0.name != type }
    }
}

extension FrameLayout {
    /// Whether the layout has all of these fields, and none of its constants contradicts them.
    fileprivate func takes(_ given: [Field]) -> Bool {
        if let head = head as? StructuredHead { return head.takes(given, noted: rule.noted) }
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
