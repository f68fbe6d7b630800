import Streams

extension FrameLayout {
    /// A checksum of a frame, with the expected value.
    package struct ChecksumResult: Hashable, Sendable {
        /// The field that holds it.
        package var field: String
        /// The field's value, in hexadecimal.
        package var found: String
        /// The value computed from the bytes, in hexadecimal.
        package var expected: String
    }

    /// Whether the layout has checksums at all.
    package var hasChecksums: Bool {
        ((head as? BinaryHead)?.fields ?? []).contains { $0.checksum != nil }
            || (head as? StructuredHead)?.hasChecksums == true
            || (trailer?.fields ?? []).contains { $0.checksum != nil }
    }

    /// Every checksum of a frame's content, but those whose key is not known.
    package func checksums(of content: RawSpan, _ shape: FrameShape) -> [ChecksumResult] {
        var results: [ChecksumResult] = []
        for (field, place, checksum) in places(
            head: content.extracting(0..<shape.head), shape: shape, content: content)
        {
            guard let expected = value(checksum, of: field, place, shape: shape, in: content.copied()) else { continue }
            let found = field.value(in: content, at: place.lowerBound, size: place.count)
            results.append(
                ChecksumResult(field: field.name, found: Self.hex(found), expected: Self.hex(expected)))
        }
        return results
    }

    private static func hex(_ value: FieldValue) -> String {
        switch value {
        case .bytes(let bytes): String(decoding: Base16.encode(bytes), as: UTF8.self)
        case .text(let text): text
        default: String(value.unsignedNumber ?? 0, radix: 16)
        }
    }

    /// Writes the checksums into a frame that is otherwise complete; those whose key is not known remain as they are.
    func fillInChecksums(_ parts: inout FrameParts) throws(EncodingError) {
        guard hasChecksums else { return }
        let shape = FrameShape(head: parts.head.count, body: parts.body.count, tail: parts.trailer.count)
        var content = parts.head + parts.body + parts.trailer
        let places = places(head: parts.head.span.bytes, shape: shape, content: content.span.bytes)
        for (field, place, checksum) in places {
            guard let value = value(checksum, of: field, place, shape: shape, in: content) else { continue }
            // One that is right keeps its bytes: digits have either case.
            let known = field.value(in: content.span.bytes, at: place.lowerBound, size: place.count)
            if Self.hex(known).lowercased() == Self.hex(value).lowercased() { continue }
            content.replaceSubrange(place, with: try BinaryHead.encode(value, as: field))
        }
        parts.head = Array(content[..<shape.head])
        parts.trailer = Array(content[(shape.head + shape.body)...])
    }

    /// The names of the keys that checksums use.
    func checksumKeyNames(default name: String) -> [String] {
        let head = ((head as? BinaryHead)?.fields ?? []) + ((head as? StructuredHead)?.checkedFields ?? [])
        return (head + (trailer?.fields ?? [])).compactMap(\.checksum).filter(\.algorithm.isKeyed).map {
            $0.keyName ?? name
        }
    }

    private func places(
        head: RawSpan, shape: FrameShape, content: RawSpan
    ) -> [(HeaderField, Range<Int>, FieldChecksum)] {
        var places: [(HeaderField, Range<Int>, FieldChecksum)] = []
        func collect(_ fields: BinaryHead?, from start: Int) {
            for (index, field) in (fields?.fields ?? []).enumerated() {
                guard let checksum = field.checksum, let place = fields?.place(of: index, in: content, from: start)
                else {
                    continue
                }
                places.append((field, place, checksum))
            }
        }
        collect(self.head as? BinaryHead, from: 0)
        places += (self.head as? StructuredHead)?.checksums(in: head) ?? []
        collect(trailer, from: shape.head + shape.body)
        return places
    }

    /// Where a field's bytes begin; nil if the frame does not have it.
    private func start(ofField name: String, _ shape: FrameShape, in content: RawSpan) -> Int? {
        if let place = head?.place(ofField: name, in: content.extracting(0..<shape.head)) { return place.lowerBound }
        let tail = shape.head + shape.body
        return trailer?.place(ofField: name, in: content.extracting(tail..<content.byteCount)).map {
            tail + $0.lowerBound
        }
    }

    /// The checksum computed from the bytes it covers, with the field itself as zeros; nil if its key is not known, or if the frame
    /// does not have a field that says what it covers.
    private func value(
        _ checksum: FieldChecksum, of own: HeaderField, _ field: Range<Int>, shape: FrameShape, in content: [UInt8]
    ) -> FieldValue? {
        func offset(_ place: FieldChecksum.Place) -> Int? {
            switch place {
            case .start: 0
            case .body: shape.head
            case .bodyEnd: shape.head + shape.body
            case .field: field.lowerBound
            case .named(let name): start(ofField: name, shape, in: content.span.bytes)
            }
        }
        guard let from = offset(checksum.from), let to = offset(checksum.to) else { return nil }
        var covered = content
        for at in field where at < covered.count { covered[at] = 0 }
        let bytes = covered.span.bytes.extracting(from..<max(from, to))
        if let digest = checksum.algorithm.digest {
            let key = checksum.keyName.map { keys[$0] } ?? keys[""]
            if checksum.algorithm.isKeyed, key == nil { return nil }
            let value = digest.value(of: bytes, key: checksum.algorithm.isKeyed ? key : nil)
            if case .string(let size, _) = own.kind {
                return .text(String(decoding: Base16.encode(value).prefix(size), as: UTF8.self))
            }
            return .bytes(Array(value.prefix(field.count)))
        }
        let value = checksum.algorithm.value(of: bytes)
        if case .numeral(.digits(let count, let base)) = own.kind {
            // As many digits as there are: FIX's sum modulo 256 has three.
            let values = (0..<count).reduce(UInt64(1)) { power, _ in
                power.multipliedReportingOverflow(by: UInt64(base)).0
            }
            return .unsigned(values == 0 ? value : value % values)
        }
        return .unsigned(field.count >= 8 ? value : value & (UInt64(1) << UInt64(8 * field.count) - 1))
    }
}
