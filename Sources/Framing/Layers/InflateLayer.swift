import CZlib
import Streams

/// A stream compressed with `zlib` (RFC 1950), flushed after each frame.
struct ZlibStream: StreamEncoding {
    static let name = "zlib"
    static let keys = KeySection("through.zlib", "compressed with zlib (RFC 1950) and flushed after each message", [])

    init(_ options: YAMLMap?) {}

    func layer() throws(StreamLayerFault) -> any StreamLayer { try InflateLayer(Self.name, .zlib) }
}

/// A stream compressed with `gzip` (RFC 1952).
struct GzipStream: StreamEncoding {
    static let name = "gzip"
    static let keys = KeySection("through.gzip", "compressed with gzip (RFC 1952) and flushed after each message", [])

    init(_ options: YAMLMap?) {}

    func layer() throws(StreamLayerFault) -> any StreamLayer { try InflateLayer(Self.name, .gzip) }
}

/// A stream compressed with `deflate` (RFC 1951), without header or trailer.
struct DeflateStream: StreamEncoding {
    static let name = "deflate"
    static let keys = KeySection(
        "through.deflate",
        "compressed with deflate (RFC 1951), without header or trailer, and flushed after each message", [])

    init(_ options: YAMLMap?) {}

    func layer() throws(StreamLayerFault) -> any StreamLayer { try InflateLayer(Self.name, .none) }
}

/// Decompresses a stream with zlib.
final class InflateLayer: StreamLayer {
    /// The largest piece that comes out at once: compressed data may expand a thousandfold.
    private static let piece = 256 << 10
    /// The window, and zlib's own state.
    let memory = 44 << 10

    private let name: String
    private var stream = z_stream()
    private(set) var isOver = false
    private var taken = 0

    init(_ name: String, _ wrapping: Zlib.Wrapping) throws(StreamLayerFault) {
        self.name = name
        guard frametap_inflate_init(&stream, wrapping.rawValue) == Z_OK else {
            throw StreamLayerFault("\(name): out of memory")
        }
    }

    deinit { inflateEnd(&stream) }

    func take(_ bytes: RawSpan, _ emit: (RawSpan) -> Void) throws(StreamLayerFault) -> Int {
        var at = 0
        var output: [UInt8] = []
        while true {
            let count = output.count
            let room = min(max(4_096, count), Self.piece - count)
            output.append(contentsOf: repeatElement(0, count: room))
            let status = Zlib.step(&stream, bytes, &at, &output, from: count) { inflate(&$0, Z_SYNC_FLUSH) }
            let isFull = output.count == count + room
            if output.count == Self.piece || !isFull || status != Z_OK {
                if !output.isEmpty { emit(output.span.bytes) }
                output.removeAll(keepingCapacity: true)
            }
            switch status {
            case Z_OK where isFull: continue
            case Z_OK, Z_BUF_ERROR:
                guard at < bytes.byteCount else {
                    taken += at
                    return at
                }
            case Z_STREAM_END:
                isOver = true
                taken += at
                return at
            default:
                let said = status == Z_NEED_DICT ? "it needs a dictionary" : stream.msg.map { String(cString: $0) }
                throw StreamLayerFault("\(name): \(said ?? "error \(status)") near byte \(taken + at)", used: at)
            }
        }
    }

    func skip(_ byteCount: Int) -> Int? { nil }
}
