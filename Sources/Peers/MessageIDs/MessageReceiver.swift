import Framing
import Streams

/// The receiving part of one end of `len16-id`: by the format, or as published.
struct MessageReceiver {
    private var codec: FrameCodec
    private var published: PublishedLengthReceiver?

    /// The items that a read completes.
    enum Input: Hashable {
        case message(UserMessage)
        /// In words: bytes that are not a frame, or a frame that is not a message.
        case note(String)
    }

    init(_ format: Format, sending direction: Direction, asPublished hazards: Set<String>) {
        codec = FrameCodec(format, sending: direction)
        published = hazards.isEmpty ? nil : PublishedLengthReceiver(hazards)
    }

    mutating func receive(_ bytes: [UInt8], at time: Timestamp) -> [Input] {
        let inputs = published?.receive(bytes) ?? codec.receive(bytes.span.bytes, at: time)
        return inputs.map { input in
            switch input {
            case .unframed(let byteCount, let detail): return .note("\(byteCount) B without frame: \(detail)")
            case .message(let frame):
                guard let message = UserMessage(frame) else {
                    return .note("a frame with id \(frame["id"] ?? "?") and \(frame.body.count) B that is no message")
                }
                return .message(message)
            }
        }
    }

    /// The bytes of a message; nil if it is longer than the length field can express.
    func encode(_ message: UserMessage) -> [UInt8]? {
        try? codec.encode(.messages([message.frame]))
    }
}
