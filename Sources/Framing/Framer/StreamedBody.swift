import Streams

/// What is known of a body whose bytes pass without being kept, but for the first ones.
struct StreamedBody: Sendable {
    /// How many bytes have passed that were not kept.
    private(set) var byteCount = 0
    /// Whether all bytes of the body so far are valid UTF-8, but for a character that may be incomplete.
    private(set) var isText: Bool
    /// The bytes of that character: three at most.
    private var rest: [UInt8] = []

    /// A body of which the first bytes are kept.
    init(behind kept: RawSpan) {
        isText = true
        look(at: kept)
    }

    /// Takes the next bytes.
    mutating func take(_ bytes: RawSpan) {
        byteCount += bytes.byteCount
        look(at: bytes)
    }

    /// The next bytes were not seen: what the body is cannot be told.
    mutating func take(missing count: Int) {
        byteCount += count
        isText = false
    }

    /// Whether the body is valid UTF-8, now that all of it has passed.
    var isWholeText: Bool { isText && rest.isEmpty }

    private mutating func look(at bytes: RawSpan) {
        guard isText, bytes.byteCount > 0 else { return }
        guard rest.isEmpty else {
            // A character ends within three bytes: what follows it is looked at where it is.
            let count = min(4 - rest.count, bytes.byteCount)
            let joined = rest + bytes.copied(0..<count)
            let invalid = joined.span.bytes.firstInvalidUTF8() ?? joined.count
            guard invalid > 0 else {
                isText = joined.count < 4 && joined.span.bytes.mayBeCutCharacter
                rest = joined
                return
            }
            let used = invalid - rest.count
            rest = []
            look(at: bytes.extracting(used..<bytes.byteCount))
            return
        }
        guard let invalid = bytes.firstInvalidUTF8() else { return }
        let tail = bytes.extracting(invalid..<bytes.byteCount)
        isText = tail.mayBeCutCharacter
        if isText { rest = tail.copied() }
    }
}

extension RawSpan {
    /// Whether these may be the first bytes of a character in UTF-8 (RFC 3629 section 3), which is not complete.
    fileprivate var mayBeCutCharacter: Bool {
        guard (1...3).contains(byteCount) else { return false }
        // The last bytes that a character may have tell whether its first ones are valid.
        let length = self[byte: 0] >= 0xf0 ? 4 : self[byte: 0] >= 0xe0 ? 3 : self[byte: 0] >= 0xc2 ? 2 : 1
        guard byteCount < length else { return false }
        let missing = length - byteCount
        return [UInt8(0x80), 0xbf].contains { last in
            let whole = copied() + [UInt8](repeating: last, count: missing)
            return whole.span.bytes.firstInvalidUTF8() == nil
        }
    }
}

/// Which part of a frame's body passes without being kept.
public struct StreamedPart: Hashable, Sendable {
    /// The frame's number among those of its direction.
    public var index: Int
    /// The place of the part's first byte in the body.
    public var offset: Int
}
