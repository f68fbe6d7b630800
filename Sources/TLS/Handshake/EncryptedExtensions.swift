/// What EncryptedExtensions says (RFC 8446 section 4.3.1).
struct EncryptedExtensions {
    /// The protocol chosen in ALPN.
    let applicationProtocol: String?
    /// Whether the client's early data is accepted (RFC 8446 section 4.2.10).
    let acceptsEarlyData: Bool

    /// Reads the body of the message; nil if it is malformed.
    init?(_ body: ArraySlice<UInt8>) {
        var reader = ByteReader(body)
        guard let extensions = HelloExtension.list(&reader) else { return nil }
        applicationProtocol = extensions.first { $0.type == HelloExtension.alpn }
            .flatMap { HelloExtension.protocolNames($0.body)?.first }
            .map { String(decoding: $0, as: UTF8.self) }
        acceptsEarlyData = extensions.contains { $0.type == HelloExtension.earlyData }
    }
}
