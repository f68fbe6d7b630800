import Streams

/// The parameters of a cyclic redundancy check, in the terms of the reveng catalogue.
struct CRC: Hashable, Sendable {
    /// Bits of the remainder: 8, 16 or 32.
    let width: Int
    /// The generator without its highest bit.
    let poly: UInt32
    /// The initial value of the register.
    let initial: UInt32
    /// Whether the least significant bit of each byte comes first, and the result is read that way (refin and refout; no CRC of
    /// these widths has one without the other).
    let reflected: Bool
    /// The value that the result is XORed with.
    let xorOut: UInt32

    /// The remainders of all single-byte values.
    ///
    /// An unreflected register is kept in the top of 32 bits, so that one loop serves every width.
    func table() -> [UInt32] {
        (0..<256 as Range<UInt32>).map { byte in
            var register = reflected ? byte : byte << 24
            for _ in 0..<8 {
                if reflected {
                    register = register >> 1 ^ (register & 1 == 0 ? 0 : CRC.reversed(poly, width))
                } else {
                    register = register << 1 ^ (register >> 31 == 0 ? 0 : poly << UInt32(32 - width))
                }
            }
            return register
        }
    }

    /// The CRC of bytes, given this CRC's table.
    func value(of bytes: RawSpan, table: [UInt32]) -> UInt32 {
        bytes.withUnsafeBytes { bytes in
            if reflected {
                var register = CRC.reversed(initial, width)
                for byte in bytes { register = register >> 8 ^ table[Int(UInt8(truncatingIfNeeded: register) ^ byte)] }
                return register ^ xorOut
            }
            let shift = UInt32(32 - width)
            var register = initial << shift
            for byte in bytes { register = register << 8 ^ table[Int(UInt8(register >> 24) ^ byte)] }
            return register >> shift ^ xorOut
        }
    }

    private static func reversed(_ value: UInt32, _ width: Int) -> UInt32 {
        (0..<width).reduce(0) { $0 << 1 | (value >> UInt32($1) & 1) }
    }
}
