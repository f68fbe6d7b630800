/// A record's content type (RFC 8446 section 5.1).
package enum ContentType: UInt8, Sendable, Hashable {
    /// `change_cipher_spec`.
    case changeCipherSpec = 20
    /// `alert`.
    case alert = 21
    /// `handshake`.
    case handshake = 22
    /// `application_data`; in TLS 1.3 every encrypted record.
    case applicationData = 23
}
