import CZstd
import Streams

/// Decompresses a stream with zstd (RFC 8878), as its bytes come.
final class Zstd {
    /// The largest window that is accepted, as a power of two: 8 MiB, as RFC 8878 section 3.1.1.1.2 recommends.
    static let largestWindow: Int32 = 23

    private let context: OpaquePointer
    /// Whether the bytes so far end with a frame.
    private(set) var isAtFrameEnd = true

    /// Nil if memory runs out.
    init?() {
        guard let context = ZSTD_createDCtx() else { return nil }
        self.context = context
        ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, Self.largestWindow)
    }

    deinit { ZSTD_freeDCtx(context) }

    /// Approximately how much memory it takes.
    var memory: Int { ZSTD_sizeof_DCtx(context) }

    /// Decompresses from `at` on, into the output after `count`; truncates what was not filled.
    ///
    /// - Returns: the error; nil if there is none.
    func step(_ input: RawSpan, _ at: inout Int, _ output: inout [UInt8], from count: Int) -> String? {
        var result = 0
        var used = 0
        var filled = 0
        input.withUnsafeBytes { input in
            var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: at)
            output.withUnsafeMutableBytes { output in
                var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: count)
                result = ZSTD_decompressStream(context, &target, &source)
                filled = target.pos
            }
            used = source.pos
        }
        at = used
        output.removeLast(output.count - filled)
        if ZSTD_isError(result) != 0 { return String(cString: ZSTD_getErrorName(result)) }
        isAtFrameEnd = result == 0
        return nil
    }

    /// Compresses bytes into one frame; nil if memory runs out.
    static func compress(_ bytes: [UInt8]) -> [UInt8]? {
        var output = [UInt8](repeating: 0, count: ZSTD_compressBound(bytes.count))
        let room = output.count
        let count = output.withUnsafeMutableBytes { output in
            bytes.withUnsafeBytes { ZSTD_compress(output.baseAddress, room, $0.baseAddress, $0.count, 3) }
        }
        if ZSTD_isError(count) != 0 { return nil }
        output.removeLast(room - count)
        return output
    }
}
