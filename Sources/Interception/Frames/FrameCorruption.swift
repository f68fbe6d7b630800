import Framing
import Streams

/// Flips bits of frames.
struct FrameCorruption {
    private let corruption: FrameAction.Corruption

    init(_ corruption: FrameAction.Corruption) { self.corruption = corruption }

    /// The frame with other bits.
    ///
    /// - Throws: `EncodingError` if the frame has no such place, or cannot be built again.
    func flip(
        _ frame: [UInt8], _ shape: FrameShape, _ format: DirectionFormat, _ chance: inout Chance
    ) throws(EncodingError) -> [UInt8] {
        if case .anywhere = corruption.place { return flipped(frame, in: [0..<frame.count], &chance) }
        guard format.rule.transforms else { return try flipContent(frame, shape, format, &chance) }
        // Bits of the content: what stands for it is rewritten.
        let (content, inner) = frame.withContent(shape, format) { ($0.copied(0..<$0.byteCount), $1) }
        let new = try flipContent(content, inner, format, &chance)
        return try format.rewrap(new, inner, like: content.span.bytes, inner)
    }

    private func flipContent(
        _ content: [UInt8], _ shape: FrameShape, _ format: DirectionFormat, _ chance: inout Chance
    ) throws(EncodingError) -> [UInt8] {
        if case .field(let name) = corruption.place {
            let bits = format.places(ofBits: name, in: content.span.bytes, shape)
            if !bits.isEmpty { return flipped(content, bits.count, &chance) { bits[$0] } }
        }
        return flipped(content, in: try places(in: content.span.bytes, shape, format), &chance)
    }

    private func places(
        in content: RawSpan, _ shape: FrameShape, _ format: DirectionFormat
    ) throws(EncodingError) -> [Range<Int>] {
        let places =
            switch corruption.place {
            case .anywhere: [0..<content.byteCount]
            case .head: [0..<shape.head]
            case .body: [shape.head..<shape.head + shape.body]
            case .field(let name): format.place(ofField: name, in: content, shape).map { [$0] } ?? []
            case .checksum: format.placesOfChecksums(in: content, shape)
            }
        guard places.contains(where: { !$0.isEmpty }) else { throw EncodingError("the frame has no such bytes") }
        return places
    }

    private func flipped(_ bytes: [UInt8], in places: [Range<Int>], _ chance: inout Chance) -> [UInt8] {
        let indices = places.flatMap { Array($0) }
        return flipped(bytes, 8 * indices.count, &chance) { (indices[$0 / 8], $0 % 8) }
    }

    /// - Parameters:
    ///   - count: how many bits may be flipped.
    ///   - place: where one of them is.
    private func flipped(
        _ bytes: [UInt8], _ count: Int, _ chance: inout Chance, at place: (Int) -> (byte: Int, bit: Int)
    ) -> [UInt8] {
        var bytes = bytes
        // Different bits: one that is flipped twice is not flipped.
        var chosen: Set<Int> = []
        while chosen.count < min(corruption.bits, count) { chosen.insert(chance.below(count)) }
        for (byte, bit) in chosen.map(place) { bytes[byte] ^= 1 << UInt8(bit) }
        return bytes
    }
}

extension [UInt8] {
    /// Passes on a frame's content, with escapes resolved, and its parts.
    func withContent<Result, Failure: Error>(
        _ shape: FrameShape, _ format: DirectionFormat, _ use: (RawSpan, FrameShape) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let frame = span.bytes
        if let content = format.rule.content(of: frame, shape) {
            let bytes = content.bytes.span.bytes
            return try use(bytes, content.shape)
        }
        return try use(frame, shape)
    }
}
