import CZlib
import CZstd
import Streams

@testable import Framing

/// Compresses a stream as a program does that flushes after each message.
final class Compressor {
    private var stream = z_stream()

    /// - Parameter bits: 15 for zlib, 31 for gzip, -15 for raw deflate.
    init(_ bits: Int32) { _ = frametap_deflate_init(&stream, bits) }

    deinit { deflateEnd(&stream) }

    func compress(_ bytes: [UInt8], ends: Bool = false) -> [UInt8] {
        var input = bytes
        var output: [UInt8] = []
        input.withUnsafeMutableBufferPointer { input in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(input.count)
            var isDone = false
            while !isDone {
                var room = [UInt8](repeating: 0, count: 65_536)
                let count = room.withUnsafeMutableBufferPointer { room in
                    stream.next_out = room.baseAddress
                    stream.avail_out = UInt32(room.count)
                    _ = deflate(&stream, ends ? Z_FINISH : Z_SYNC_FLUSH)
                    isDone = stream.avail_out > 0
                    return room.count - Int(stream.avail_out)
                }
                output += room.prefix(count)
            }
        }
        return output
    }
}

/// Compresses a stream with zstd, as a program does that flushes after each message.
final class ZstdCompressor {
    private let context = ZSTD_createCStream()

    deinit { ZSTD_freeCStream(context) }

    func compress(_ bytes: [UInt8], ends: Bool = false) -> [UInt8] {
        var room = [UInt8](repeating: 0, count: 2 * bytes.count + 1_024)
        let size = room.count
        let count = room.withUnsafeMutableBytes { room in
            bytes.withUnsafeBytes { bytes in
                var input = ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: 0)
                var output = ZSTD_outBuffer(dst: room.baseAddress, size: size, pos: 0)
                _ = ZSTD_compressStream2(context, &output, &input, ends ? ZSTD_e_end : ZSTD_e_flush)
                return output.pos
            }
        }
        return Array(room.prefix(count))
    }
}

/// A conversation whose streams change their encoding, as a decoder sees it.
final class LayeredConversation: FrameReceiver {
    private(set) var frames = PerDirection<[String]>(fromClient: [], fromServer: [])
    private(set) var unframed = PerDirection<[UInt8]>(fromClient: [], fromServer: [])
    private(set) var reasons: Set<String> = []
    private var framers: PerDirection<Framer>
    private let layered: PerDirection<LayeredStream?>
    private let format: Format
    private let scratch = FramingScratch()

    init(_ format: Format, aligned: Bool = true, decodes: Bool = true) {
        self.format = format
        let framers = format.framers(aligned: aligned)
        func layered(_ direction: Direction) -> LayeredStream? {
            decodes ? framers[direction].conversation.flatMap { LayeredStream($0, direction) } : nil
        }
        self.layered = PerDirection(fromClient: layered(.fromClient), fromServer: layered(.fromServer))
        self.framers = framers
    }

    func take(_ bytes: [UInt8], _ direction: Direction) {
        let now = Timestamp(nanoseconds: 0)
        guard let layered = layered[direction] else {
            framers[direction].receive(bytes.span.bytes, at: now, packet: 0, scratch: scratch, into: self)
            return
        }
        layered.take(bytes.span.bytes) {
            framers[direction].receive($0, at: now, packet: 0, scratch: scratch, into: self)
        }
    }

    func gap(_ count: Int, _ direction: Direction) {
        let count = layered[direction]?.skip(count) ?? count
        framers[direction].missing(count, at: Timestamp(nanoseconds: 0), scratch: scratch, into: self)
    }

    func finish() {
        for direction in Direction.allCases { framers[direction].finish(scratch: scratch, into: self) }
    }

    func counts(_ direction: Direction) -> ByteCounts { framers[direction].counts }

    func framed(_ frame: FrameInfo, bytes: RawSpan, from direction: Direction) {
        let type = format.directions[direction].type(of: bytes, frame.shape) ?? "-"
        frames[direction].append("\(frame.offset)+\(frame.length) \(type)")
    }

    func unframed(_ run: UnframedRun, from direction: Direction) {
        unframed[direction] += run.bytes
        reasons.insert("\(run.reason.rawValue): \(run.detail)")
    }

    func missing(offset: Int, byteCount: Int, from direction: Direction, at time: Timestamp) {}
}
