extension [UInt8] {
    /// Appends a number in seven bits a byte, the lowest first; all bytes but the last have the highest bit set (LEB128).
    package mutating func append(varint number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }

    /// Appends a number that may be negative, in seven bits a byte: 0, -1, 1, -2 and so on are 0, 1, 2, 3 (zigzag).
    package mutating func append(signed number: Int64) {
        append(varint: UInt64(bitPattern: number << 1 ^ number >> 63))
    }
}
