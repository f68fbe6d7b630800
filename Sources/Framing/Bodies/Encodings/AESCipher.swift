import Crypto
import CryptoExtras

/// AES over whole blocks, from swift-crypto's block function.
struct AESCipher: Sendable {
    /// Bytes of a block.
    static let blockSize = 16

    /// The block cipher mode.
    enum Mode: String, CaseIterable, Sendable {
        case ecb, cbc
    }

    private let key: SymmetricKey
    private let mode: Mode

    /// Nil if AES has no keys of that length.
    init?(key: [UInt8], mode: Mode) {
        guard [16, 24, 32].contains(key.count) else { return nil }
        self.key = SymmetricKey(data: key)
        self.mode = mode
    }

    /// Decrypts whole blocks in place; false if swift-crypto refuses.
    func decrypt(_ bytes: inout [UInt8], iv: [UInt8]?) -> Bool {
        var previous = iv ?? [UInt8](repeating: 0, count: Self.blockSize)
        return blocks(of: &bytes) { block in
            let encrypted = block
            try AES.inversePermute(&block, key: key)
            guard mode == .cbc else { return }
            for at in block.indices { block[at] ^= previous[at] }
            previous = encrypted
        }
    }

    /// Encrypts whole blocks in place; false if swift-crypto refuses.
    func encrypt(_ bytes: inout [UInt8], iv: [UInt8]?) -> Bool {
        var previous = iv ?? [UInt8](repeating: 0, count: Self.blockSize)
        return blocks(of: &bytes) { block in
            if mode == .cbc { for at in block.indices { block[at] ^= previous[at] } }
            try AES.permute(&block, key: key)
            previous = block
        }
    }

    private func blocks(of bytes: inout [UInt8], _ change: (inout [UInt8]) throws -> Void) -> Bool {
        var block = [UInt8](repeating: 0, count: Self.blockSize)
        for start in stride(from: 0, to: bytes.count - Self.blockSize + 1, by: Self.blockSize) {
            for at in block.indices { block[at] = bytes[start + at] }
            do { try change(&block) } catch { return false }
            for at in block.indices { bytes[start + at] = block[at] }
        }
        return true
    }
}
