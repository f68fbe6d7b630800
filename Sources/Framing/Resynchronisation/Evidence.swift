import Platform
import Streams

/// What the bytes at a place say for a frame that starts there, in bits: the binary logarithm of how much likelier a frame
/// is to have them than other bytes are.
///
/// Bits of successive heads add up, so the evidence of a chain is a sequential likelihood ratio (Wald): other bytes reach
/// `n` bits at one place in 2^n at most. Evidence may be negative: a length of 60,000 is rare in frames, and common in noise.
public struct Evidence: Hashable, Sendable {
    /// What constants, delimiters and digits say.
    public var constants = 0.0
    /// What lengths say: short ones are common in frames, and rare in noise.
    public var lengths = 0.0
    /// What other values say: those that the format names, and those that repeat from head to head.
    public var values = 0.0

    /// No evidence.
    public init() {}

    /// All of it, in bits.
    public var bits: Double { constants + lengths + values }

    static func + (left: Evidence, right: Evidence) -> Evidence {
        var sum = left
        sum.constants += right.constants
        sum.lengths += right.lengths
        sum.values += right.values
        return sum
    }

    static func += (left: inout Evidence, right: Evidence) { left = left + right }
}

/// How probable bytes are where no frame is.
///
/// Text is likelier than other bytes. Zeros are as frequent as they are around the place: in the padding of a file they are
/// everything, and then a length or constant of zeros says nothing.
public struct ByteBackground: Sendable {
    /// How many bits a zero is worth.
    let zero: Double

    /// The background of a head.
    ///
    /// - Parameter bytes: what lies before the head, and the head itself.
    init(of bytes: RawSpan) {
        var zeros = 0
        bytes.withUnsafeBytes { for byte in $0 where byte == 0 { zeros += 1 } }
        zero = -log2(Double(zeros + 2) / Double(bytes.byteCount + 8))
    }

    /// How many bits it is worth that a byte is this one.
    func bits(_ byte: UInt8) -> Double {
        switch byte {
        case 0: zero
        case UInt8(ascii: "0")...UInt8(ascii: "9"), 0x20, 0x0a, 0x0d, 0xff: 5
        case 0x21...0x7e, 0x09: 6
        default: 8
        }
    }

    /// How many bits it is worth that a number is this one.
    func numberBits(_ byte: UInt8) -> Double { byte == 0 ? zero : 8 }
}

extension Evidence {
    /// That a number of this width, in bits, is a length: those of frames are spread evenly over their orders of magnitude.
    static func length(_ value: UInt64, width: Int) -> Double {
        -log2(Double(value) + 1) - log2(0.693 * Double(width))
    }

    /// That a value is one of those that the format names, of all values of its width. Half of a format's
    /// frames are taken to have named values.
    static func named(_ isNamed: Bool, of count: Int, bits: Double) -> Double {
        isNamed ? bits - 1 - log2(Double(max(count, 1))) : -1
    }

    /// That one of several kinds of frames fits.
    static func choice(of count: Int) -> Double { -log2(Double(max(count, 1))) }

    /// How much more a place has to say the more places were tried: what other bytes reach at one of them in 2^n is
    /// reached somewhere sooner or later. Summed over all places, the chance of a false one is below 1 %.
    static func needed(places: Int) -> Double { 8 + 1.5 * log2(Double(max(places, 1))) }

    /// How much the frames before the first certain one have to say to be taken for frames.
    static func neededBefore(places: Int) -> Double { places <= 1 ? 0 : 2 + log2(Double(places)) }

    /// What it says that a frame ends exactly where its stream does.
    static func landing(_ length: Int) -> Double { log2(Double(length) + 1) }

    /// What it says beside that where the frames began with the first byte: they leave nothing unexplained, and streams are
    /// picked up at the start of a packet, which most often is that of a frame.
    static let whole = 4.0

    /// That two independent signs were seen, of which a frame has one or the other.
    static func either(_ one: Double, _ other: Double) -> Double { log2((exp2(one) + exp2(other)) / 2) }
}
