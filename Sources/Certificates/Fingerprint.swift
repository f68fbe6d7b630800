import Crypto

/// The SHA-256 hash of a certificate: how people and programs recognize it.
package struct Fingerprint: Hashable, Sendable, CustomStringConvertible {
    /// The 32 bytes of the hash.
    package let bytes: [UInt8]

    /// The fingerprint of a certificate in DER.
    package init(of certificate: [UInt8]) {
        bytes = Array(SHA256.hash(data: certificate))
    }

    /// Pairs of hexadecimal digits, as browsers and OpenSSL show them: `3F:A2:…`.
    package var description: String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: ":")
    }
}
