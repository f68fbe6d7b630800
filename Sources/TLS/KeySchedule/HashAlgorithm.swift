import Crypto
import FoundationEssentials

/// The hash functions of key schedules and MACs.
enum HashAlgorithm: Hashable, Sendable {
    case md5, sha1, sha256, sha384

    /// Bytes of its output.
    var length: Int {
        switch self {
        case .md5: 16
        case .sha1: 20
        case .sha256: 32
        case .sha384: 48
        }
    }

    /// HMAC (RFC 2104) of the parts, joined.
    func hmac(key: SymmetricKey, _ parts: ArraySlice<UInt8>...) -> [UInt8] {
        switch self {
        case .md5: HashAlgorithm.code(HMAC<Insecure.MD5>(key: key), parts)
        case .sha1: HashAlgorithm.code(HMAC<Insecure.SHA1>(key: key), parts)
        case .sha256: HashAlgorithm.code(HMAC<SHA256>(key: key), parts)
        case .sha384: HashAlgorithm.code(HMAC<SHA384>(key: key), parts)
        }
    }

    private static func code<H: HashFunction>(_ empty: HMAC<H>, _ parts: [ArraySlice<UInt8>]) -> [UInt8] {
        var hmac = empty
        for part in parts { hmac.update(data: part) }
        return Array(hmac.finalize())
    }
}
