import Crypto
import FoundationEssentials
import Streams

/// An authenticated cipher with its key.
struct AEAD: Sendable {
    private enum Cipher: Sendable {
        case gcm, chaChaPoly, ccm
    }

    private let cipher: Cipher
    private let key: SymmetricKey
    /// Bytes of the tag after the ciphertext.
    let tagLength: Int

    /// Nil if the cipher is not an AEAD.
    init?(_ cipher: SuiteProtection.Cipher, _ key: [UInt8]) {
        switch cipher {
        case .aesGCM: (self.cipher, tagLength) = (.gcm, 16)
        case .chaCha20Poly1305: (self.cipher, tagLength) = (.chaChaPoly, 16)
        case .aesCCM(let length): (self.cipher, tagLength) = (.ccm, length)
        case .aesCBC: return nil
        }
        self.key = SymmetricKey(data: key)
    }

    /// The plaintext, if the tag is right.
    ///
    /// - Parameters:
    ///   - nonce: 12 bytes.
    ///   - range: where the ciphertext and its tag lie in `record`.
    func open(nonce: [UInt8], _ record: RawSpan, _ range: Range<Int>, authenticating data: [UInt8]) -> Data? {
        guard range.count >= tagLength else { return nil }
        if cipher == .ccm {
            return CCM(key: key, tagLength: tagLength).open(nonce: nonce, record.copied(range), data)
        }
        // swift-crypto takes nonce, ciphertext and tag joined.
        var combined: [UInt8] = []
        combined.reserveCapacity(nonce.count + range.count)
        combined += nonce
        combined.append(contentsOf: record.extracting(range))
        return cipher == .gcm
            ? try? AES.GCM.open(AES.GCM.SealedBox(combined: combined), using: key, authenticating: data)
            : try? ChaChaPoly.open(ChaChaPoly.SealedBox(combined: combined), using: key, authenticating: data)
    }
}
