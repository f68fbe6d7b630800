import Platform
import Streams

extension IPAddress {
    /// Parses an address as people write it, without brackets or a zone; nil if the text is not one.
    init?(literal text: String) {
        // The C library would read only what comes before a zero byte.
        guard text.utf8.allSatisfy({ $0 != 0 }) else { return nil }
        var v4 = in_addr()
        var v6 = in6_addr()
        if inet_pton(AF_INET, text, &v4) == 1 {
            self.init(v4: UInt32(bigEndian: v4.s_addr))
        } else if inet_pton(AF_INET6, text, &v6) == 1 {
            self.init(networkOrder: withUnsafeBytes(of: v6) { Array($0) })
        } else {
            return nil
        }
    }

    /// An address from the 4 or 16 bytes that a certificate has for it; nil for any other number of bytes.
    init?(networkOrder bytes: some Collection<UInt8>) {
        func number(_ part: some Sequence<UInt8>) -> UInt64 { part.reduce(0) { $0 << 8 | UInt64($1) } }
        switch bytes.count {
        case 4: self.init(v4: UInt32(truncatingIfNeeded: number(bytes)))
        case 16: self.init(v6: number(bytes.prefix(8)), number(bytes.dropFirst(8)))
        default: return nil
        }
    }

    /// Its bytes in a certificate.
    var networkOrder: [UInt8] {
        let parts = isIPv4 ? [(low, 4)] : [(high, 8), (low, 8)]
        return parts.flatMap { half, count in
            (0..<count).map { UInt8(truncatingIfNeeded: half >> (8 * UInt64(count - 1 - $0))) }
        }
    }
}
