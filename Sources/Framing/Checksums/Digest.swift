import Crypto
import Streams

/// A cryptographic hash that a field may hold, or the first bytes of it: by itself, or as an HMAC (RFC 2104).
enum Digest: String, Sendable, CaseIterable {
    case md5
    case sha1 = "sha-1"
    case sha256 = "sha-256"
    case sha512 = "sha-512"

    /// How many bytes it has.
    var byteCount: Int {
        switch self {
        case .md5: 16
        case .sha1: 20
        case .sha256: 32
        case .sha512: 64
        }
    }

    /// The hash of bytes; with a key, their HMAC.
    func value(of bytes: RawSpan, key: [UInt8]?) -> [UInt8] {
        switch self {
        case .md5: Self.value(Insecure.MD5.self, bytes, key)
        case .sha1: Self.value(Insecure.SHA1.self, bytes, key)
        case .sha256: Self.value(SHA256.self, bytes, key)
        case .sha512: Self.value(SHA512.self, bytes, key)
        }
    }

    private static func value<Hash: HashFunction>(_: Hash.Type, _ bytes: RawSpan, _ key: [UInt8]?) -> [UInt8] {
        bytes.withUnsafeBytes { bytes in
            guard let key else {
                var hash = Hash()
                hash.update(bufferPointer: bytes)
                return Array(hash.finalize())
            }
            return Array(HMAC<Hash>.authenticationCode(for: bytes, using: SymmetricKey(data: key)))
        }
    }
}
