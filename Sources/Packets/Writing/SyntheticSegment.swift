import Streams

/// An IP packet with a TCP segment, as a host would have sent it.
///
/// Source: RFC 791 section 3.1, RFC 8200 section 3, RFC 9293 section 3.1.
struct SyntheticSegment: Sendable {
    var source: Endpoint
    var destination: Endpoint
    var sequence: UInt32
    var acknowledgment: UInt32
    var flags: Flags
    /// The IPv4 identification field.
    var identification: UInt16
    /// The receive window, not scaled.
    var window: UInt16 = .max
    /// TCP options, a multiple of 4 bytes.
    var options: [UInt8] = []

    /// The control bits of the TCP header.
    struct Flags: OptionSet, Sendable {
        let rawValue: UInt8
        static let fin = Flags(rawValue: 0x01)
        static let syn = Flags(rawValue: 0x02)
        static let rst = Flags(rawValue: 0x04)
        static let psh = Flags(rawValue: 0x08)
        static let ack = Flags(rawValue: 0x10)
    }

    /// Replaces the content of `buffer` with the packet. Both addresses must be of one family.
    func write(_ payload: RawSpan, into buffer: inout [UInt8]) {
        buffer.removeAll(keepingCapacity: true)
        let headerLength = 20 + options.count
        var pseudoHeader = InternetSum()
        pseudoHeader.add(source.address)
        pseudoHeader.add(destination.address)
        pseudoHeader.add(6)
        pseudoHeader.add(UInt32(headerLength + payload.byteCount))
        if source.address.isIPv4 {
            writeIPv4Header(length: 20 + headerLength + payload.byteCount, into: &buffer)
        } else {
            writeIPv6Header(payloadLength: headerLength + payload.byteCount, into: &buffer)
        }
        let start = buffer.count
        buffer.append(network: source.port)
        buffer.append(network: destination.port)
        buffer.append(network: sequence)
        buffer.append(network: acknowledgment)
        buffer.append(UInt8(headerLength / 4) << 4)
        buffer.append(flags.rawValue)
        buffer.append(network: window)
        buffer.append(network: UInt16(0))  // checksum
        buffer.append(network: UInt16(0))  // urgent pointer
        buffer += options
        buffer.append(contentsOf: payload)
        pseudoHeader.add(buffer.span.bytes.extracting(start..<buffer.count))
        buffer.set(pseudoHeader.checksum, at: start + 16)
    }

    private func writeIPv4Header(length: Int, into buffer: inout [UInt8]) {
        buffer.append(0x45)  // version 4, 20 bytes of header
        buffer.append(0)
        buffer.append(network: UInt16(length))
        buffer.append(network: identification)
        buffer.append(network: UInt16(0x4000))  // don't fragment
        buffer.append(64)  // time to live
        buffer.append(6)  // TCP
        buffer.append(network: UInt16(0))  // checksum
        buffer.append(source.address)
        buffer.append(destination.address)
        var sum = InternetSum()
        sum.add(buffer.span.bytes)
        buffer.set(sum.checksum, at: 10)
    }

    private func writeIPv6Header(payloadLength: Int, into buffer: inout [UInt8]) {
        buffer.append(network: UInt32(0x6000_0000))  // version 6, no traffic class, no flow label
        buffer.append(network: UInt16(payloadLength))
        buffer.append(6)  // TCP
        buffer.append(64)  // hop limit
        buffer.append(source.address)
        buffer.append(destination.address)
    }
}

extension [UInt8] {
    /// Appends a number in network byte order.
    fileprivate mutating func append<Number: FixedWidthInteger & UnsignedInteger>(network number: Number) {
        for shift in stride(from: Number.bitWidth - 8, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: number >> Number(shift)))
        }
    }

    /// Appends the 4 or 16 bytes of an address.
    fileprivate mutating func append(_ address: IPAddress) {
        if address.isIPv4 {
            append(network: UInt32(truncatingIfNeeded: address.low))
        } else {
            append(network: address.high)
            append(network: address.low)
        }
    }

    /// Puts 16 bits at an offset, in network byte order.
    fileprivate mutating func set(_ number: UInt16, at offset: Int) {
        self[offset] = UInt8(number >> 8)
        self[offset + 1] = UInt8(truncatingIfNeeded: number)
    }
}

extension InternetSum {
    /// Adds an address; the upper 96 bits of an IPv4 address are zero.
    fileprivate mutating func add(_ address: IPAddress) {
        add(UInt32(address.high >> 32))
        add(UInt32(truncatingIfNeeded: address.high))
        add(UInt32(address.low >> 32))
        add(UInt32(truncatingIfNeeded: address.low))
    }
}
