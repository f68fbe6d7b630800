import Streams

/// Version 1 of the PROXY protocol's header, section 2.1: a line of text.
///
///     PROXY TCP4 192.168.0.1 192.168.0.11 56324 443␍␊
enum ProxyHeaderV1 {
    static let signature = Array("PROXY ".utf8)

    /// The maximum length of the line, including its end.
    static let limit = 107

    static func read(_ bytes: RawSpan) throws(ProxyHeaderFault) -> (header: ProxyHeader, byteCount: Int)? {
        let shown = min(bytes.byteCount, limit)
        guard ProxyHeader.begins(bytes, with: signature) else {
            throw ProxyHeaderFault("no PROXY protocol header, but \(ProxyHeader.hex(bytes, 0..<min(12, shown)))")
        }
        var end: Int?
        for index in 1..<max(1, shown) where bytes[byte: index] == 0x0a {
            end = index
            break
        }
        guard let end else {
            if bytes.byteCount < limit { return nil }
            throw ProxyHeaderFault("a PROXY line that does not end within \(limit) bytes")
        }
        guard bytes[byte: end - 1] == 0x0d else { throw ProxyHeaderFault("a PROXY line that ends in LF without CR") }
        let text = String(decoding: (0..<end - 1).map { bytes[byte: $0] }, as: UTF8.self)
        return (ProxyHeader(origin: try origin(text)), end + 1)
    }

    private static func origin(_ line: String) throws(ProxyHeaderFault) -> ProxyHeader.Origin {
        let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard words.count > 1 else { throw ProxyHeaderFault("a PROXY line without a protocol") }
        // Anything after UNKNOWN must be ignored.
        if words[1] == "UNKNOWN" { return .connection }
        guard words[1] == "TCP4" || words[1] == "TCP6" else {
            throw ProxyHeaderFault("a PROXY line with the protocol \(words[1].debugDescription)")
        }
        guard words.count == 6 else { throw ProxyHeaderFault("a PROXY line of \(words.count) words, expected 6") }
        let isIPv4 = words[1] == "TCP4"
        return .named(
            client: Endpoint(try address(words[2], isIPv4: isIPv4), try port(words[4])),
            server: Endpoint(try address(words[3], isIPv4: isIPv4), try port(words[5])))
    }

    private static func address(_ text: String, isIPv4: Bool) throws(ProxyHeaderFault) -> IPAddress {
        guard let address = IPAddress(text: text), address.isIPv4 == isIPv4 else {
            throw ProxyHeaderFault("a PROXY line with the address \(text.debugDescription)")
        }
        return address
    }

    private static func port(_ text: String) throws(ProxyHeaderFault) -> UInt16 {
        // No signs, and no leading zeros.
        guard let port = UInt16(text), String(port) == text else {
            throw ProxyHeaderFault("a PROXY line with the port \(text.debugDescription)")
        }
        return port
    }

    static func bytes(of origin: ProxyHeader.Origin) -> [UInt8] {
        guard case .named(let client, let server) = origin else { return Array("PROXY UNKNOWN\r\n".utf8) }
        let (source, destination) = Endpoint.sameFamily(client, server)
        let family = source.address.isIPv4 ? "TCP4" : "TCP6"
        let line =
            "PROXY \(family) \(source.address) \(destination.address) \(source.port) \(destination.port)\r\n"
        return Array(line.utf8)
    }
}
