import Streams

/// How a number at a fixed place determines where frames end, if nothing else is looked at but constants.
package struct PlainLengths: Sendable {
    /// The number.
    let number: FixedPlace
    /// What a frame begins with.
    let constants: PlainConstants
    /// The bytes before the body, which contain it.
    let head: Int
    /// The bytes after the body.
    let tail: Int
    /// What is added to the number to get the length of the frame.
    let added: Int
    /// The longest frame.
    let limit: Int

    /// The length of the frame at an index of the bytes, which contain its head; nil if no frame can start there.
    @inline(__always)
    func total(in bytes: RawSpan, at start: Int) -> Int? {
        let total = Int(truncatingIfNeeded: number.value(in: bytes, at: start)) &+ added
        guard constants.match(bytes, at: start) else { return nil }
        return total >= head &+ tail && total <= limit ? total : nil
    }

    /// The parts of a frame of a length that `total` returned.
    func shape(_ total: Int) -> FrameShape { FrameShape(head: head, body: total &- head &- tail, tail: tail) }
}
