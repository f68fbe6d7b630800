import CZstd

/// Compresses pages with zstd (RFC 8878).
final class PageCompression {
    // Reused: it takes more than the compression of a small page.
    private let context: OpaquePointer?
    /// The fastest of the levels: the higher ones took twice the time for a tenth less.
    private static let level: Int32 = 1

    init() {
        context = ZSTD_createCCtx()
    }

    deinit { ZSTD_freeCCtx(context) }

    /// Appends bytes as one frame of zstd.
    ///
    /// - Returns: how many bytes it has.
    func compress(_ bytes: [UInt8], into output: inout [UInt8]) -> Int {
        let room = ZSTD_compressBound(bytes.count)
        var count = 0
        output.append(addingCapacity: room) { output in
            output.withUnsafeMutableBufferPointer { output, filled in
                count = bytes.withUnsafeBytes {
                    ZSTD_compressCCtx(context, output.baseAddress, room, $0.baseAddress, $0.count, Self.level)
                }
                // There is room for any result; without memory for a context, the process ends, as where an array finds none.
                precondition(ZSTD_isError(count) == 0, "zstd: \(String(cString: ZSTD_getErrorName(count)))")
                filled = count
            }
        }
        return count
    }
}
