import Streams

/// The encoding `aes`: AES-128, -192 or -256 by the key's length.
///
///     aes: { mode: cbc, keyName: login, iv: prefix, padding: pkcs7, input: base64 }
///
/// - `mode`: `ecb` (default) or `cbc`.
/// - `keyName`: which key: `--key login=…` or the environment's FRAMETAP_KEY_LOGIN; by default it has the format's name.
/// - `iv`, for CBC: `given` (default: `--key login.iv=…`), `prefix` (the first 16 bytes), `zero`, or 32 hex digits.
/// - `padding`: `pkcs7` (default), `zeros` (NULs, which are stripped), or `none`.
/// - `input`: how the encrypted bytes are written: `raw` (default), `base64` or `hex`.
///
/// Without its key a body stays as it is, which is not a fault. A wrong key is one: if the padding is invalid, or the output is
/// not what the chain expects, the body stays as it is.
struct AESBody: BodyEncoding {
    static let name = "aes"
    static let keys = KeySection(
        "body.aes", "AES; the key comes from `--key`; JSON that was sent in cleartext is read as it is",
        [
            FormatKey("mode", .words(of: AESCipher.Mode.self), "the mode", default: "ecb"),
            FormatKey("keyName", .text("a name"), "what `--key` calls the key; by default, it has the format's name"),
            FormatKey(
                "iv", .any([.words(["given", "prefix", "zero"]), .matching("^[0-9A-Fa-f]{32}$", "32 hex digits")]),
                "the initialization vector of `cbc`: `given` with `--key NAME.iv=…`, the first 16 bytes (`prefix`), or zeros",
                default: "given"),
            FormatKey("padding", .words(of: Padding.self), "how the last block is filled up", default: "pkcs7"),
            FormatKey("input", .words(of: Input.self), "how the encrypted bytes are written", default: "raw"),
        ])

    enum Padding: String, CaseIterable {
        case pkcs7, zeros, none
    }

    enum Input: String, CaseIterable {
        case raw, base64, hex
    }

    private enum Start {
        case given, prefix
        case fixed([UInt8])
    }

    private let mode: AESCipher.Mode
    private let keyName: String?
    private let start: Start
    private let padding: Padding
    private let input: Input
    private var cipher: AESCipher?
    /// CBC's initialization vector, if the body does not start with it.
    private var iv: [UInt8]?

    init(_ options: YAMLMap?) {
        mode = options?.choice("mode", AESCipher.Mode.self) ?? .ecb
        keyName = options?.text("keyName")
        padding = options?.choice("padding", Padding.self) ?? .pkcs7
        input = options?.choice("input", Input.self) ?? .raw
        start = Self.start(options, mode)
    }

    private static func start(_ options: YAMLMap?, _ mode: AESCipher.Mode) -> Start {
        guard let options, let text = options.text("iv") else { return .given }
        if mode == .ecb { options.context.add("\(options.path).iv is for mode: cbc", at: options["iv"]) }
        switch text {
        case "given": return .given
        case "prefix": return .prefix
        case "zero": return .fixed([UInt8](repeating: 0, count: AESCipher.blockSize))
        default:
            if let bytes = try? Base16.decode(Array(text.utf8).span.bytes), bytes.count == AESCipher.blockSize {
                return .fixed(bytes)
            }
            options.context.add(
                "\(options.path).iv is \(text); expected given, prefix, zero or 32 hexadecimal digits",
                at: options["iv"])
            return .given
        }
    }

    var role: BodyRole { isLocked ? [.encrypted, .locked] : .encrypted }

    /// Whether the key or the initialization vector is unknown.
    private var isLocked: Bool {
        if cipher == nil { return true }
        if mode == .cbc, iv == nil, case .given = start { return true }
        return false
    }

    func keyNames(default name: String) -> [String] {
        let name = keyName ?? name
        if mode == .cbc, case .given = start { return [name, name + ".iv"] }
        return [name]
    }

