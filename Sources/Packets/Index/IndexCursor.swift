/// Reads the records of a chunk of an index.
struct IndexCursor {
    private let bytes: [UInt8]
    private var at = 0
    /// The offset in the index of the first byte.
    private let base: Int

    /// A cursor at the start of a chunk's records.
    init(_ bytes: [UInt8], base: Int) {
        (self.bytes, self.base) = (bytes, base)
    }

    /// Whether there is nothing more.
    var isAtEnd: Bool { at == bytes.count }

    /// An error at the cursor.
    func error(expected: String, found: String) -> CaptureError {
        CaptureError(kind: .badLength, offset: base + at, expected: expected, found: found)
    }

    /// The next byte.
    mutating func byte() throws(CaptureError) -> UInt8 {
        guard at < bytes.count else { throw error(expected: "more of a record", found: "the end of its chunk") }
        defer { at += 1 }
        return bytes[at]
    }

    /// A number of `size` bytes, at most 8, in network byte order.
    mutating func number(_ size: Int) throws(CaptureError) -> UInt64 {
        var number: UInt64 = 0
        for _ in 0..<size { number = number << 8 | UInt64(try byte()) }
        return number
    }

    /// A number of any size, up to 64 bits.
    mutating func varint() throws(CaptureError) -> UInt64 {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            let next = try byte()
            let bits = UInt64(next & 0x7f)
            guard shift < 63 || bits < 2 else { break }
            number |= bits << shift
            if next < 0x80 { return number }
        }
        throw error(expected: "a number of at most 64 bits", found: "a longer one")
    }

    /// A number that may be negative.
    mutating func signed() throws(CaptureError) -> Int64 {
        let number = try varint()
        return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
    }

    /// A count or an offset. Two of them can be added.
    mutating func count() throws(CaptureError) -> Int {
        let number = try varint()
        guard number < 1 << 62 else { throw error(expected: "a number below 2^62", found: "\(number)") }
        return Int(number)
    }

    /// Extents, in order.
    mutating func extents() throws(CaptureError) -> [Range<Int>] {
        let number = try count()
        // Each takes two bytes or more.
        guard number <= (bytes.count - at) / 2 else {
            throw error(expected: "at most \((bytes.count - at) / 2) extents", found: "\(number)")
        }
        var extents: [Range<Int>] = []
        extents.reserveCapacity(number)
        var end = 0
        for _ in 0..<number {
            let gap = try count()
            let start = end + gap
            guard start < 1 << 62 else { throw error(expected: "an offset below 2^62", found: "\(start)") }
            let length = try count()
            guard length > 0, start + length < 1 << 62 else {
                throw error(expected: "an extent of 1 byte or more, that ends below 2^62", found: "\(length) bytes")
            }
            end = start + length
            extents.append(start..<end)
        }
        return extents
    }
}
