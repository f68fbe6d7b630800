import Framing

/// The published receiver of the `tlv32` server and its hazards. Without any it receives correctly.
///
///     shared-buffer     one buffer for the whole server: two clients uploading at once are mixed
///     merged-frames     acts only when the buffer's size equals the total; with more, no client is ever answered again
///     short-first-read  with under 8 bytes in the buffer: range exception
///     kept-buffer       after a location or a voice the buffer is not cleared: later data only makes it longer
///
/// A buffer that has become useless accepts nothing more, whereas the published one grows.
struct PublishedUploadReceiver {
    static let hazards: Set<String> = ["shared-buffer", "merged-frames", "short-first-read", "kept-buffer"]

    private struct Buffer {
        var bytes: [UInt8] = []
        /// It still holds an upload that has been handled.
        var isKept = false
        var isWedged = false
    }

    private static let head = 8
    /// The largest accepted frame, as in the format.
    private static let limit = 256 << 20

    private let hazards: Set<String>
    private var buffers: [Int: Buffer] = [:]
    private var isServerWedged = false

    init(_ hazards: Set<String>) {
        self.hazards = hazards
    }

    /// The results of one read of a connection.
    mutating func receive(_ bytes: [UInt8], on connection: Int) -> [PeerInput] {
        let key = hazards.contains("shared-buffer") ? 0 : connection
        var buffer = buffers[key] ?? Buffer()
        guard !isServerWedged, !buffer.isWedged else { return [] }
        buffer.bytes += bytes
        let outputs = look(at: &buffer)
        if buffer.isWedged { buffer.bytes = [] }
        buffers[key] = buffer
        if isServerWedged { buffers = [:] }
        return outputs
    }

    /// A connection is over: its own buffer is released, a shared one stays.
    mutating func closed(_ connection: Int) {
        buffers[connection] = nil
    }

    private mutating func look(at buffer: inout Buffer) -> [PeerInput] {
        if buffer.isKept { return [wedge(&buffer, "still has the last upload in its buffer: wedged")] }
        var outputs: [PeerInput] = []
        while !buffer.bytes.isEmpty {
            guard buffer.bytes.count >= Self.head else {
                if outputs.isEmpty, hazards.contains("short-first-read") {
                    let count = buffer.bytes.count
                    buffer = Buffer()
                    outputs.append(
                        .crash("the published server crashes: \(count) B are no head, yet it reads 8: range exception"))
                }
                break
            }
            let total = Int(number(in: buffer.bytes, at: 0))
            guard (Self.head...Self.limit).contains(total) else {
                return outputs + [wedge(&buffer, "waits for ever for a total of \(total) B")]
            }
            guard buffer.bytes.count >= total else { break }
            if buffer.bytes.count > total, hazards.contains("merged-frames") {
                isServerWedged = true
                let held = buffer.bytes.count
                return outputs + [wedge(&buffer, "has \(held) B and acts only at \(total): wedged for every client")]
            }
            let command = number(in: buffer.bytes, at: 4)
            let fields = [Field("command", .integer(Int64(command)))]
            outputs.append(.message(PeerMessage(fields: fields, body: Array(buffer.bytes[Self.head..<total]))))
            if hazards.contains("kept-buffer"), command == 3 || command == 4 {
                buffer.isKept = true
                if buffer.bytes.count > total { outputs += look(at: &buffer) }
                break
            }
            buffer.bytes.removeFirst(total)
        }
        return outputs
    }

    private func wedge(_ buffer: inout Buffer, _ why: String) -> PeerInput {
        buffer.isWedged = true
        return .note("the published server \(why)")
    }

    private func number(in bytes: [UInt8], at place: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(bytes[place + $1]) << (8 * UInt32($1)) }
    }
}