    mutating func use(_ resources: BodyResources, defaultKey: String) throws(BodyResourceError) {
        let name = keyName ?? defaultKey
        if let key = resources.keys[name] {
            guard let cipher = AESCipher(key: key, mode: mode) else {
                throw BodyResourceError("the key \(name) has \(key.count) bytes; AES takes 16, 24 or 32")
            }
            self.cipher = cipher
        }
        switch start {
        case .prefix: iv = nil
        case .fixed(let bytes): iv = bytes
        case .given:
            iv = resources.keys[name + ".iv"]
            if let iv, iv.count != AESCipher.blockSize {
                throw BodyResourceError("\(name).iv has \(iv.count) bytes; CBC starts with 16")
            }
        }
    }

    // MARK: Decoding

    func decode(_ input: RawSpan, _ context: BodyContext) -> BodyStep {
        guard let cipher, !isLocked else { return .locked }
        do throws(TextualBytesError) {
            switch self.input {
            case .raw: return decrypt(input.copied(), cipher)
            case .base64: return decrypt(try Base64.decode(input), cipher)
            case .hex: return decrypt(try Base16.decode(input), cipher)
            }
        } catch {
            return .fault(.badBody, error.description)
        }
    }

    private func decrypt(_ bytes: [UInt8], _ cipher: AESCipher) -> BodyStep {
        var bytes = bytes
        var iv = self.iv
        if mode == .cbc, case .prefix = start {
            guard bytes.count >= AESCipher.blockSize else {
                return .fault(.badBody, "\(bytes.count) bytes cannot hold the 16 that CBC starts with")
            }
            iv = Array(bytes.prefix(AESCipher.blockSize))
            bytes.removeFirst(AESCipher.blockSize)
        }
        guard bytes.count.isMultiple(of: AESCipher.blockSize), !bytes.isEmpty || padding != .pkcs7 else {
            return .fault(.badBody, "\(bytes.count) bytes are no whole number of blocks of 16")
        }
        guard cipher.decrypt(&bytes, iv: iv) else { return .fault(.badBody, "it cannot be decrypted") }
        switch padding {
        case .none: break
        case .zeros: while bytes.last == 0 { bytes.removeLast() }
        case .pkcs7:
            let count = Int(bytes[bytes.count - 1])
            guard (1...AESCipher.blockSize).contains(count), bytes.suffix(count).allSatisfy({ Int($0) == count }) else {
                return .fault(.wrongKey, "decrypted, it does not end in PKCS#7 padding: probably the wrong key")
            }
            bytes.removeLast(count)
        }
        return .bytes(bytes, .opaque)
    }

    // MARK: Encoding

    func encode(_ content: BodyContent, type: String?) throws(EncodingError) -> [UInt8] {
        guard let cipher, !isLocked else {
            throw EncodingError("the body is encrypted, and its key is not known; give it with --key")
        }
        var bytes = content.bytes
        let rest = AESCipher.blockSize - bytes.count % AESCipher.blockSize
        switch padding {
        case .pkcs7: bytes += [UInt8](repeating: UInt8(rest), count: rest)
        case .zeros where rest < AESCipher.blockSize: bytes += [UInt8](repeating: 0, count: rest)
        case .none where rest < AESCipher.blockSize:
            throw EncodingError("\(bytes.count) bytes are no whole number of blocks of 16, and padding is none")
        case .zeros, .none: break
        }
        var (iv, prefix): ([UInt8]?, [UInt8]) = (iv, [])
        if mode == .cbc, case .prefix = start {
            prefix = (0..<AESCipher.blockSize).map { _ in UInt8.random(in: 0...255) }
            iv = prefix
        }
        guard cipher.encrypt(&bytes, iv: iv) else { throw EncodingError("the body cannot be encrypted") }
        bytes = prefix + bytes
        switch input {
        case .raw: return bytes
        case .base64: return Base64.encode(bytes)
        case .hex: return Base16.encode(bytes)
        }
    }
}
