import Streams

/// The control bits of a TCP header.
///
/// Source: RFC 9293 section 3.1.
package struct TCPFlags: OptionSet, Hashable, Sendable {
    /// The header's byte 13.
    package var rawValue: UInt8

    /// Control bits from the header's byte 13.
    @inlinable
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// No more data from the sender.
    package static let fin = TCPFlags(rawValue: 0x01)
    /// Synchronize sequence numbers.
    package static let syn = TCPFlags(rawValue: 0x02)
    /// Reset the connection.
    package static let rst = TCPFlags(rawValue: 0x04)
    /// The acknowledgment number counts.
    package static let ack = TCPFlags(rawValue: 0x10)
}

/// A TCP segment without its payload.
///
///      0       2       4               8               12      14      16      18      20
///     +-------+-------+-------+-------+-------+-------+---+---+-------+-------+-------+
///     | source| dest. | sequence      | acknowledgment|off|flg| window| check | urgent|
///     +-------+-------+-------+-------+-------+-------+---+---+-------+-------+-------+
///
/// Source: RFC 9293 section 3.1.
package struct TCPSegment: Hashable, Sendable {
    /// Its source.
    package var source: Endpoint
    /// Its destination.
    package var destination: Endpoint
    /// The sequence number of the first byte of payload, or of the SYN.
    package var sequence: UInt32
    /// The next sequence number that the sender expects, if the ACK flag is set.
    package var acknowledgment: UInt32
    /// Control bits.
    package var flags: TCPFlags
    /// The sender's receive window, not scaled.
    package var window: UInt16
    /// The shift count of a SYN's window scale option (RFC 7323 section 2.2), at most 14; 0 if there is none.
    package var windowScale: UInt8
    /// How many bytes of payload the segment had on the wire; the capture may hold fewer.
    package var payloadLength: Int
    /// The identification of its IPv4 packet (RFC 791 section 3.1); 0 if there is none.
    package var identification: UInt16 = 0
    /// TSval of the timestamps option (RFC 7323 section 3.2), if the option is where appendix A recommends; otherwise 0.
    package var clock: UInt32 = 0
    /// Whether it is a SYN as the proxy writes it into its recordings.
    var isSynthetic = false

    /// A segment from its fields.
    package init(
        source: Endpoint, destination: Endpoint, sequence: UInt32, acknowledgment: UInt32 = 0, flags: TCPFlags,
        window: UInt16 = 0, windowScale: UInt8 = 0, payloadLength: Int
    ) {
        self.source = source
        self.destination = destination
        self.sequence = sequence
        self.acknowledgment = acknowledgment
        self.flags = flags
        self.window = window
        self.windowScale = windowScale
        self.payloadLength = payloadLength
    }

    /// Reads the header at the start of `bytes`.
    ///
    /// - Parameters:
    ///   - bytes: the captured part of header and payload.
    ///   - length: the length of header and payload according to the layer below; at least `bytes.byteCount`.
    /// - Returns: nil if the header is truncated or its length is invalid.
    @inline(__always)
    init?(_ bytes: RawSpan, length: Int, from source: IPAddress, to destination: IPAddress) {
        guard bytes.byteCount >= 20 else { return nil }
        let headerLength = Int(bytes[byte: 12] >> 4) &* 4
        guard headerLength >= 20, headerLength <= length else { return nil }
        self.source = Endpoint(source, bytes.u16(0))
        self.destination = Endpoint(destination, bytes.u16(2))
        sequence = bytes.u32(4)
        acknowledgment = bytes.u32(8)
        flags = TCPFlags(rawValue: bytes[byte: 13])
        window = bytes.u16(14)
        windowScale = 0
        payloadLength = length &- headerLength
        guard headerLength > 20 else { return }
        if flags.contains(.syn) {
            windowScale = TCPSegment.windowScale(bytes, headerLength)
            isSynthetic = headerLength == 28 && bytes.byteCount >= 28 && SyntheticConnection.isOptions(bytes.u64(20))
        } else if headerLength >= 32, bytes.byteCount >= 32, bytes.u32(20) == 0x0101_080a {
            clock = bytes.u32(24)
        }
    }

    /// Looks for the window scale option: kind 3, length 3, shift.
    private static func windowScale(_ bytes: RawSpan, _ headerLength: Int) -> UInt8 {
        let end = min(headerLength, bytes.byteCount)
        var at = 20
        while at < end {
            switch bytes[byte: at] {
            case 0: return 0
            case 1: at += 1
            case let kind:
                guard at + 1 < end, bytes[byte: at + 1] >= 2 else { return 0 }
                if kind == 3, at + 2 < end { return min(bytes[byte: at + 2], 14) }
                at += Int(bytes[byte: at + 1])
            }
        }
        return 0
    }
}

extension TCPSegment {
    /// Whether the checksum is right (RFC 9293 section 3.1); that of a truncated segment cannot be checked and counts as right.
    ///
    /// - Parameters:
    ///   - bytes: the captured part of header and payload.
    ///   - length: how long both are.
    func hasRightChecksum(_ bytes: RawSpan, length: Int) -> Bool {
        guard bytes.byteCount >= length else { return true }
        var sum = InternetSum()
        for address in [source.address, destination.address] {
            // All but the last 32 bits of an IPv4 address are zero.
            for half in [address.high, address.low] {
                sum.add(UInt32(truncatingIfNeeded: half >> 32))
                sum.add(UInt32(truncatingIfNeeded: half))
            }
        }
        sum.add(UInt32(IPProtocol.tcp))
        sum.add(UInt32(truncatingIfNeeded: length))
        sum.add(bytes.extracting(0..<length))
        return sum.checksum == 0
    }
}
