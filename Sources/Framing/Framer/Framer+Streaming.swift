import Streams

/// Large bodies: their first bytes are kept, the rest is streamed.
extension Framer {
    /// Takes the next bytes of a frame whose body is streamed.
    mutating func stream(_ bytes: RawSpan, _ shape: FrameShape, into receiver: any FrameReceiver) {
        let kept = min(bytes.byteCount, max(0, shape.head + shared.keptBody - pending.count))
        pending.append(bytes.extracting(0..<kept))
        guard kept < bytes.byteCount else { return }
        pass(bytes.extracting(kept..<bytes.byteCount), shape, into: receiver)
    }

    /// Streams the excess of a frame's body that was kept before its extent was known.
    mutating func streamRest(into receiver: any FrameReceiver) {
        guard let shape, shared.streams(shape), pending.count > shape.head + shared.keptBody else { return }
        let held = pending.take()
        let bytes = held.storage.span.bytes.extracting(0..<held.count)
        stream(bytes, shape, into: receiver)
    }

    private mutating func pass(_ bytes: RawSpan, _ shape: FrameShape, into receiver: any FrameReceiver) {
        var body = openBody(shape)
        let part = StreamedPart(index: counts.frames, offset: seen - shape.head)
        body.take(bytes)
        self.body = body
        receiver.streamed(part, bytes: bytes, from: direction)
    }

    private func openBody(_ shape: FrameShape) -> StreamedBody {
        body ?? StreamedBody(after: pending.storage.span.bytes.extracting(shape.head..<pending.count))
    }

    /// Completes a frame with zeros for bytes that were not seen; for a streamed body, only as many as are kept.
    mutating func keep(zeros count: Int, _ shape: FrameShape) {
        let room = shared.streams(shape) ? max(0, shape.head + shared.keptBody - pending.count) : count
        pending.append(zeros: min(room, count))
        guard count > room else { return }
        var body = openBody(shape)
        body.take(missing: count - room)
        self.body = body
    }
}

extension SharedRule {
    /// Whether a frame of this shape is streamed: it is large, and ends with its body.
    @inline(__always)
    func streams(_ shape: FrameShape) -> Bool {
        shape.total > streamedAbove && shape.body > keptBody && shape.tail == 0
    }
}

extension FramingRule {
    /// Human-readable: how much of a frame is available.
    ///
    /// - Parameters:
    ///   - bytes: its kept bytes.
    ///   - count: how many there were.
    func progress(_ bytes: RawSpan, of count: Int, shape: FrameShape?) -> String {
        guard let shape, count > bytes.byteCount else { return progress(bytes, shape: shape) }
        return "\(count - shape.head) of \(shape.body) body bytes"
    }
}
