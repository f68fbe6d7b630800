import Framing
import Streams
import Trace

/// Finds challenge-response logins: one side draws a random challenge that the other must answer, so that no recording can be
/// replayed, and no rule makes two of them equal.
package enum Challenges {
    /// At most how many frames of a connection are examined, and how many lines there are.
    private static let most = (frames: 400, lines: 20)

    /// For each frame that has a challenge, or an answer to one, a human-readable line that names and describes it.
    package static func lines(in trace: RecordedTrace) -> [String] {
        var lines: [String] = []
        for connection in trace.connections {
            for frame in connection.frames.prefix(most.frames) {
                guard let what = challenge(in: frame) else { continue }
                let type = frame.type.map { " (\($0))" } ?? ""
                lines.append(
                    PrintableText.of(
                        "connection \(connection.number), frame \(frame.index) of the \(frame.from.sender)\(type) has \(what): "
                            + "it is another one each time, so a recorded login like this cannot be replayed"))
                if lines.count == most.lines { return lines }
            }
        }
        return lines
    }

    /// What kind of challenge or answer a frame has; nil for none.
    static func challenge(in frame: FrameEvent) -> String? {
        for (path, value) in frame.values() {
            guard case .text(let text) = value else { continue }
            if case .member(let name)? = path.last, text.utf8.count >= 8, names.contains(name.lowercased()) {
                return "a challenge, \(name)"
            }
            if path == [.member("body"), .member("hex")] {
                if let found = inBytes(text, frame) { return found }
            } else if let found = inText(Array(text.utf8)) {
                return found
            }
        }
        return nil
    }

    private static let names: Set<String> = [
        "nonce", "cnonce", "snonce", "challenge", "salt", "servernonce", "clientnonce",
    ]

    private static func inBytes(_ hex: String, _ frame: FrameEvent) -> String? {
        guard let bytes = JSONValue.text(hex).bytes else { return nil }
        if let found = inText(bytes) { return found }
        // PostgreSQL's AuthenticationMD5Password: 5, and a salt of four bytes.
        let type = (frame.type ?? "").lowercased()
        if bytes.count == 8, bytes.prefix(4).elementsEqual([0, 0, 0, 5]), type == "r" || type.contains("auth") {
            return "a challenge, the salt of an MD5 password"
        }
        return nil
    }

    private static func inText(_ text: [UInt8]) -> String? {
        func has(_ part: String) -> Bool { text.contains(part) }
        // RFC 5802 section 7; in Base64 if the SASL profile requires it.
        if has("r="), has(",s="), has(",i=") { return "a SCRAM challenge (RFC 5802), with the server's nonce" }
        if has("c="), has(",r="), has(",p=") { return "a SCRAM proof (RFC 5802), which answers the server's nonce" }
        if ["n,,", "y,,", "p=tls-"].contains(where: has), has("n="), has(",r=") {
            return "a SCRAM beginning (RFC 5802), with the client's nonce"
        }
        if has("biwsbj") { return "a SCRAM beginning (RFC 5802) in Base64, with the client's nonce" }
        if has("Yz1iaXdz") || has("Yz1lU3ds") { return "a SCRAM proof (RFC 5802) in Base64" }
        if has("nonce=\"") { return "a Digest challenge or answer (RFC 7616), with a nonce" }
        if has("CRAM-MD5") { return "a login by CRAM-MD5 (RFC 2195)" }
        if has("NTLMSSP") || has("TlRMTVNTUAAC") || has("TlRMTVNTUAAD") { return "an NTLM challenge or answer" }
        if has("mysql_native_password") || has("caching_sha2_password") { return "MySQL's challenge or its answer" }
        return nil
    }
}

extension [UInt8] {
    /// Whether the bytes contain a text.
    fileprivate func contains(_ part: String) -> Bool {
        let part = [UInt8](part.utf8)
        guard let first = part.first, count >= part.count else { return false }
        return indices.dropLast(part.count - 1).contains {
            self[$0] == first && self[$0..<$0 + part.count].elementsEqual(part)
        }
    }
}
