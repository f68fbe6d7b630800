import Streams

/// Where frames may start, as far as a rule can tell for all of them: resynchronisation searches only there.
package enum Landmark: Hashable, Sendable {
    /// Anywhere.
    case none
    /// After one of these byte strings, which end every frame. `isCertain`: a frame ends wherever one of them is.
    case after([[UInt8]], isCertain: Bool)
    /// Wherever these bytes, a marker or flag, are. `how` is a human-readable explanation.
    case at([UInt8], how: String)
    /// At the first available byte, for no place is better than another. `how` is a human-readable explanation.
    case anywhere(how: String)
    /// Nowhere: frames are not searched for.
    case never

    /// What several kinds of frames in one stream have in common.
    static func common(of landmarks: [Landmark]) -> Landmark {
        guard let first = landmarks.first else { return .none }
        if landmarks.allSatisfy({ $0 == first }) { return first }
        var ends: [[UInt8]] = []
        for landmark in landmarks {
            guard case .after(let own, _) = landmark else { return .none }
            ends += own.filter { !ends.contains($0) }
        }
        return .after(ends, isCertain: false)
    }

    /// The byte strings that end every frame; empty if there are none.
    var ends: [[UInt8]] {
        if case .after(let ends, _) = self { ends } else { [] }
    }
}

/// A set of bytes.
package struct ByteSet: Hashable, Sendable {
    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    /// All bytes.
    package static let all = ByteSet(where: { _ in true })

    /// No bytes.
    package init() {}

    /// The bytes that fulfil a condition.
    package init(where holds: (UInt8) -> Bool) {
        for byte in UInt8.min...UInt8.max where holds(byte) { insert(byte) }
    }

    /// Whether a byte is in the set.
    @inline(__always)
    package func contains(_ byte: UInt8) -> Bool {
        // Chosen, not branched on: what other data has next cannot be predicted.
        let low = byte & 0x40 == 0 ? words.0 : words.1
        let high = byte & 0x40 == 0 ? words.2 : words.3
        return (byte & 0x80 == 0 ? low : high) &>> UInt64(byte & 63) & 1 != 0
    }

    /// The byte of a set that has only one; nil for other sets.
    var only: UInt8? {
        let lower = words.0.nonzeroBitCount + words.1.nonzeroBitCount
        guard lower + words.2.nonzeroBitCount + words.3.nonzeroBitCount == 1 else { return nil }
        if words.0 != 0 { return UInt8(words.0.trailingZeroBitCount) }
        if words.1 != 0 { return UInt8(64 + words.1.trailingZeroBitCount) }
        return UInt8(words.2 != 0 ? 128 + words.2.trailingZeroBitCount : 192 + words.3.trailingZeroBitCount)
    }

    /// Adds a byte.
    package mutating func insert(_ byte: UInt8) {
        let bit = UInt64(1) << UInt64(byte & 63)
        switch byte >> 6 {
        case 0: words.0 |= bit
        case 1: words.1 |= bit
        case 2: words.2 |= bit
        default: words.3 |= bit
        }
    }

    /// Adds the bytes of another set.
    package mutating func formUnion(_ other: ByteSet) {
        words.0 |= other.words.0
        words.1 |= other.words.1
        words.2 |= other.words.2
        words.3 |= other.words.3
    }

    /// Whether two sets have the same bytes.
    package static func == (left: ByteSet, right: ByteSet) -> Bool { left.words == right.words }

    /// Hashes the bytes of the set.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
        hasher.combine(words.2)
        hasher.combine(words.3)
    }
}
