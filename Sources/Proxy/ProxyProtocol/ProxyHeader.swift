import Streams

/// The contents of a PROXY protocol header (haproxy.org/download/2.9/doc/proxy-protocol.txt).
struct ProxyHeader: Hashable, Sendable {
    /// Whose connection it is.
    enum Origin: Hashable, Sendable {
        /// The sender's own, or one without IP addresses: the connection's own addresses apply (LOCAL, UNKNOWN, AF_UNIX).
        case connection
        /// A proxied client's.
        case named(client: Endpoint, server: Endpoint)
    }

    var origin: Origin

    /// The maximum length of a header: version 2 has 16 bytes, and up to 65,535 that they announce.
    static let limit = 16 + 65_535

    /// Parses the header at the beginning of the bytes.
    ///
    /// - Returns: the header and its length in bytes; nil if more bytes are needed.
    static func read(_ bytes: RawSpan) throws(ProxyHeaderFault) -> (header: ProxyHeader, byteCount: Int)? {
        guard bytes.byteCount > 0 else { return nil }
        return switch bytes[byte: 0] {
        case ProxyHeaderV1.signature[0]: try ProxyHeaderV1.read(bytes)
        case ProxyHeaderV2.signature[0]: try ProxyHeaderV2.read(bytes)
        default: throw ProxyHeaderFault("no PROXY protocol header, but \(hex(bytes, 0..<min(12, bytes.byteCount)))")
        }
    }

    /// The header as bytes.
    func bytes(_ version: ProxyProtocolUse.Version) -> [UInt8] {
        switch version {
        case .v1: ProxyHeaderV1.bytes(of: origin)
        case .v2: ProxyHeaderV2.bytes(of: origin)
        }
    }

    /// Whether the bytes begin with a signature, as far as either goes.
    static func begins(_ bytes: RawSpan, with signature: [UInt8]) -> Bool {
        (0..<min(bytes.byteCount, signature.count)).allSatisfy { bytes[byte: $0] == signature[$0] }
    }

    /// Bytes in readable form.
    static func hex(_ bytes: RawSpan, _ range: Range<Int>) -> String {
        range.map { index in
            let text = String(bytes[byte: index], radix: 16)
            return text.count == 1 ? "0" + text : text
        }.joined(separator: " ")
    }
}

/// Why bytes are not a PROXY protocol header.
struct ProxyHeaderFault: Error, CustomStringConvertible, Hashable {
    var description: String

    init(_ description: String) {
        self.description = description
    }
}

extension Endpoint {
    /// Both with addresses of one family: if they differ, an IPv4 address becomes `::ffff:a.b.c.d`.
    static func sameFamily(_ first: Endpoint, _ second: Endpoint) -> (Endpoint, Endpoint) {
        first.address.isIPv4 == second.address.isIPv4 ? (first, second) : (first.mapped, second.mapped)
    }

    private var mapped: Endpoint {
        address.isIPv4 ? Endpoint(IPAddress(v6: 0, 0xffff_0000_0000 | address.low), port) : self
    }
}
