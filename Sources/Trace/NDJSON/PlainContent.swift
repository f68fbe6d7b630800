import Framing
import Streams

/// What a frame says, if it is what most say: its head is numbers at fixed places, its body a Protobuf message, and nothing of it is
/// secret. Then there is room for all of it before it is written.
struct PlainContent {
    /// The frame's kind.
    let kind: Int
    /// How much room it takes, with the name of its type.
    let room: Int

    /// - Returns: nil if it is not; whether the body is a message is not known before it is written.
    @inline(__always)
    init?(of frame: TracedFrame, _ kinds: FrameKinds, bodyLimit: Int) {
        guard let kind = frame.kind, bodyLimit > 0, frame.body == nil, !frame.isSecret, frame.info.missing == 0,
            frame.info.streamed == 0, kinds.hidesNothing(kind), let head = kinds.roomForNumbers(kind, frame.shape),
            let body = kinds.roomForMessage(kind, frame.shape.body)
        else { return nil }
        self.kind = kind
        room = head + body + Self.roomForBody
    }

    /// Writes the objects `fields` and `body`.
    ///
    /// - Parameters:
    ///   - content: the bytes that a sink received with the frame.
    ///   - separator: written between the two.
    ///   - room: that of `room`, and for the separator.
    /// - Returns: whether the body is a message; if not, some of it is written.
    @inline(__always)
    static func write(
        _ content: RawSpan, _ shape: FrameShape, _ kinds: FrameKinds, bodyLimit: Int, separator: StaticString,
        into room: inout ByteRoom
    ) -> Bool {
        let body = content.extracting(shape.head..<shape.head + shape.body)
        kinds.writeNumbers(of: content, into: &room)
        room.put(separator)
        return write(message: body, kinds, bodyLimit, into: &room)
    }

    /// How much room the object `body` takes besides that of its message.
    static var roomForBody: Int { 32 + JSONOutput.longestNumber }

    /// Writes the object `body` of a message.
    ///
    /// - Returns: whether it is one; if not, some of it is written.
    @inline(__always)
    static func write(
        message body: RawSpan, _ kinds: FrameKinds, _ bodyLimit: Int, into room: inout ByteRoom
    ) -> Bool {
        room.put("{\"length\":")
        JSONOutput.integer(body.byteCount, into: &room)
        room.put(",\"protobuf\":")
        let start = room.count
        guard kinds.writeMessage(body, into: &room), room.count - start <= bodyLimit else { return false }
        room.put("}")
        return true
    }
}
