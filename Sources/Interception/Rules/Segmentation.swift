import Framing
import Streams

/// How frames are cut into writes, or joined in one.
package enum Segmentation: Hashable, Sendable {
    /// Each byte is a write of its own.
    case everyByte
    /// Cuts after this many bytes of a frame; negative: before its last ones.
    case at([Int])
    /// Cuts at and inside every field of the head, at the body, inside characters of several bytes, and at and inside what ends the
    /// frame.
    case fields
    /// At most this many cuts, anywhere, by chance.
    case random(cuts: Int)
    /// This many frames in one write, as far as they come within a time.
    case merge(Int, within: Interval)
    /// The same, with half of the next frame.
    case mergeAndHalf(Int, within: Interval)

    /// How many frames are joined; nil if frames are cut.
    var joined: (count: Int, within: Interval)? {
        switch self {
        case .merge(let count, let within), .mergeAndHalf(let count, let within): (count, within)
        default: nil
        }
    }

    /// Where a frame is cut: after how many of its bytes, in order.
    func places(
        _ frame: [UInt8], _ shape: FrameShape, _ format: DirectionFormat, _ chance: inout Chance
    ) -> [Int] {
        var places: Set<Int> = []
        switch self {
        case .everyByte: places = Set(frame.indices)
        case .at(let given): places = Set(given.map { $0 < 0 ? frame.count + $0 : $0 })
        case .fields: places = Self.fields(frame, shape, format)
        case .random(let count):
            guard frame.count > 1 else { return [] }
            for _ in 0..<1 + chance.below(count) { places.insert(1 + chance.below(frame.count - 1)) }
        case .merge, .mergeAndHalf: break
        }
        return places.filter { 0 < $0 && $0 < frame.count }.sorted()
    }

    private static func fields(_ frame: [UInt8], _ shape: FrameShape, _ format: DirectionFormat) -> Set<Int> {
        var places: Set<Int> = []
        func mark(_ range: Range<Int>) {
            places.formUnion([range.lowerBound, range.upperBound])
            if range.count > 1 { places.insert(range.lowerBound + range.count / 2) }
        }
        mark(0..<shape.head)
        mark(shape.head + shape.body..<frame.count)
        // With escapes, a field's place in the content is not its place in the frame.
        if !format.rule.transforms {
            let content = frame.span.bytes
            for field in format.fields(of: content, shape) {
                if let range = format.place(ofField: field.name, in: content, shape) { mark(range) }
            }
        }
        // Continuation bytes of UTF-8 (RFC 3629 section 3).
        for index in shape.head..<shape.head + shape.body where frame[index] & 0xc0 == 0x80 { places.insert(index) }
        return places
    }
}
