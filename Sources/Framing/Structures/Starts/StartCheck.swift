import Streams

/// What the next bytes of a structure have to be, for `StructureStart`. A class, which is not copied to be asked.
protocol StartCheck: AnyObject, Sendable {
    /// Whether the bytes at an index fit.
    func judge(_ bytes: RawSpan, _ at: Int) -> StartVerdict
}

/// Whether bytes fit.
enum StartVerdict {
    /// They do; the next check is at this index.
    case fits(Int)
    /// They may, and nothing after them is checked.
    case open
    /// They do not, whatever follows them.
    case isOut
}

/// Constant bytes.
final class LiteralCheck: StartCheck {
    private let literal: [UInt8]
    private let ignoresCase: Bool
    /// Whether they are a field's, which is read once all of it is available.
    private let isField: Bool

    init(_ literal: [UInt8], ignoresCase: Bool = false, isField: Bool = false) {
        (self.literal, self.ignoresCase, self.isField) = (literal, ignoresCase, isField)
    }

    func judge(_ bytes: RawSpan, _ at: Int) -> StartVerdict {
        if isField, literal.count > bytes.byteCount - at { return .open }
        for index in literal.indices {
            guard at + index < bytes.byteCount else { return .open }
            guard bytes[byte: at + index].equals(literal[index], ignoringCase: ignoresCase) else { return .isOut }
        }
        return .fits(at + literal.count)
    }
}

/// Bytes of any value.
final class AnyBytesCheck: StartCheck {
    private let count: Int

    init(count: Int) { self.count = count }

    func judge(_ bytes: RawSpan, _ at: Int) -> StartVerdict {
        count <= bytes.byteCount - at ? .fits(at + count) : .open
    }
}

/// A number with a bit in each byte that says whether another one follows.
final class VarintCheck: StartCheck {
    private let most: Int

    init(most: Int) { self.most = most }

    func judge(_ bytes: RawSpan, _ at: Int) -> StartVerdict {
        for index in 0..<most {
            guard at + index < bytes.byteCount else { return .open }
            if bytes[byte: at + index] < 0x80 { return .fits(at + index + 1) }
        }
        return .isOut
    }
}

/// The first item of one of several sequences.
final class ChoiceCheck: StartCheck {
    private let starts: [StructureStart]

    init(_ starts: [StructureStart]) { self.starts = starts }

    func judge(_ bytes: RawSpan, _ at: Int) -> StartVerdict {
        guard at < bytes.byteCount else { return .open }
        for start in starts where start.mayFit(bytes, at: at) { return .open }
        return starts.isEmpty ? .open : .isOut
    }
}
