import Streams

/// Header, body and trailer of frames whose bytes are encoded: they are parts of what was decoded.
struct EncodedParts: Sendable {
    let head: BinaryHead?
    let trailer: BinaryHead?

    /// Whether it says anything of a frame's content.
    var areAny: Bool { head != nil || trailerSize > 0 }

    private var trailerSize: Int { trailer?.fixedLength ?? 0 }

    /// The fault of content whose header or trailer does not match, so that constants can distinguish kinds of frames, or in which they
    /// have no room.
    func mismatch(_ content: RawSpan) -> String? {
        var length = 0
        if let head {
            switch head.scan(content, at: 0) {
            case .complete(let count): length = count
            case .incomplete: return "the frame is shorter than its header"
            case .bad(let message): return message
            }
        }
        let end = content.byteCount - trailerSize
        if length > end { return "the frame is shorter than its header and trailer" }
        if let trailer, case .bad(let message) = trailer.scan(content, at: end) { return message }
        return nil
    }

    /// The parts of a frame's content.
    func shape(of content: RawSpan, _ layout: Int) -> FrameShape {
        var parts = FrameShape(head: 0, body: content.byteCount)
        parts.layout = layout
        if let head, case .complete(let length) = head.scan(content, at: 0),
            length + trailerSize <= content.byteCount
        {
            (parts.head, parts.body, parts.tail) = (length, content.byteCount - length - trailerSize, trailerSize)
        } else if head == nil, trailerSize <= content.byteCount {
            (parts.body, parts.tail) = (content.byteCount - trailerSize, trailerSize)
        }
        return parts
    }
}
