/// How capture files begin.
package enum CaptureMagic {
    private static let numbers: [[UInt8]] = [
        // pcap: microseconds, nanoseconds, and Kuznetzov's form, in either byte order.
        [0xd4, 0xc3, 0xb2, 0xa1], [0xa1, 0xb2, 0xc3, 0xd4], [0x4d, 0x3c, 0xb2, 0xa1], [0xa1, 0xb2, 0x3c, 0x4d],
        [0x34, 0xcd, 0xb2, 0xa1], [0xa1, 0xb2, 0xcd, 0x34],
        // pcapng.
        [0x0a, 0x0d, 0x0d, 0x0a],
    ]

    /// The first four bytes of a trace, `{"ev`, as a number: a trace may be given in place of a capture.
    static let trace: UInt32 = 0x7b22_6576

    /// Whether a file that begins with these bytes is a capture, or a compressed file, which may be one.
    ///
    /// - Parameter bytes: the first four bytes, or all of a shorter file.
    package static func begins(_ bytes: some Collection<UInt8>) -> Bool {
        if numbers.contains(where: { $0.elementsEqual(bytes.prefix(4)) }) || bytes.starts(with: [0x1f, 0x8b]) {
            return true
        }
        let magic = bytes.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return CaptureCompression(magic: magic) != nil
    }

    /// Whether a file that begins with these bytes is a trace that was compressed with gzip.
    ///
    /// - Parameter bytes: enough for gzip's header and a little content, such as 4,096.
    package static func isCompressedTrace(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.starts(with: [0x1f, 0x8b]), let gunzip = Gunzip(beginning: bytes) else { return false }
        var start = [UInt8](repeating: 0, count: 4)
        let count = start.withUnsafeMutableBytes { room in
            // What follows is not needed: here the file ends.
            try? gunzip.read(into: room) { (_: UnsafeMutableRawBufferPointer) throws(Never) -> Int in 0 }
        }
        return count == 4 && start.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } == trace
    }
}
