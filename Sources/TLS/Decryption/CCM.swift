import Crypto
import CryptoExtras
import FoundationEssentials

/// AES-CCM (RFC 3610) with nonces of 12 bytes, as TLS uses it (RFC 6655 section 3), put together from CTR and CBC.
struct CCM {
    let key: SymmetricKey
    let tagLength: Int

    /// The plaintext, if the tag at the end is right.
    func open(nonce: [UInt8], _ sealed: [UInt8], _ data: [UInt8]) -> Data? {
        let end = sealed.count - tagLength
        guard end >= 0, nonce.count == 12,
            // Counter 0 encrypts the tag, the following ones the text: decrypted as one, the tag is the first block.
            let counter = try? AES._CTR.Nonce(nonceBytes: [2] + nonce + [0, 0, 0]),
            let opened = try? AES._CTR.decrypt(
                sealed[end...] + [UInt8](repeating: 0, count: 16 - tagLength) + sealed[..<end], using: key,
                nonce: counter)
        else { return nil }
        let plaintext = Data(opened.dropFirst(16))
        guard let tag = tag(nonce, plaintext, data), opened.prefix(tagLength).elementsEqual(tag.prefix(tagLength))
        else { return nil }
        return plaintext
    }

    /// The CBC-MAC: the last block of CBC from a zero IV (RFC 3610 section 2.2).
    private func tag(_ nonce: [UInt8], _ plaintext: Data, _ data: [UInt8]) -> Data? {
        let count = plaintext.count
        var blocks: [UInt8] = [0x40 | UInt8((tagLength - 2) / 2) << 3 | 2]
        blocks.reserveCapacity(count + 64)
        blocks += nonce
        blocks += [UInt8(count >> 16 & 255), UInt8(count >> 8 & 255), UInt8(count & 255)]
        blocks += [UInt8(data.count >> 8), UInt8(data.count & 255)] + data
        CCM.pad(&blocks)
        blocks += plaintext
        CCM.pad(&blocks)
        let zero = try? AES._CBC.IV(ivBytes: [UInt8](repeating: 0, count: 16))
        return zero.flatMap { try? AES._CBC.encrypt(blocks, using: key, iv: $0, noPadding: true) }?.suffix(16)
    }

    private static func pad(_ blocks: inout [UInt8]) {
        blocks += [UInt8](repeating: 0, count: (16 - blocks.count % 16) % 16)
    }
}
