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
        let own = ownChecksums
        for (field, place, checksum) in own.places(
            head: content.extracting(0..<shape.head), shape: shape, content: content)
        {
            guard let expected = own.value(checksum, of: field, place, shape: shape, in: content.copied()) else {
                continue
            }
            let found = field.value(in: content, at: place.lowerBound, size: place.count)
            results.append(
                ChecksumResult(
                    field: field.name, found: FrameChecksums.hex(found), expected: FrameChecksums.hex(expected)))
        }
        return results
    }

    /// Writes the checksums into a frame that is otherwise complete; those whose key is not known remain as they are.
    func fillInChecksums(_ parts: inout FrameParts) throws(EncodingError) {
        guard hasChecksums else { return }
        let shape = FrameShape(head: parts.head.count, body: parts.body.count, tail: parts.trailer.count)
        var content = parts.head + parts.body + parts.trailer
        let checksums = ownChecksums
        let places = checksums.places(head: parts.head.span.bytes, shape: shape, content: content.span.bytes)
        for (field, place, checksum) in places {
            guard let value = checksums.value(checksum, of: field, place, shape: shape, in: content) else { continue }
            // One that is right keeps its bytes: digits have either case.
            let known = field.value(in: content.span.bytes, at: place.lowerBound, size: place.count)
            if FrameChecksums.areSame(known, value) { continue }
            content.replaceSubrange(place, with: try BinaryHead.encode(value, as: field))
        }
        parts.head = Array(content[..<shape.head])
        parts.trailer = Array(content[(shape.head + shape.body)...])
    }

    /// The names of the keys that checksums use.
    func checksumKeyNames(default name: String) -> [String] {
        ownChecksums.fields.compactMap(\.checksum).filter(\.algorithm.isKeyed).map {
            $0.keyName ?? name
        }
    }

    private var ownChecksums: FrameChecksums { FrameChecksums(head: head, trailer: trailer, keys: keys) }
}
