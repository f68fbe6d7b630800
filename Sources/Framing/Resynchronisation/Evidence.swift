import Platform
import Streams

/// The evidence that a frame starts at a place, in bits: the binary logarithm of how much likelier a frame is to have these bytes
/// than other data is.
///
/// Bits of successive heads add up, so the evidence of a chain is a sequential likelihood ratio (Wald): other data reaches `n`
/// bits at no more than one place in 2^n. Evidence may be negative: a length of 60,000 is rare in frames, and common in noise.
package struct Evidence: Hashable, Sendable {
    /// The evidence of constants, delimiters and digits.
    package var constants = 0.0
    /// The evidence of lengths: short ones are common in frames, and rare in noise.
    package var lengths = 0.0
    /// The evidence of other values: those that the format names, and those that repeat from head to head.
    package var values = 0.0

    /// No evidence.
    package init() {}

    /// All of it, in bits.
    package var bits: Double { constants + lengths + values }

    static func + (left: Evidence, right: Evidence) -> Evidence {
        var sum = left
        sum.constants += right.constants
        sum.lengths += right.lengths
        sum.values += right.values
        return sum
    }

    static func += (left: inout Evidence, right: Evidence) { left = left + right }
}

/// The probability of bytes outside of frames.
///
/// Text is likelier than other bytes. Zeros are as frequent as they are around the place: in the padding of a file everything is
/// zero, and then a length or constant of zeros is no evidence.
package struct ByteBackground: Sendable {
    /// How many zeros there are, of how many bytes.
    private let zeros: Int
    private let count: Int

    /// The background of a head.
    ///
    /// - Parameter bytes: the bytes before the head, and the head itself.
    init(of bytes: RawSpan) {
        zeros = bytes.withUnsafeBytes { $0.reduce(0) { $0 &+ ($1 == 0 ? 1 : 0) } }
        count = bytes.byteCount
    }

    /// How many bits a zero is worth. Most heads of other data have none.
    var zero: Double { -log2(Double(zeros + 2) / Double(count + 8)) }

    /// How many bits a byte of this value is worth.
    func bits(_ byte: UInt8) -> Double {
        switch byte {
        case 0: zero
        case UInt8(ascii: "0")...UInt8(ascii: "9"), 0x20, 0x0a, 0x0d, 0xff: 5
        case 0x21...0x7e, 0x09: 6
        default: 8
        }
    }

    /// How many bits a number of this value is worth.
    func numberBits(_ byte: UInt8) -> Double { byte == 0 ? zero : 8 }
}

extension Evidence {
    /// The evidence that a number of this width, in bits, is a length: frames' lengths are spread evenly over their orders of
    /// magnitude.
    static func length(_ value: UInt64, width: Int) -> Double {
        -magnitude(value) - (width < lengthWidths.count ? lengthWidths[max(width, 0)] : log2(0.693 * Double(width)))
    }

    /// The binary logarithm of a number plus 1. Most are small, and a logarithm takes as long as the rest of a search's step.
    private static func magnitude(_ number: UInt64) -> Double {
        number < UInt64(magnitudes.count) ? magnitudes[Int(number)] : log2(Double(number) + 1)
    }

    private static let magnitudes: [Double] = (0..<4_096).map { log2(Double($0) + 1) }
    private static let lengthWidths: [Double] = (0...64).map { log2(0.693 * Double($0)) }

    /// The evidence that a value is one of those that the format names, of all values of its width. Half of a format's frames are
    /// assumed to have named values.
    static func named(_ isNamed: Bool, of count: Int, bits: Double) -> Double {
        isNamed ? bits - 1 - magnitude(UInt64(max(count, 1) - 1)) : -1
    }

    /// The evidence that one of several kinds of frames fits.
    static func choice(of count: Int) -> Double { -magnitude(UInt64(max(count, 1) - 1)) }

    /// How much evidence a place needs, which grows with the number of places tried: what other data reaches at one place in 2^n
    /// is reached somewhere sooner or later. Summed over all places, the chance of a false one is below 1 %.
    static func needed(places: Int) -> Double { 8 + 1.5 * magnitude(UInt64(max(places, 1) - 1)) }

    /// How much evidence the frames before the first certain one need to be accepted as frames.
    static func neededBefore(places: Int) -> Double { places <= 1 ? 0 : 2 + magnitude(UInt64(places - 1)) }

    /// The evidence that a frame ends exactly where its stream does.
    static func landing(_ length: Int) -> Double { magnitude(UInt64(max(length, 0))) }

    /// The additional evidence if the frames began with the first byte: they leave nothing unexplained, and streams are picked up
    /// at the start of a packet, which usually is the start of a frame.
    static let whole = 4.0

    /// The evidence of two independent signs, of which a frame has one or the other.
    static func either(_ one: Double, _ other: Double) -> Double { log2((exp2(one) + exp2(other)) / 2) }
}
