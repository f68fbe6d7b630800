/// The certificates of a Certificate message.
enum CertificateMessage {
    /// The DER encodings, the sender's own first; nil if the message is malformed.
    ///
    /// - Parameter version: TLS 1.3 adds a context before the list, and extensions after each certificate (RFC 8446
    ///   section 4.4.2; before: RFC 5246 section 7.4.2).
    static func certificates(_ body: ArraySlice<UInt8>, _ version: ProtocolVersion) -> [[UInt8]]? {
        var reader = ByteReader(body)
        if version == .tls13, reader.vector(1) == nil { return nil }
        guard let list = reader.vector(3), reader.isAtEnd else { return nil }
        var entries = ByteReader(list)
        var certificates: [[UInt8]] = []
        while !entries.isAtEnd {
            guard let certificate = entries.vector(3) else { return nil }
            if version == .tls13, entries.vector(2) == nil { return nil }
            certificates.append(Array(certificate))
        }
        return certificates
    }
}
