import Streams

extension FrameLayout {
    /// A checksum of a frame, with the expected value.
    package struct ChecksumResult: Hashable, Sendable {
        /// The field that holds it.
        package var field: String
        /// The field's value.
        package var found: UInt64
        /// The value computed from the bytes.
        package var expected: UInt64
    }

    /// Whether the layout has checksums at all.
    package var hasChecksums: Bool {
        ((head as? BinaryHead)?.fields ?? []).contains { $0.checksum != nil }
            || (head as? StructuredHead)?.hasChecksums == true
            || (trailer?.fields ?? []).contains { $0.checksum != nil }
    }

    /// Every checksum of a frame's content.
    package func checksums(of content: RawSpan, _ shape: FrameShape) -> [ChecksumResult] {
        places(head: content.extracting(0..<shape.head), shape: shape, content: content).map { field, place, checksum in
            var found: UInt64 = 0
            if let number = field.value(in: content, at: place.lowerBound, size: place.count).unsignedNumber {
                found = number
            }
            let expected = Self.value(checksum, of: field, place, shape: shape, in: content.copied())
            return ChecksumResult(field: field.name, found: found, expected: expected)
        }
    }

    /// Writes the checksums into a frame that is otherwise complete.
    func fillInChecksums(_ parts: inout FrameParts) throws(EncodingError) {
        guard hasChecksums else { return }
        let shape = FrameShape(head: parts.head.count, body: parts.body.count, tail: parts.trailer.count)
        var content = parts.head + parts.body + parts.trailer
        let places = places(head: parts.head.span.bytes, shape: shape, content: content.span.bytes)
        for (field, place, checksum) in places {
            let value = Self.value(checksum, of: field, place, shape: shape, in: content)
            content.replaceSubrange(place, with: try BinaryHead.encode(.unsigned(value), as: field))
        }
        parts.head = Array(content[..<shape.head])
        parts.trailer = Array(content[(shape.head + shape.body)...])
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

    /// The checksum computed from the bytes it covers, with the field itself as zeros.
    private static func value(
        _ checksum: FieldChecksum, of own: HeaderField, _ field: Range<Int>, shape: FrameShape, in content: [UInt8]
    ) -> UInt64 {
        func offset(_ place: FieldChecksum.Place) -> Int {
            switch place {
            case .start: 0
            case .body: shape.head
            case .bodyEnd: shape.head + shape.body
            case .field: field.lowerBound
            }
        }
        var covered = content
        for at in field where at < covered.count { covered[at] = 0 }
        let range = offset(checksum.from)..<max(offset(checksum.from), offset(checksum.to))
        if case .numeral(.digits(let count, let base)) = own.kind {
            // As many digits as there are: FIX's sum modulo 256 has three.
            let values = (0..<count).reduce(UInt64(1)) { power, _ in
                power.multipliedReportingOverflow(by: UInt64(base)).0
            }
            let value = checksum.algorithm.value(of: covered.span.bytes.extracting(range))
            return values == 0 ? value : value % values
        }
        let mask = field.count >= 8 ? UInt64.max : UInt64(1) << UInt64(8 * field.count) - 1
        return checksum.algorithm.value(of: covered.span.bytes.extracting(range)) & mask
    }
}
