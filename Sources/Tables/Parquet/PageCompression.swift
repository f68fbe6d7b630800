import CZstd

/// Compresses pages with zstd (RFC 8878).
final class PageCompression {
    // The page compressed last; room for one that is put together, and for the pages of a group: their memory is used again, for
    // all files.
    private(set) var compressed: [UInt8] = []
    var page: [UInt8] = []
    var group: [UInt8] = []

    // Reused: it takes more than the compression of a small page.
    private let context: OpaquePointer?
    /// Level 1 takes half as much time again, for a tenth less room; higher ones take twice as much.
    private static let level: Int32 = -1

    init() {
        context = ZSTD_createCCtx()
    }

    deinit { ZSTD_freeCCtx(context) }

    /// Compresses a page as one frame of zstd.
    func compress(_ page: RawSpan) {
        let room = ZSTD_compressBound(page.byteCount)
        compressed.removeAll(keepingCapacity: true)
        compressed.append(addingCapacity: room) { output in
            output.withUnsafeMutableBufferPointer { output, filled in
                let count = page.withUnsafeBytes {
                    ZSTD_compressCCtx(context, output.baseAddress, room, $0.baseAddress, $0.count, Self.level)
                }
                // There is room for any result; without memory for a context, the process ends, as where an array finds none.
                precondition(ZSTD_isError(count) == 0, "zstd: \(String(cString: ZSTD_getErrorName(count)))")
                filled = count
            }
        }
    }
}
