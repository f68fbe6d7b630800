import Streams

/// One block of a pcapng file while it is being written.
///
///     0               4               8                               length-4        length
///     +---------------+---------------+-------------------------------+---------------+
///     | type          | length        | body, options, all multiples  | length        |
///     +---------------+---------------+-- of 4 bytes -----------------+---------------+
///
/// Source: draft-ietf-opsawg-pcapng sections 3.1 and 3.5.
struct PcapngBlock: ~Copyable {
    private var buffer: [UInt8]
    private let start: Int
    private var hasOptions = false

    /// Appends a block whose body `write` writes.
    static func append(type: UInt32, to buffer: inout [UInt8], _ write: (inout PcapngBlock) -> Void) {
        // The buffer moves into the block and back, so that it is never copied.
        var block = PcapngBlock(taking: &buffer)
        block.append(type)
        block.append(UInt32(0))
        write(&block)
        block.finish()
        buffer = block.buffer
    }

    private init(taking buffer: inout [UInt8]) {
        self.buffer = []
        start = buffer.count
        swap(&self.buffer, &buffer)
    }

    private mutating func finish() {
        if hasOptions { append(UInt32(0)) }  // opt_endofopt
        let length = UInt32(truncatingIfNeeded: buffer.count - start + 4)
        append(length)
        for byte in 0..<4 { buffer[start + 4 + byte] = UInt8(truncatingIfNeeded: length >> UInt32(8 * byte)) }
    }

    /// Appends a number, little-endian.
    mutating func append<Number: FixedWidthInteger & UnsignedInteger>(_ number: Number) {
        for shift in stride(from: 0, to: Number.bitWidth, by: 8) {
            buffer.append(UInt8(truncatingIfNeeded: number >> Number(shift)))
        }
    }

    /// Appends a time in nanoseconds since 1970: the upper 32 bits, then the lower.
    mutating func append(_ time: Timestamp) {
        let nanoseconds = UInt64(max(0, time.nanoseconds))
        append(UInt32(nanoseconds >> 32))
        append(UInt32(truncatingIfNeeded: nanoseconds))
    }

    /// Appends bytes as they are.
    mutating func append(contentsOf bytes: RawSpan) {
        buffer.append(contentsOf: bytes)
    }

    /// Fills up to a multiple of 4 bytes.
    mutating func pad() {
        while (buffer.count - start) % 4 != 0 { buffer.append(0) }
    }

    /// The length of type and length, which a block begins with.
    static let headerLength = 8

    /// The type of an enhanced packet block.
    static let packet: UInt32 = 6

    /// The type that the header of a block gives.
    static func type(ofHeader block: RawSpan) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(block[byte: $1]) << UInt32(8 * $1) }
    }

    /// The length that the header of a block gives, in bytes.
    static func length(ofHeader block: RawSpan) -> Int {
        (4..<headerLength).reduce(0) { $0 | Int(block[byte: $1]) << (8 * ($1 - 4)) }
    }

    // MARK: Options

    /// Appends a text, truncated to the longest an option may be.
    mutating func appendOption(_ code: UInt16, text: String) {
        var text = text
        text.withUTF8 { bytes in
            var end = min(bytes.count, Int(UInt16.max))
            if end < bytes.count {
                while end > 0, bytes[end] & 0xc0 == 0x80 { end -= 1 }
            }
            appendOption(code, bytes: UnsafeBufferPointer(rebasing: bytes[..<end]).span.bytes)
        }
    }

    /// Appends bytes, at most 65,535.
    mutating func appendOption(_ code: UInt16, bytes: [UInt8]) {
        appendOption(code, bytes: bytes.span.bytes)
    }

    /// Appends a 64-bit number.
    mutating func appendOption(_ code: UInt16, number: UInt64) {
        beginOption(code, length: 8)
        append(number)
    }

    /// Appends a time.
    mutating func appendOption(_ code: UInt16, time: Timestamp) {
        beginOption(code, length: 8)
        append(time)
    }

    private mutating func appendOption(_ code: UInt16, bytes: RawSpan) {
        beginOption(code, length: UInt16(bytes.byteCount))
        append(contentsOf: bytes)
        pad()
    }

    private mutating func beginOption(_ code: UInt16, length: UInt16) {
        hasOptions = true
        append(code)
        append(length)
    }
}
