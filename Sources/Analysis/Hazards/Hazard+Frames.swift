import Framing
import Streams

extension Hazard {
    /// What a published receiver makes of a frame, where that is not what was sent; nil where it is right.
    func harm(at frame: HazardView, _ bytes: RawSpan) -> String? {
        let body = bytes.extracting(frame.shape.head..<frame.shape.head + frame.shape.body)
        switch self {
        case .zeroSizeBody:
            return frame.shape.body == 0 ? "stalls: asks for exactly 0 bytes and is never called back" : nil
        case .emptyBody:
            return frame.shape.body == 0 && !frame.endsWithin
                ? "stalls: waits for more than the header, until other bytes come" : nil
        case .wideID:
            return frame.direction == .fromClient && Self.hasWideID(bytes, frame)
                ? "misreads: ids are filled up by characters, so that the field has more bytes" : nil
        case .countsCharacters:
            return Self.isASCII(bytes) ? nil : "misreads: counts characters, and is out of step from here"
        case .splitFrame:
            if frame.isSplit { return "loses data: takes the first part for all, and drops the rest" }
            return frame.isBeforeCutHead ? "misreads: takes the beginning of the next frame's marker for its end" : nil
        case .cutCharacter:
            return Self.endsInsideCharacter(body) && !frame.endsWithin
                ? "crashes: the read ends inside a character" : nil
        case .negativeLength:
            return frame.info.length >= 0x8002 ? "wedges: reads the length \(frame.info.length - 2) as negative" : nil
        case .doubleAppend:
            guard let held = frame.held.first(where: { $0 >= frame.shape.head && $0 >= 1 }) else { return nil }
            return "misreads: holds \(held) bytes of it, and appends the next read twice"
        case .mergedFrames:
            return frame.direction == .fromClient && frame.endsWithin
                ? "wedges: has more in its buffer than this frame, and acts only on exactly one" : nil
        case .shortFirstRead:
            guard frame.direction == .fromClient, !frame.beginsWithin, let held = frame.held.first,
                held < frame.shape.head
            else { return nil }
            return "crashes: reads a header of \(frame.shape.head) bytes where it has \(held)"
        case .shortResponse:
            return frame.direction == .fromServer && frame.isSplit
                ? "crashes: takes a part of the answer for all of it" : nil
        case .mergedResponses:
            return frame.direction == .fromServer && frame.beginsWithin
                ? "loses data: drops what is behind the first answer of a read" : nil
        case .perRead:
            return frame.direction == .fromClient && !frame.isOneRead && !frame.chunks.isEmpty
                ? "misreads: takes each read for a line" : nil
        case .badHead, .endlessHead, .staleHead, .noMagicCheck, .noLengthLimit, .lostReceipt, .keyedByText,
            .sharedBuffer,
            .keptBuffer, .alwaysFailure:
            return nil  // what else was seen decides
        }
    }

    /// What a published receiver makes of bytes that belong to no frame; nil where it minds them as it should.
    func harm(at run: UnframedRun, from direction: Direction) -> String? {
        switch (self, run.reason) {
        case (.badHead, .badHead): "goes deaf: has no read outstanding behind a head that it cannot read"
        case (.endlessHead, .tooLong): "looks for the head's end for ever"
        case (.staleHead, .incomplete) where direction == .fromServer:
            "goes deaf when it connects again: it keeps the head of this frame"
        case (.noMagicCheck, .badHead), (.noMagicCheck, .noSync), (.noMagicCheck, .afterGap):
            "misreads: never notices that it is out of step"
        case (.noLengthLimit, .tooLong): "waits for ever for a body of any length"
        default: nil
        }
    }

    private static func isASCII(_ bytes: RawSpan) -> Bool {
        for index in 0..<bytes.byteCount where bytes[unchecked: index] >= 0x80 { return false }
        return true
    }

    /// Whether the header has text beyond ASCII: ids.
    private static func hasWideID(_ bytes: RawSpan, _ frame: HazardView) -> Bool {
        guard frame.shape.head >= 57 else { return false }
        return !isASCII(bytes.extracting(7..<57))
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
