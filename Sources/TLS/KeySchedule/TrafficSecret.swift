import Crypto

/// A traffic secret of TLS 1.3, and what is derived from it (RFC 8446 section 7).
struct TrafficSecret: Equatable, Sendable {
    let bytes: [UInt8]
    let hash: HashAlgorithm

    /// A record's key and IV (RFC 8446 section 7.3).
    func keys(keyLength: Int) -> (key: [UInt8], iv: [UInt8]) {
        (expand("key", keyLength), expand("iv", 12))
    }

    /// The secret after a KeyUpdate (RFC 8446 section 7.2).
    var next: TrafficSecret {
        TrafficSecret(bytes: expand("traffic upd", hash.length), hash: hash)
    }

    /// `HKDF-Expand-Label(secret, label, "", length)` (RFC 8446 section 7.1).
    func expand(_ label: String, _ length: Int) -> [UInt8] {
        let label = Array("tls13 ".utf8) + Array(label.utf8)
        let info = [UInt8(length >> 8), UInt8(length & 255), UInt8(label.count)] + label + [0]
        let key =
            hash == .sha384
            ? HKDF<SHA384>.expand(pseudoRandomKey: bytes, info: info, outputByteCount: length)
            : HKDF<SHA256>.expand(pseudoRandomKey: bytes, info: info, outputByteCount: length)
        return key.withUnsafeBytes { Array($0) }
    }
}
