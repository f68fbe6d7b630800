import Streams
import SwiftASN1
import X509

/// A server's name in a certificate: a DNS name or an address.
package enum CertificateName: Hashable, Sendable, CustomStringConvertible {
    /// A DNS name in lower case without a dot at its end. One that was copied may begin with `*.`.
    case dns(String)
    /// An IPv4 or IPv6 address.
    case address(IPAddress)

    /// The name that a client asks for: what it sends as SNI, or the host it connects to.
    ///
    /// The text comes from the network: it may be anything. An IPv6 address may be in brackets and have a zone, which means something only
    /// to the client.
    package init(requested text: String) throws(LeafError) {
        var literal = text[...]
        if literal.first == "[", literal.last == "]" { literal = literal.dropFirst().dropLast() }
        if literal.contains(":"), let zone = literal.firstIndex(of: "%") { literal = literal[..<zone] }
        if let address = IPAddress(literal: DNSName.normalized(String(literal))) {
            self = .address(address)
            return
        }
        if let flaw = DNSName.flaw(of: text) { throw LeafError.name(text, flaw) }
        self = .dns(DNSName.normalized(text))
    }

    /// A name of a server's certificate; nil if it is of another kind, or one that clients would not match with any server.
    init?(copied name: GeneralName) {
        switch name {
        case .dnsName(let text):
            let host = text.hasPrefix("*.") ? String(text.dropFirst(2)) : text
            guard DNSName.flaw(of: host) == nil, text.utf8.count <= DNSName.longest else { return nil }
            // *.com: clients ignore a wildcard for a whole top-level domain.
            guard host == text || DNSName.normalized(host).contains(".") else { return nil }
            self = .dns(DNSName.normalized(text))
        case .ipAddress(let bytes):
            guard let address = IPAddress(networkOrder: bytes.bytes) else { return nil }
            self = .address(address)
        default:
            return nil
        }
    }

    /// The name as certificates encode it.
    var generalName: GeneralName {
        switch self {
        case .dns(let name): .dnsName(name)
        case .address(let address): .ipAddress(ASN1OctetString(contentBytes: address.networkOrder[...]))
        }
    }

    /// The name as people write it.
    package var description: String {
        switch self {
        case .dns(let name): name
        case .address(let address): "\(address)"
        }
    }
}
