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
        guard format.rule.transforms else {
            let places = try places(in: frame.span.bytes, shape, format)
            return flipped(frame, in: places, &chance)
        }
        // Bits of the content: what stands for it is written anew.
        let (content, inner) = frame.withContent(shape, format) { ($0.copied(0..<$0.byteCount), $1) }
        let places = try places(in: content.span.bytes, inner, format)
        return try format.rewrap(flipped(content, in: places, &chance), inner)
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
        var bytes = bytes
        let indices = places.flatMap { Array($0) }
        // Different bits: one that is flipped twice is not flipped.
        var bits: Set<Int> = []
        while bits.count < min(corruption.bits, 8 * indices.count) { bits.insert(chance.below(8 * indices.count)) }
        for bit in bits { bytes[indices[bit / 8]] ^= 1 << UInt8(bit % 8) }
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
