import Crypto
import CryptoExtras
import FoundationEssentials
import Streams

/// AES-CBC with a MAC (RFC 5246 section 6.2.3.2): of the plaintext, or of the ciphertext (RFC 7366).
struct CBC: Sendable {
    private static let blockSize = 16

    private let key: SymmetricKey
    private let macKey: SymmetricKey
    private let hash: HashAlgorithm
    private let isEncryptedFirst: Bool
    /// The last block before the record, which is its IV in TLS 1.0; nil if records bring their own. Empty if unknown.
    private var chain: [UInt8]?
    /// With encrypt-then-MAC, that IV is the only thing that no MAC covers: a damaged one would give a wrong first block.
    private var isChainGenuine = true

    init(_ keys: KeyBlock.Keys, _ hash: HashAlgorithm, chained: Bool, encryptThenMAC: Bool) {
        key = SymmetricKey(data: keys.key)
        macKey = SymmetricKey(data: keys.mac)
        self.hash = hash
        isEncryptedFirst = encryptThenMAC
        chain = chained ? keys.iv : nil
    }

    /// How many bytes are not plaintext, at least: IV, MAC, and one byte of padding.
    var overhead: Int { (chain == nil ? CBC.blockSize : 0) + hash.length + 1 }

    /// The plaintext, if padding and MAC are right.
    func open(_ header: RecordHeader, _ fragment: [UInt8], _ sequence: UInt64) -> OpenedRecord? {
        var encrypted = fragment[...]
        if isEncryptedFirst {
            guard let sent = CBC.removeLast(hash.length, &encrypted) else { return nil }
            let data = header.authenticated(sequence, length: encrypted.count)
            guard hash.hmac(key: macKey, data[...], encrypted).elementsEqual(sent) else { return nil }
            if let chain, chain.isEmpty || !isChainGenuine {
                return OpenedRecord(type: header.type.rawValue, bytes: Data(), length: 0, padding: 0, lacksIV: true)
            }
        }
        var iv = chain?[...]
        if iv == nil {
            iv = encrypted.prefix(CBC.blockSize)
            encrypted = encrypted.dropFirst(CBC.blockSize)
        }
        guard let iv, iv.count == CBC.blockSize, !encrypted.isEmpty, encrypted.count.isMultiple(of: CBC.blockSize),
            let start = try? AES._CBC.IV(ivBytes: iv),
            let decrypted = try? AES._CBC.decrypt(encrypted, using: key, iv: start, noPadding: true)
        else { return nil }
        var plaintext = Array(decrypted)[...]
        let padding = Int(plaintext.last ?? 0) + 1
        guard let padded = CBC.removeLast(padding, &plaintext), padded.allSatisfy({ Int($0) == padding - 1 })
        else { return nil }
        if !isEncryptedFirst {
            guard let sent = CBC.removeLast(hash.length, &plaintext) else { return nil }
            let data = header.authenticated(sequence, length: plaintext.count)
            guard hash.hmac(key: macKey, data[...], plaintext).elementsEqual(sent) else { return nil }
        }
        return OpenedRecord(
            type: header.type.rawValue, bytes: decrypted, length: plaintext.count, padding: padding - 1)
    }

    /// Keeps the last block of a record for the next one's IV.
    mutating func passed(_ record: RawSpan, isGenuine: Bool) {
        guard chain != nil else { return }
        isChainGenuine = isGenuine
        let end = record.byteCount - (isEncryptedFirst ? hash.length : 0)
        chain = end >= CBC.blockSize ? record.copied(end - CBC.blockSize..<end) : []
    }

    private static func removeLast(_ count: Int, _ bytes: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard bytes.count >= count else { return nil }
        defer { bytes = bytes.dropLast(count) }
        return bytes.suffix(count)
    }
}
