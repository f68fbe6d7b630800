import Crypto
import CryptoExtras
import Streams

/// A stream encrypted with AES-128, -192 or -256 as a stream cipher (NIST SP 800-38A).
///
///     aes: { mode: ctr, keyName: session, iv: given }
///
/// - `mode`: `ctr` (default), `cfb` (segments of 128 bits) or `cfb8` (of 8 bits).
/// - `keyName`: which key: `--key session=…` or the environment's FRAMETAP_KEY_SESSION; by default it has the format's name.
/// - `iv`: `given` (default: `--key session.iv=…`), `key` (the key's first 16 bytes), `zero`, or 32 hex digits. For `ctr` the first
///   counter block.
struct AESStream: StreamEncoding {
    static let name = "aes"

    enum Mode: String, CaseIterable {
        case ctr, cfb, cfb8
    }

    private enum Start {
        case given, key
        case fixed([UInt8])
    }

    static let keys = KeySection(
        "through.aes", "encrypted with AES as a stream cipher",
        [
            FormatKey(
                "mode", .words(of: Mode.self), "`ctr`, `cfb` (segments of 128 bits) or `cfb8` (of 8 bits)",
                default: "ctr"),
            FormatKey("keyName", .text("a name"), "what `--key` calls the key; by default, it has the format's name"),
            FormatKey(
                "iv", .any([.words(["given", "key", "zero"]), .matching("^[0-9A-Fa-f]{32}$", "32 hex digits")]),
                "`given` with `--key NAME.iv=…`, the first 16 bytes of the key (`key`), or zeros", default: "given"),
        ])

    private let mode: Mode
    private let keyName: String?
    private let start: Start
    private var key: [UInt8]?
    private var iv: [UInt8]?
    private var shownName = "aes"

    init(_ options: YAMLMap?) {
        mode = options?.choice("mode", Mode.self) ?? .ctr
        keyName = options?.text("keyName")
        switch options?.text("iv") {
        case nil, "given": start = .given
        case "key": start = .key
        case "zero": start = .fixed([UInt8](repeating: 0, count: AESCipher.blockSize))
        case let text?:
            let bytes = (try? Base16.decode(Array(text.utf8).span.bytes)) ?? []
            if bytes.count != AESCipher.blockSize {
                options?.fault("iv is \(text); expected given, key, zero or 32 hexadecimal digits", at: "iv")
            }
            start = .fixed(bytes)
        }
    }

    func keyNames(default name: String) -> [String] {
        let name = keyName ?? name
        if case .given = start { return [name, name + ".iv"] }
        return [name]
    }

    mutating func use(_ resources: BodyResources, defaultKey: String) throws(BodyResourceError) {
        let name = keyName ?? defaultKey
        shownName = name
        guard let key = resources.keys[name] else { return }
        guard [16, 24, 32].contains(key.count) else {
            throw BodyResourceError("the key \(name) has \(key.count) bytes; AES takes 16, 24 or 32")
        }
        self.key = key
        switch start {
        case .key: iv = Array(key.prefix(AESCipher.blockSize))
        case .fixed(let bytes): iv = bytes
        case .given:
            iv = resources.keys[name + ".iv"]
            if let iv, iv.count != AESCipher.blockSize {
                throw BodyResourceError("\(name).iv has \(iv.count) bytes; AES starts with 16")
            }
        }
    }

    func layer() throws(StreamLayerFault) -> any StreamLayer {
        guard let key else { throw StreamLayerFault("aes: the key \(shownName) is not known; give it with --key") }
        guard let iv else { throw StreamLayerFault("aes: \(shownName).iv is not known; give it with --key") }
        return Layer(SymmetricKey(data: key), iv, mode)
    }

    private final class Layer: StreamLayer {
        private let key: SymmetricKey
        private let mode: Mode
        /// The block whose encryption the next bytes are XORed with: CTR's counter, or the last 16 encrypted bytes.
        private var block: [UInt8]
        private var keystream: [UInt8] = []
        /// How many bytes of the keystream are used.
        private var used = 16
        let isOver = false
        let memory = 256

        init(_ key: SymmetricKey, _ iv: [UInt8], _ mode: Mode) { (self.key, block, self.mode) = (key, iv, mode) }

        func take(_ bytes: RawSpan, _ emit: (RawSpan) -> Void) throws(StreamLayerFault) -> Int {
            var plain = bytes.copied()
            for index in plain.indices {
                let encrypted = plain[index]
                if used == 16 || mode == .cfb8 { try next() }
                plain[index] ^= keystream[used]
                used += 1
                switch mode {
                case .ctr: continue
                case .cfb: block[used - 1] = encrypted
                case .cfb8:
                    block.removeFirst()
                    block.append(encrypted)
                }
            }
            emit(plain.span.bytes)
            return plain.count
        }

        /// The next keystream.
        private func next() throws(StreamLayerFault) {
            keystream = block
            do { try AES.permute(&keystream, key: key) } catch { throw StreamLayerFault("aes: \(error)") }
            used = 0
            if mode == .ctr { count(1) }
        }

        /// Adds to CTR's counter, a number of 128 bits.
        private func count(_ blocks: Int) {
            var carry = blocks
            for index in block.indices.reversed() where carry > 0 {
                carry += Int(block[index])
                block[index] = UInt8(truncatingIfNeeded: carry)
                carry >>= 8
            }
        }

        /// CTR goes on anywhere; CFB would need the last 16 bytes, which were not seen.
        func skip(_ byteCount: Int) -> Int? {
            guard mode == .ctr else { return nil }
            let position = used + byteCount
            guard position > 16 else {
                used = position
                return byteCount
            }
            // The counter is already that of the next block.
            count((position - 16 - 1) / 16)
            guard (try? next()) != nil else { return nil }
            used = (position - 1) % 16 + 1
            return byteCount
        }
    }
}
