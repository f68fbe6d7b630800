import SwiftASN1
import X509

/// What a server's certificate is to say: the subject and the names. Requests that are equal may share a certificate.
package struct LeafRequest: Hashable, Sendable {
    /// The subject's common name; nil for a certificate without a subject.
    package let commonName: String?
    /// The names for which the certificate is valid: at least one.
    package let names: [CertificateName]

    /// The maximum number of names that are copied: servers of hosting providers have hundreds, and each costs every handshake.
    static let mostNames = 250
    /// The maximum length of a common name (RFC 5280 appendix A).
    static let longestCommonName = 64

    /// Asks for a certificate for some DNS names or addresses: what a client sent as SNI, or the host that it connects to.
    package init(names texts: [String]) throws(LeafError) {
        names = try Self.names(texts)
        guard !names.isEmpty else { throw LeafError.noNames }
        commonName = Self.commonName(of: names)
    }

    /// Asks for a certificate with the subject and the names of a server's own certificate, and with the names that its client uses.
    ///
    /// Copy only certificates that were verified, or that the user accepts: what this certificate says, the client believes.
    /// A certificate that cannot be read adds nothing, and its names that clients would not match are left out.
    package init(like server: [UInt8], names texts: [String]) throws(LeafError) {
        var names = try Self.names(texts)
        let fields = try? CertificateFields(der: server)
        var known = Set(names)
        for name in (fields?.names ?? []).lazy.compactMap(CertificateName.init(copied:))
        where names.count < Self.mostNames && known.insert(name).inserted {
            names.append(name)
        }
        guard !names.isEmpty else { throw LeafError.noNames }
        self.names = names
        commonName = fields.map { $0.commonName.flatMap(Self.acceptable) } ?? Self.commonName(of: names)
    }

    private static func names(_ texts: [String]) throws(LeafError) -> [CertificateName] {
        var names: [CertificateName] = []
        for text in texts {
            let name = try CertificateName(requested: text)
            if !names.contains(name) { names.append(name) }
        }
        return names
    }

    /// The common name of a certificate that is not a copy.
    private static func commonName(of names: [CertificateName]) -> String? {
        names.first.flatMap { acceptable($0.description) }
    }

    /// A common name that may be in a certificate; else nil.
    private static func acceptable(_ commonName: String) -> String? {
        let scalars = commonName.unicodeScalars
        let isPrintable = scalars.allSatisfy { $0.value >= 0x20 && !(0x7f...0x9f).contains($0.value) }
        return isPrintable && (1...longestCommonName).contains(scalars.count) ? commonName : nil
    }
}
