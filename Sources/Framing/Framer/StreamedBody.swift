import Streams

/// The state of a body that is streamed, except its first bytes.
struct StreamedBody: Sendable {
    /// How many bytes were streamed and not kept.
    private(set) var byteCount = 0
    /// Whether all bytes of the body so far are valid UTF-8, except for a character that may be incomplete.
    private(set) var isText: Bool
    /// The bytes of that character: at most three.
    private var rest: [UInt8] = []

    /// A body of which the first bytes are kept.
    init(after kept: RawSpan) {
        isText = true
        look(at: kept)
    }

    /// Takes the next bytes.
    mutating func take(_ bytes: RawSpan) {
        byteCount += bytes.byteCount
        look(at: bytes)
    }

    /// The next bytes were not seen: the form of the body cannot be determined.
    mutating func take(missing count: Int) {
        byteCount += count
        isText = false
    }

    /// Whether the body is valid UTF-8, now that all of it was streamed.
    var isWholeText: Bool { isText && rest.isEmpty }

    private mutating func look(at bytes: RawSpan) {
        guard isText, bytes.byteCount > 0 else { return }
        guard rest.isEmpty else {
            // A character ends within three bytes: what follows it is checked in place.
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
    /// Whether these may be the first bytes of an incomplete UTF-8 character (RFC 3629 section 3).
    fileprivate var mayBeCutCharacter: Bool {
        guard (1...3).contains(byteCount) else { return false }
        // The largest continuation bytes a character may have show whether its first ones are valid.
        let length = self[byte: 0] >= 0xf0 ? 4 : self[byte: 0] >= 0xe0 ? 3 : self[byte: 0] >= 0xc2 ? 2 : 1
        guard byteCount < length else { return false }
        let missing = length - byteCount
        return [UInt8(0x80), 0xbf].contains { last in
            let whole = copied() + [UInt8](repeating: last, count: missing)
            return whole.span.bytes.firstInvalidUTF8() == nil
        }
    }
}

/// A streamed part of a frame's body.
public struct StreamedPart: Hashable, Sendable {
    /// The frame's number among those of its direction.
    public var index: Int
    /// The offset of the part's first byte in the body.
    public var offset: Int
}
