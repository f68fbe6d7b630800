import Streams

/// A cipher suite by its number in the IANA registry "TLS Cipher Suites".
package struct CipherSuite: RawRepresentable, Hashable, Sendable {
    /// The number, as on the wire.
    package let rawValue: UInt16

    /// A suite by its number.
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The IANA name, or `0x1234` if it has none here.
    package var name: String {
        CipherSuite.decryptableNames[rawValue] ?? CipherSuite.otherNames[rawValue]
            ?? "0x" + Hexadecimal.text([UInt8(rawValue >> 8), UInt8(rawValue & 255)])
    }

    /// Whether records of this suite can be decrypted, given their keys.
    package var isDecryptable: Bool { CipherSuite.decryptableNames[rawValue] != nil }

    /// Whether it is a suite of TLS 1.3 (RFC 8446 appendix B.4).
    var isTLS13: Bool { rawValue >> 8 == 0x13 }

    /// How its records are protected; nil if they are not decrypted here.
    ///
    /// The names say it all: `TLS_…_WITH_` cipher, mode, and the hash of the PRF or, for CBC, of the MAC.
    var protection: SuiteProtection? {
        guard let name = CipherSuite.decryptableNames[rawValue] else { return nil }
        let keyLength = name.contains("_AES_128_") ? 16 : 32
        let hash: HashAlgorithm = name.hasSuffix("_SHA384") ? .sha384 : .sha256
        if name.contains("_CHACHA20_") { return SuiteProtection(cipher: .chaCha20Poly1305, keyLength, hash) }
        if name.contains("_GCM_") { return SuiteProtection(cipher: .aesGCM, keyLength, hash) }
        if name.contains("_CCM_8") { return SuiteProtection(cipher: .aesCCM(tagLength: 8), keyLength, hash) }
        if name.contains("_CCM") { return SuiteProtection(cipher: .aesCCM(tagLength: 16), keyLength, hash) }
        let mac: HashAlgorithm = name.hasSuffix("_SHA") ? .sha1 : hash
        return SuiteProtection(cipher: .aesCBC(mac: mac), keyLength, hash)
    }
}

extension CipherSuite: CustomStringConvertible {
    /// The name.
    package var description: String { name }
}

/// How a suite protects records.
struct SuiteProtection: Hashable, Sendable {
    enum Cipher: Hashable, Sendable {
        case aesGCM
        case aesCCM(tagLength: Int)
        case chaCha20Poly1305
        case aesCBC(mac: HashAlgorithm)
    }

    let cipher: Cipher
    /// Bytes of the cipher's key.
    let keyLength: Int
    /// The hash of the PRF in TLS 1.2, and of HKDF in TLS 1.3.
    let hash: HashAlgorithm

    init(cipher: Cipher, _ keyLength: Int, _ hash: HashAlgorithm) {
        (self.cipher, self.keyLength, self.hash) = (cipher, keyLength, hash)
    }
}
