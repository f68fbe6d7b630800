import ArgumentParser
import Certificates
import Pipeline
import Platform
import Streams
import TLS

/// How captured TLS is decrypted.
struct DecryptionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Decrypt TLS with the secrets in this file, in NSS key log format, as browsers and others write it where SSLKEYLOGFILE says. Secrets in a capture are used automatically.",
            valueName: "file"), completion: .file())
    var keyLog: String?

    @Flag(help: "Decrypt nothing, not even with the secrets in the capture.")
    var noDecrypt = false

    /// The largest key log that is read.
    private static let longest = 256 << 20

    func validate() throws {
        if keyLog != nil, noDecrypt {
            throw ValidationError("--key-log decrypts and --no-decrypt does not: expected one of them")
        }
    }

    /// How a decoder decrypts; nil: not at all.
    ///
    /// - Parameter isFollowed: whether the key log is read again when secrets are missing, since it is still being written.
    func decoding(isFollowed: Bool = false) throws -> TLSDecoding? {
        if noDecrypt { return nil }
        var decoding = TLSDecoding()
        decoding.describe = { TLSFacts.Certificate(der: $0) }
        guard let keyLog else { return decoding }
        let bytes = try FileInput.contents(of: keyLog, limit: Self.longest)
        var log = KeyLog()
        var malformed = log.add(bytes.span.bytes)
        if !isFollowed { malformed += log.endText() }
        for line in malformed.prefix(3) { warn("\(keyLog):\(line.number): \(line.reason); the line is skipped") }
        if malformed.count > 3 { warn("\(keyLog): \(malformed.count - 3) more lines cannot be read") }
        if log.count == 0, !isFollowed {
            warn("\(keyLog) has no secrets; expected lines such as CLIENT_RANDOM <64 hex digits> <secret>")
        }
        decoding.keyLog = log
        if isFollowed {
            let tail = FileTail(keyLog, from: bytes.count)
            decoding.more = { tail.read() }
        }
        return decoding
    }
}
