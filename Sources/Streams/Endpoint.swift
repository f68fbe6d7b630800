/// An IPv4 or IPv6 address.
public struct IPAddress: Hashable, Sendable {
    /// The 128 bits of an IPv6 address, most significant half first; an IPv4 address lies in the last 32.
    public let high: UInt64
    /// The lower half.
    public let low: UInt64
    /// Whether it is an IPv4 address. `::ffff:1.2.3.4` is IPv6.
    public let isIPv4: Bool

    /// An IPv4 address from its 32 bits in host order: `0x7f000001` is 127.0.0.1.
    @inlinable
    public init(v4 bits: UInt32) {
        (high, low, isIPv4) = (0, UInt64(bits), true)
    }

    /// An IPv6 address from its two halves in host order.
    @inlinable
    public init(v6 high: UInt64, _ low: UInt64) {
        (self.high, self.low, isIPv4) = (high, low, false)
    }

    /// 127.0.0.0/8 and ::1.
    public var isLoopback: Bool { isIPv4 ? low >> 24 == 127 : high == 0 && low == 1 }
}

extension IPAddress: CustomStringConvertible {
    /// Dotted decimal, or the canonical text of RFC 5952 section 4 (without brackets).
    public var description: String {
        if isIPv4 {
            return "\(low >> 24 & 255).\(low >> 16 & 255).\(low >> 8 & 255).\(low & 255)"
        }
        if high == 0, low >> 32 == 0xffff {  // RFC 5952 section 5: IPv4-mapped
            return "::ffff:" + IPAddress(v4: UInt32(truncatingIfNeeded: low)).description
        }
        let groups: [UInt64] = [high, low].flatMap { half -> [UInt64] in
            [half >> 48, half >> 32 & 0xffff, half >> 16 & 0xffff, half & 0xffff]
        }
        let zeros = longestZeroRun(groups)
        func text(_ part: ArraySlice<UInt64>) -> String {
            part.map { String($0, radix: 16) }.joined(separator: ":")
        }
        guard zeros.count > 1 else { return text(groups[...]) }
        return text(groups[..<zeros.lowerBound]) + "::" + text(groups[zeros.upperBound...])
    }

    /// The first of the longest runs of zero groups: which `::` replaces (RFC 5952 section 4.2.3).
    private func longestZeroRun(_ groups: [UInt64]) -> Range<Int> {
        var longest = 0..<0
        var start = 0
        for index in 0...8 where index == 8 || groups[index] != 0 {
            if index - start > longest.count { longest = start..<index }
            start = index + 1
        }
        return longest
    }
}

/// One end of a connection: an address and a port.
public struct Endpoint: Hashable, Sendable {
    /// The address.
    public let address: IPAddress
    /// The port.
    public let port: UInt16

    /// An address and a port.
    @inlinable
    public init(_ address: IPAddress, _ port: UInt16) {
        self.address = address
        self.port = port
    }
}

extension Endpoint: CustomStringConvertible {
    /// `127.0.0.1:80` or `[::1]:80` (RFC 5952 section 6).
    public var description: String {
        address.isIPv4 ? "\(address):\(port)" : "[\(address)]:\(port)"
    }
}

extension IPAddress {
    /// `::ffff:a.b.c.d` as the IPv4 address that it represents (RFC 4291 section 2.5.5.2).
    @usableFromInline
    package var unmapped: IPAddress {
        guard !isIPv4, high == 0, low >> 32 == 0xffff else { return self }
        return IPAddress(v4: UInt32(truncatingIfNeeded: low))
    }
}

extension Endpoint {
    /// With the IPv4 address that an IPv4-mapped one represents.
    package var unmapped: Endpoint { Endpoint(address.unmapped, port) }
}
