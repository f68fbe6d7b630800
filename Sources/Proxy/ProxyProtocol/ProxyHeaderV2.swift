import Streams

/// Version 2 of the PROXY protocol's header, section 2.2: binary.
///
///      0              12        13         14       16                       16 + length
///     +--------------+---------+----------+--------+-----------------------+
///     | signature    | version | family   | length | addresses, then TLVs  |
///     |              | command | protocol | (BE)   |                       |
///     +--------------+---------+----------+--------+-----------------------+
enum ProxyHeaderV2 {
    static let signature: [UInt8] = [0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a]

    private static let fixed = 16

    static func read(_ bytes: RawSpan) throws(ProxyHeaderFault) -> (header: ProxyHeader, byteCount: Int)? {
        guard ProxyHeader.begins(bytes, with: signature) else {
            let shown = ProxyHeader.hex(bytes, 0..<min(12, bytes.byteCount))
            throw ProxyHeaderFault("no PROXY protocol header, but \(shown)")
        }
        // Errors are reported as soon as they can be seen.
        if bytes.byteCount > 12 {
            let (version, command) = (bytes[byte: 12] >> 4, bytes[byte: 12] & 15)
            guard version == 2 else { throw ProxyHeaderFault("a PROXY header of version \(version), expected 2") }
            guard command < 2 else { throw ProxyHeaderFault("a PROXY header with the command \(command)") }
        }
        if bytes.byteCount > 13 {
            let (family, transport) = (bytes[byte: 13] >> 4, bytes[byte: 13] & 15)
            guard family < 4, transport < 3 else {
                throw ProxyHeaderFault("a PROXY header with the family \(family) and the protocol \(transport)")
            }
        }
        guard bytes.byteCount >= fixed else { return nil }
        let length = Int(bytes[byte: 14]) << 8 | Int(bytes[byte: 15])
        let isNamed = bytes[byte: 12] & 15 == 1
        let kind = isNamed ? bytes[byte: 13] : 0
        let addressLength = kind == 0x11 ? 4 : kind == 0x21 ? 16 : 0
        let needed = kind == 0x31 ? 216 : addressLength == 0 ? 0 : 2 * addressLength + 4
        guard length >= needed else {
            throw ProxyHeaderFault("a PROXY header with \(length) bytes of addresses, expected \(needed)")
        }
        guard bytes.byteCount >= fixed + length else { return nil }
        guard addressLength > 0 else { return (ProxyHeader(origin: .connection), fixed + length) }
        func endpoint(_ index: Int) -> Endpoint {
            let port = fixed + 2 * addressLength + 2 * index
            return Endpoint(
                address(bytes, at: fixed + index * addressLength, length: addressLength),
                UInt16(bytes[byte: port]) << 8 | UInt16(bytes[byte: port + 1]))
        }
        return (ProxyHeader(origin: .named(client: endpoint(0), server: endpoint(1))), fixed + length)
    }

    private static func address(_ bytes: RawSpan, at offset: Int, length: Int) -> IPAddress {
        func number(_ range: Range<Int>) -> UInt64 {
            range.reduce(0) { $0 << 8 | UInt64(bytes[byte: offset + $1]) }
        }
        if length == 4 { return IPAddress(v4: UInt32(truncatingIfNeeded: number(0..<4))) }
        return IPAddress(v6: number(0..<8), number(8..<16))
    }

    static func bytes(of origin: ProxyHeader.Origin) -> [UInt8] {
        guard case .named(let client, let server) = origin else { return signature + [0x20, 0x00, 0, 0] }
        let (source, destination) = Endpoint.sameFamily(client, server)
        let addresses = source.address.bytes + destination.address.bytes
        let ports = [source.port, destination.port].flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        let family: UInt8 = source.address.isIPv4 ? 0x11 : 0x21
        return signature + [0x21, family, 0, UInt8(addresses.count + 4)] + addresses + ports
    }
}

extension IPAddress {
    /// The address in network byte order: 4 or 16 bytes.
    var bytes: [UInt8] {
        func bytes(of number: UInt64, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * (count - 1 - $0))) }
        }
        return isIPv4 ? bytes(of: low, 4) : bytes(of: high, 8) + bytes(of: low, 8)
    }
}
