import Crypto

/// The pseudorandom function of TLS 1.2 and earlier.
enum PRF {
    /// `PRF(secret, label, seed)` (RFC 5246 section 5).
    static func expand(
        _ secret: [UInt8], label: String, seed: [UInt8], count: Int, hash: HashAlgorithm
    ) -> [UInt8] {
        iterate(secret[...], Array(label.utf8) + seed, count, hash)
    }

    /// The PRF of TLS 1.0 and 1.1: MD5 with the first half of the secret, XOR SHA-1 with the second (RFC 2246 section 5).
    static func expand10(_ secret: [UInt8], label: String, seed: [UInt8], count: Int) -> [UInt8] {
        let half = (secret.count + 1) / 2
        let seed = Array(label.utf8) + seed
        let first = iterate(secret.prefix(half), seed, count, .md5)
        let second = iterate(secret.suffix(half), seed, count, .sha1)
        return zip(first, second).map { $0 ^ $1 }
    }

    /// `P_hash(secret, seed)`.
    private static func iterate(
        _ secret: ArraySlice<UInt8>, _ seed: [UInt8], _ count: Int, _ hash: HashAlgorithm
    ) -> [UInt8] {
        let key = SymmetricKey(data: secret)
        var output: [UInt8] = []
        var a = hash.hmac(key: key, seed[...])
        while output.count < count {
            output += hash.hmac(key: key, a[...], seed[...])
            a = hash.hmac(key: key, a[...])
        }
        return Array(output.prefix(count))
    }
}
