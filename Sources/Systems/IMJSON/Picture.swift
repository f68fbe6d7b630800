/// Makes pictures of any size.
package enum Picture {
    /// A valid baseline JPEG of 8 × 8 grey pixels (ITU-T T.81, JFIF 1.02), padded with comment segments.
    ///
    /// - Parameter byteCount: its size; a size below 128 or so gives the smallest picture instead.
    package static func jpeg(byteCount: Int) -> [UInt8] {
        var picture = start
        var missing = byteCount - start.count - image.count
        var filler = UInt32(truncatingIfNeeded: byteCount)
        while missing >= 4 {
            // The remainder must not be too short for a segment of its own.
            var length = min(missing, 65_537)
            if missing - length > 0, missing - length < 4 { length -= 4 }
            picture += [0xff, 0xfe, UInt8((length - 2) >> 8), UInt8((length - 2) & 255)]
            for _ in 4..<length {
                filler = filler &* 1_664_525 &+ 1_013_904_223
                picture.append(UInt8(filler >> 24))
            }
            missing -= length
        }
        return picture + image
    }

    /// SOI and APP0.
    private static let start: [UInt8] =
        [0xff, 0xd8, 0xff, 0xe0, 0, 16] + Array("JFIF".utf8) + [0, 1, 2, 0, 0, 1, 0, 1, 0, 0]

    /// One block with only zero coefficients: each code is the single bit 0.
    private static let image: [UInt8] =
        [0xff, 0xdb, 0, 67, 0] + [UInt8](repeating: 1, count: 64)  // DQT
        + [0xff, 0xc0, 0, 11, 8, 0, 8, 0, 8, 1, 1, 0x11, 0]  // SOF0: 8 bits, 8 × 8, one component
        + [0xff, 0xc4, 0, 20, 0x00, 1] + [UInt8](repeating: 0, count: 16)  // DHT, DC: 0 means no difference
        + [0xff, 0xc4, 0, 20, 0x10, 1] + [UInt8](repeating: 0, count: 16)  // DHT, AC: 0 means end of block
        + [0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 0x3f]  // SOS and the data, padded with ones
        + [0xff, 0xd9]  // EOI
}
