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
            "Decrypt TLS with the secrets in this file, in NSS key log format, as browsers and others write it where SSLKEYLOGFILE says. Several files are used together. Secrets in a capture are used automatically.",
            valueName: "file"), completion: .file())
    var keyLog: [String] = []

    @Flag(help: "Decrypt nothing, not even with the secrets in the capture.")
    var noDecrypt = false

    /// The largest key log that is read.
    private static let longest = 256 << 20

    func validate() throws {
        if !keyLog.isEmpty, noDecrypt {
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
        guard !keyLog.isEmpty else { return decoding }
        var log = KeyLog()
        var tails: [FileTail] = []
        for file in keyLog { tails.append(try read(file, isFollowed: isFollowed, into: &log)) }
        decoding.keyLog = log
        if isFollowed {
            let all = tails
            decoding.more = { all.flatMap { $0.read() } }
        }
        return decoding
    }
    /// Adds the secrets of a file.
    ///
    /// - Returns: what comes after them in the file.
    private func read(_ file: String, isFollowed: Bool, into log: inout KeyLog) throws -> FileTail {
        // Programs create it with their first connection.
        if isFollowed, FileStatus(of: file) == nil, errno == ENOENT {
            warn("\(file) does not exist yet; it is read once it does")
            return FileTail(file, from: 0)
        }
        let bytes = try FileInput.contents(of: file, limit: Self.longest)
        // The rest of a line that is being written is read with what follows.
        let count = isFollowed ? bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0 : bytes.count
        let text = Array(bytes[..<count])
        _ = log.add(text.span.bytes)
        _ = log.endText()
        // By itself, its lines have their numbers.
        var own = KeyLog()
        let malformed = own.add(text.span.bytes) + own.endText()
        for line in malformed.prefix(3) { warn("\(file):\(line.number): \(line.reason); the line is skipped") }
        if malformed.count > 3 { warn("\(file): \(malformed.count - 3) more lines cannot be read") }
        if own.count == 0, !isFollowed {
            warn("\(file) has no secrets; expected lines such as CLIENT_RANDOM <64 hex digits> <secret>")
        }
        return FileTail(file, from: count)
    }
}
