import Framing
import Streams

extension Hazard {
    /// How a published receiver would misread a frame; nil if it would read it correctly.
    func harm(at frame: HazardView, _ bytes: RawSpan) -> String? {
        let body = bytes.extracting(frame.shape.head..<frame.shape.head + frame.shape.body)
        switch self {
        case .zeroSizeBody:
            return frame.shape.body == 0 ? "stalls: asks for exactly 0 bytes and is never called back" : nil
        case .emptyBody:
            return frame.shape.body == 0 && !frame.endsWithin
                ? "stalls: waits for more than the header, until other bytes come" : nil
        case .wideID:
            let head = bytes.extracting(0..<frame.shape.head)
            let isWide = frame.ids.contains { $0.upperBound <= head.byteCount && !Self.isASCII(head.extracting($0)) }
            return frame.direction == .fromClient && isWide ? Self.isWide : nil
        case .countsCharacters:
            return Self.isASCII(bytes) ? nil : "misreads: counts characters, and is out of step from here"
        case .splitFrame:
            if frame.isSplit { return "loses data: takes the first part for all, and drops the rest" }
            return frame.isBeforeCutHead ? "misreads: takes the beginning of the next frame's marker for its end" : nil
        case .cutCharacter:
            return frame.direction == .fromClient && Self.endsInsideCharacter(body) && !frame.endsWithin
                ? "crashes: the read ends inside a character" : nil
        case .negativeLength:
            return Self.readsSign(frame.info.length)
        case .doubleAppend:
            guard let held = frame.held.first(where: { $0 >= frame.shape.head && $0 >= 1 }) else { return nil }
            return Self.appendsTwice(held)
        case .mergedFrames:
            return frame.direction == .fromClient && frame.endsWithin
                ? "wedges: has more in its buffer than this frame, and acts only on exactly one" : nil
        case .shortFirstRead:
            // The read that ended the preceding frame is not examined again.
            let held = frame.held.dropFirst(frame.beginsWithin ? 1 : 0)
            guard frame.direction == .fromClient, let held = held.first(where: { $0 < frame.shape.head }) else {
                return nil
            }
            return Self.readsHead(frame.shape.head, of: held)
        case .shortResponse:
            guard frame.direction == .fromServer else { return nil }
            return Self.shortRead(frame.chunks, frame.shape.head).map(Self.takesForAnswer)
        case .mergedResponses:
            return frame.direction == .fromServer && frame.hasBytes(afterFirst: frame.shape.head)
                ? "loses data: drops what is after the first answer of a read" : nil
        case .perRead:
            guard frame.direction == .fromClient, !frame.chunks.isEmpty else { return nil }
            return frame.isOneRead ? nil : "misreads: takes each read for a line"
        case .badHead, .endlessHead, .staleHead, .noMagicCheck, .noLengthLimit, .lostReceipt, .keyedByText,
            .sharedBuffer, .keptBuffer, .alwaysFailure:
            return nil  // the other evidence decides
        }
    }

    static let isKept = "wedges: its buffer still has the request before this one"

    static func readsSign(_ length: Int) -> String? {
        length >= 0x8002 ? "wedges: reads the length \(length - 2) as negative" : nil
    }

    static func appendsTwice(_ held: Int) -> String {
        "misreads: holds \(held) bytes of it, and appends the next read twice"
    }

    static func readsHead(_ length: Int, of held: Int) -> String {
        "crashes: reads a header of \(length) bytes where it has \(held)"
    }

    static func takesForAnswer(_ short: Int) -> String {
        "crashes: a read has \(short) bytes, and it takes it for a whole answer"
    }

    private static func isASCII(_ bytes: RawSpan) -> Bool {
        for index in 0..<bytes.byteCount where bytes[unchecked: index] >= 0x80 { return false }
        return true
    }

    static let isWide = "misreads: ids are filled up by characters, so that the field has more bytes"

    /// Whether ids that made a frame invalid are text beyond ASCII all the same, up to the first NUL.
    static func hasWideIDs(_ bytes: RawSpan, at places: [Range<Int>]) -> Bool {
        guard let last = places.last, bytes.byteCount >= last.upperBound else { return false }
        let ids = places.flatMap { bytes.copied($0) }
        guard let end = ids.firstIndex(of: 0), String(validating: ids[..<end], as: UTF8.self) != nil else {
            return false
        }
        return ids.contains { $0 >= 0x80 }
    }

    /// The length of the first read that is shorter than an answer; nil if none is.
    static func shortRead(_ reads: [Range<Int>], _ answer: Int) -> Int? {
        reads.first { $0.count < answer }?.count
    }

    /// Whether the last bytes are the beginning of a UTF-8 character (RFC 3629 section 3).
    private static func endsInsideCharacter(_ bytes: RawSpan) -> Bool {
        for count in 1...3 where count <= bytes.byteCount {
            switch bytes[byte: bytes.byteCount - count] {
            case 0x80..<0xc0: continue
            case 0xc2..<0xe0: return count < 2
            case 0xe0..<0xf0: return count < 3
            case 0xf0..<0xf5: return count < 4
            default: return false
            }
        }
        return false
    }
}
