/// The keys of TLS 1.2 and earlier (RFC 5246 section 6.3), for one direction each.
struct KeyBlock: Equatable, Sendable {
    /// One direction's keys.
    struct Keys: Equatable, Sendable {
        /// The MAC's key; empty for AEAD.
        var mac: [UInt8]
        /// The cipher's key.
        var key: [UInt8]
        /// The fixed part of the nonce, or the first IV of TLS 1.0.
        var iv: [UInt8]
    }

    let client: Keys
    let server: Keys

    /// Expands a master secret.
    init(
        masterSecret: [UInt8], clientRandom: ClientRandom, serverRandom: [UInt8], _ suite: SuiteProtection,
        _ version: ProtocolVersion
    ) {
        let (mac, iv) = KeyBlock.lengths(suite, version)
        let seed = serverRandom + clientRandom.bytes
        let count = 2 * (mac + suite.keyLength + iv)
        let block =
            version < .tls12
            ? PRF.expand10(masterSecret, label: "key expansion", seed: seed, count: count)
            : PRF.expand(masterSecret, label: "key expansion", seed: seed, count: count, hash: suite.hash)
        var reader = ByteReader(block[...])
        func pair(_ length: Int) -> ([UInt8], [UInt8]) {
            (Array(reader.bytes(length) ?? []), Array(reader.bytes(length) ?? []))
        }
        let (macs, keys, ivs) = (pair(mac), pair(suite.keyLength), pair(iv))
        client = Keys(mac: macs.0, key: keys.0, iv: ivs.0)
        server = Keys(mac: macs.1, key: keys.1, iv: ivs.1)
    }

    /// Bytes of a MAC key and of an IV.
    private static func lengths(_ suite: SuiteProtection, _ version: ProtocolVersion) -> (mac: Int, iv: Int) {
        switch suite.cipher {
        case .aesGCM, .aesCCM: (0, 4)
        case .chaCha20Poly1305: (0, 12)
        // From TLS 1.1 on, every record has its own IV.
        case .aesCBC(let hash): (hash.length, version == .tls10 ? 16 : 0)
        }
    }
}
