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

    /// One frame of zstd.
    func compress(_ bytes: [UInt8]) -> [UInt8] {
        let room = ZSTD_compressBound(bytes.count)
        return [UInt8](unsafeUninitializedCapacity: room) { output, count in
            let written = bytes.withUnsafeBytes {
                ZSTD_compressCCtx(context, output.baseAddress, room, $0.baseAddress, $0.count, Self.level)
            }
            // There is room for any result; without memory for a context, the process ends, as where an array finds none.
            precondition(ZSTD_isError(written) == 0, "zstd: \(String(cString: ZSTD_getErrorName(written)))")
            count = written
        }
    }
}
