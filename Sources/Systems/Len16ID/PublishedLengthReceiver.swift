import Framing
import Streams

/// The published receiver of `len16-id` and its hazards.
///
///     negative-length  the length is read with sign: 0x8000–0xFFFD wait forever, 0xFFFE loops forever, 0xFFFF consumes
///                      one byte
///     double-append    a frame cut with at least 5 bytes held is read into the buffer and then appended to it again
///
/// When it waits or loops forever it accepts nothing more; unlike the published one, it does not store anything either.
struct PublishedLengthReceiver: MessageReader {
    /// Length, id and one more byte: the published receiver ignores anything shorter.
    private static let head = 5

    private let hasSign: Bool
    private let appendsTwice: Bool
    private var buffer: [UInt8] = []
    private var isDeaf = false

    init(_ hazards: Set<String>) {
        hasSign = hazards.contains("negative-length")
        appendsTwice = hazards.contains("double-append")
    }

    mutating func receive(_ bytes: RawSpan, at time: Timestamp) -> [PeerInput] {
        guard !isDeaf else { return [] }
        var inputs: [PeerInput] = []
        // The held bytes are an incomplete frame.
        if appendsTwice, buffer.count >= Self.head {
            buffer += bytes.copied()
            inputs.append(.unframed(byteCount: 0, detail: "the published receiver appends \(bytes.byteCount) B twice"))
        }
        buffer += bytes.copied()
        while buffer.count >= Self.head {
            let field = UInt16(buffer[0]) << 8 | UInt16(buffer[1])
            let total = 2 + (hasSign ? Int(Int16(bitPattern: field)) : Int(field))
            if total <= 0 {
                let what = total == 0 ? "loops for ever at" : "waits for ever for"
                return inputs + [deaf("the published receiver \(what) a length of \(total - 2)")]
            }
            guard buffer.count >= total else { break }
            let frame = buffer.prefix(total)
            buffer.removeFirst(total)
            guard total >= Self.head else {
                inputs.append(
                    .unframed(byteCount: total, detail: "the published receiver consumes a length of \(total - 2)"))
                continue
            }
            let id = Int64(frame[2]) << 8 | Int64(frame[3])
            inputs.append(
                .message(
                    PeerMessage(
                        fields: [Field("id", .integer(id)), Field("flag", .integer(Int64(frame[4])))],
                        body: Array(frame.dropFirst(Self.head)))))
        }
        return inputs
    }

    private mutating func deaf(_ why: String) -> PeerInput {
        defer { buffer = [] }
        isDeaf = true
        return .unframed(byteCount: buffer.count, detail: why)
    }
}
