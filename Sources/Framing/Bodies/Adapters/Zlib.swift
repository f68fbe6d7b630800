import CZlib
import Streams

/// Compresses and decompresses bodies with zlib.
struct Zlib: Sendable {
    /// The format of the compressed data.
    enum Wrapping: Int32, Sendable {
        /// zlib's own header and Adler-32 (RFC 1950).
        case zlib = 15
        /// gzip's header and CRC-32 (RFC 1952).
        case gzip = 31
        /// Nothing (RFC 1951).
        case none = -15
    }

    /// Why data cannot be decompressed.
    struct Fault: Error, CustomStringConvertible {
        var description: String
    }

    let wrapping: Wrapping

    /// How much output space is added at a time: more for more data, so that a short body costs little.
    private static func room(for data: Int, after count: Int) -> Int {
        min(max(256, 4 * data, count), 64 << 10)
    }

    /// Decompresses data, to at most `limit` bytes.
    ///
    /// gzip data may have several members (RFC 1952, 2.2): they are concatenated.
    func expand(_ data: RawSpan, limit: Int) throws(Fault) -> [UInt8] {
        var stream = z_stream()
        guard frametap_inflate_init(&stream, wrapping.rawValue) == Z_OK else {
            throw Fault(description: "out of memory")
        }
        defer { inflateEnd(&stream) }
        var output: [UInt8] = []
        var at = 0
        while true {
            guard output.count <= limit else { throw Fault(description: "more than \(limit) bytes come out") }
            let count = output.count
            // One byte beyond the limit shows that there is more.
            let room = min(Self.room(for: data.byteCount, after: count), limit + 1 - count)
            output.append(contentsOf: repeatElement(0, count: room))
            let status = Self.step(&stream, data, &at, &output, from: count) { inflate(&$0, Z_NO_FLUSH) }
            switch status {
            case Z_OK: continue
            case Z_STREAM_END:
                guard at < data.byteCount else {
                    guard output.count <= limit else { throw Fault(description: "more than \(limit) bytes come out") }
                    return output
                }
                guard wrapping == .gzip, data[byte: at] == 0x1f, inflateReset(&stream) == Z_OK else {
                    throw Fault(description: "\(data.byteCount - at) bytes after the end of the data")
                }
            case Z_BUF_ERROR where at == data.byteCount:
                throw Fault(description: "it ends too soon, after \(output.count) bytes were expanded")
            case Z_BUF_ERROR: continue
            case Z_NEED_DICT: throw Fault(description: "it needs a dictionary")
            default:
                let said = stream.msg.map { String(cString: $0) } ?? "zlib's error \(status)"
                throw Fault(description: "\(said) near byte \(at)")
            }
        }
    }

    /// Compresses bytes; nil if memory runs out.
    func compress(_ bytes: [UInt8]) -> [UInt8]? {
        var stream = z_stream()
        guard frametap_deflate_init(&stream, wrapping.rawValue) == Z_OK else { return nil }
        defer { deflateEnd(&stream) }
        var output: [UInt8] = []
        var at = 0
        while true {
            let count = output.count
            output.append(contentsOf: repeatElement(0, count: Self.room(for: bytes.count, after: count)))
            let status = Self.step(&stream, bytes.span.bytes, &at, &output, from: count) { deflate(&$0, Z_FINISH) }
            if status == Z_STREAM_END { return output }
            guard status == Z_OK || status == Z_BUF_ERROR else { return nil }
        }
    }

    /// Lets zlib continue from `at` and fill the output after `count`; truncates what it did not fill.
    static func step(
        _ stream: inout z_stream, _ input: RawSpan, _ at: inout Int, _ output: inout [UInt8], from count: Int,
        _ work: (inout z_stream) -> Int32
    ) -> Int32 {
        input.withUnsafeBytes { input in
            let rest = UnsafeMutableRawBufferPointer(mutating: UnsafeRawBufferPointer(rebasing: input[at...]))
            let available = min(rest.count, Int(UInt32.max))
            stream.next_in = rest.baseAddress?.assumingMemoryBound(to: UInt8.self)
            stream.avail_in = UInt32(available)
            var left = 0
            let status = output.withUnsafeMutableBytes { output in
                let free = UnsafeMutableRawBufferPointer(rebasing: output[count...])
                stream.next_out = free.baseAddress?.assumingMemoryBound(to: UInt8.self)
                stream.avail_out = UInt32(free.count)
                let status = work(&stream)
                left = Int(stream.avail_out)
                return status
            }
            at += available - Int(stream.avail_in)
            // The pointers are valid for this call only.
            (stream.next_in, stream.next_out) = (nil, nil)
            output.removeLast(left)
            return status
        }
    }
}
