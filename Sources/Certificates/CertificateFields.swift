import SwiftASN1
import X509

/// The fields of a certificate that people read.
///
/// X509's own reader rejects certificates whose keys it does not know; the names of such a server are readable all the same.
struct CertificateFields {
    var issuer = DistinguishedName()
    var subject = DistinguishedName()
    var notBefore = CertificateTime(seconds: 0)
    var notAfter = CertificateTime(seconds: 0)
    /// The names of the extension for alternative names: none if it cannot be read.
    var names: [GeneralName] = []

    /// Reads `Certificate` of RFC 5280 section 4.1.
    init(der: [UInt8]) throws {
        self = try DER.sequence(DER.parse(der), identifier: .sequence) { nodes in
            guard let certificate = nodes.next() else { throw Unreadable() }
            // The signature's algorithm and the signature.
            while nodes.next() != nil {}
            return try CertificateFields(content: certificate)
        }
    }

    /// Reads `TBSCertificate`.
    private init(content: ASN1Node) throws {
        var fields = CertificateFields()
        try DER.sequence(content, identifier: .sequence) { nodes in
            _ = try DER.optionalExplicitlyTagged(&nodes, tagNumber: 0, tagClass: .contextSpecific) { $0 }
            // The serial number and the algorithm.
            _ = (nodes.next(), nodes.next())
            guard let issuer = nodes.next(), let validity = nodes.next(), let subject = nodes.next() else {
                throw Unreadable()
            }
            fields.issuer = try DistinguishedName(derEncoded: issuer)
            (fields.notBefore, fields.notAfter) = try DER.sequence(validity, identifier: .sequence) { times in
                (try CertificateTime(&times), try CertificateTime(&times))
            }
            fields.subject = try DistinguishedName(derEncoded: subject)
            // The key, unique identifiers of issuer and subject, which are rare, and the extensions.
            while let node = nodes.next() {
                guard node.identifier == ASN1Identifier(tagWithNumber: 3, tagClass: .contextSpecific) else { continue }
                fields.names = (try? Self.names(node)) ?? []
            }
        }
        self = fields
    }

    private init() {}

    /// A field is missing.
    fileprivate struct Unreadable: Error {}

    private static func names(_ node: ASN1Node) throws -> [GeneralName] {
        try DER.explicitlyTagged(node, tagNumber: 3, tagClass: .contextSpecific) { list in
            try DER.sequence(of: Certificate.Extension.self, identifier: .sequence, rootNode: list)
        }
        .filter { $0.oid == .X509ExtensionID.subjectAlternativeName }
        .flatMap { Array(try SubjectAlternativeNames($0)) }
    }

    /// The subject's last common name, which is the most specific one.
    var commonName: String? {
        let attributes = subject.flatMap { Array($0) }
        let last = attributes.last { $0.type == .RDNAttributeType.commonName }
        return last.flatMap { String($0.value) }
    }
}

extension CertificateTime {
    /// Reads `Time` of RFC 5280 section 4.1.
    fileprivate init(_ nodes: inout ASN1NodeCollection.Iterator) throws {
        guard let node = nodes.next() else { throw CertificateFields.Unreadable() }
        if node.identifier == .utcTime {
            let time = try UTCTime(derEncoded: node)
            self.init((time.year, time.month, time.day), (time.hours, time.minutes, time.seconds))
        } else {
            let time = try GeneralizedTime(derEncoded: node)
            self.init((time.year, time.month, time.day), (time.hours, time.minutes, time.seconds))
        }
    }

    private init(_ date: (year: Int, month: Int, day: Int), _ clock: (hours: Int, minutes: Int, seconds: Int)) {
        let day = Calendar.day(of: (Int64(date.year), Int64(date.month), Int64(date.day)))
        self.init(seconds: day * 86_400 + Int64(clock.hours * 3_600 + clock.minutes * 60 + clock.seconds))
    }
}
