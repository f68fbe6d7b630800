import Streams

/// A protocol recognised by its first bytes, but not framed: it can be named, its bytes stay unframed.
package struct Signature: Sendable {
    /// The verdict on the first bytes of a direction.
    package enum Verdict: Hashable, Sendable {
        /// It is something else.
        case no
        /// More bytes are needed.
        case undecided
        /// It is this protocol; more bytes would give more detail.
        case likely(evidence: String)
        /// It is this protocol, with human-readable evidence.
        case yes(evidence: String)
    }

    /// The name, as traces show it.
    package let name: String
    /// What it is called.
    let title: String
    /// Judges the first bytes of a direction: more bytes may decide more, but never revise a decision.
    let judge: @Sendable (RawSpan) -> Verdict
    /// The evidence in bytes of a direction that was picked up mid-stream, in which no format was found; nil if there is none.
    package var midStream: @Sendable (RawSpan) -> String? = { _ in nil }

    /// How many bytes of a direction are examined: the request-line length that must be supported (RFC 9112, section 3).
    package static let extent = 8_000

    /// Every signature. A new one is one line here.
    package static let all = [
        Signature(name: "tls", title: "TLS", judge: tls, midStream: TLSRecords.evidence),
        Signature(name: "http", title: "HTTP", judge: http),
        Signature(name: "http2", title: "HTTP/2") {
            begins($0, with: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/2 connection preface (RFC 9113, section 3.4)")
        },
        Signature(name: "ssh", title: "SSH", judge: ssh),
    ]

    /// A format that frames nothing: every byte is unframed, with the reason.
    package var format: Format {
        .unframed(
            name, "\(title), recognized only",
            detail: "this is \(title), which frametap does not frame; --format overrides this")
    }

    // MARK: How they begin

    /// A handshake record with a ClientHello or ServerHello.
    ///
    ///      0      1         3        5      6          9
    ///     +------+---------+--------+------+----------+---------+--- …
    ///     | 0x16 | 3 | 0–4 | length | 1, 2 |  length  | 3 | 0–4 | random
    ///     +------+---------+--------+------+----------+---------+--- …
    ///
    /// Source: RFC 8446, section 5.1 (the record) and 4 (the handshake message); RFC 5246, section 6.2.1.
    private static func tls(_ start: RawSpan) -> Verdict {
        let fits: [(Int, ClosedRange<UInt8>)] = [
            (0, 22...22), (1, 3...3), (2, 0...4), (3, 0...0x40), (5, 1...2), (6, 0...0), (9, 3...3), (10, 0...4),
        ]
        for (offset, values) in fits where offset < start.byteCount && !values.contains(start[byte: offset]) {
            return .no
        }
        guard start.byteCount >= 11 else { return .undecided }
        // A version, 32 random bytes, and what follows.
        let length = Int(start[byte: 7]) << 8 | Int(start[byte: 8])
        guard length >= 38 else { return .no }
        let hello = start[byte: 5] == 1 ? "ClientHello" : "ServerHello"
        let evidence = "TLS handshake record, \(hello) (RFC 8446, section 5.1)"
        switch TLSHello.read(start) {
        case .incomplete: return .likely(evidence: evidence)
        case .malformed: return .yes(evidence: evidence)
        case .complete(let message): return .yes(evidence: "\(evidence): \(shown(message.description))")
        }
    }

    /// The identification string, `SSH-2.0-OpenSSH_9.6` and CR LF.
    private static func ssh(_ start: RawSpan) -> Verdict {
        let evidence = "SSH identification string (RFC 4253, section 4.2)"
        guard matches(start, from: 0, "SSH-2.0-") == .whole else {
            return matches(start, from: 0, "SSH-2.0-").verdict(evidence)
        }
        // At most 255 bytes with CR and LF.
        guard let end = start.extracting(0..<min(start.byteCount, 255)).firstIndex(of: UInt8(ascii: "\n"), from: 0)
        else {
            return start.byteCount < 255 ? .likely(evidence: evidence) : .yes(evidence: evidence)
        }
        return .yes(evidence: "\(evidence): \(line(start, to: end))")
    }

    /// A line's text, without its line ending.
    private static func line(_ start: RawSpan, to end: Int) -> String {
        let last = end > 0 && start[byte: end - 1] == UInt8(ascii: "\r") ? end - 1 : end
        return shown(String(decoding: start.copied(0..<last), as: UTF8.self))
    }

    /// Text from the network for display, truncated to a readable length.
    private static func shown(_ text: String) -> String {
        text.unicodeScalars.count <= 200 ? text : String(text.prefix(200)) + "…"
    }

    /// A request line, `GET / HTTP/1.1`, or a status line, `HTTP/1.1 200 OK`.
    ///
    /// Source: RFC 9112, sections 3 and 4. Methods may be any token; those in use are capital letters (RFC 9110, 9.1).
    private static func http(_ start: RawSpan) -> Verdict {
        let status = matches(start, from: 0, "HTTP/1.# ###")
        if status != .no { return reported(start, status, "HTTP/1 status line (RFC 9112, section 4)") }
        var at = 0
        while at < start.byteCount, isMethod(start[byte: at]) { at += 1 }
        guard at <= 24 else { return .no }
        guard at < start.byteCount else { return .undecided }
        guard at > 0, start[byte: at] == UInt8(ascii: " ") else { return .no }
        let target = at + 1
        at = target
        while at < start.byteCount, 0x21...0x7e ~= start[byte: at] || start[byte: at] >= 0x80 { at += 1 }
        guard at < start.byteCount else { return start.byteCount < extent ? .undecided : .no }
        guard at > target, start[byte: at] == UInt8(ascii: " ") else { return .no }
        let evidence = "HTTP/1 request line (RFC 9112, section 3)"
        let version = matches(start, from: at + 1, "HTTP/1.#\r\n")
        // A recipient may recognize a single LF as a line terminator (RFC 9112, section 2.2).
        if version != .no { return reported(start, version, evidence) }
        return reported(start, matches(start, from: at + 1, "HTTP/1.#\n"), evidence)
    }

    /// The verdict for a match of the first line, with the line itself.
    private static func reported(_ start: RawSpan, _ match: Match, _ evidence: String) -> Verdict {
        guard match == .whole else { return match.verdict(evidence) }
        guard let end = start.firstIndex(of: UInt8(ascii: "\n"), from: 0) else {
            return start.byteCount < 512 ? .likely(evidence: evidence) : .yes(evidence: evidence)
        }
        return .yes(evidence: "\(evidence): \(line(start, to: end))")
    }

    private static func isMethod(_ byte: UInt8) -> Bool {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }

    private static func begins(_ start: RawSpan, with text: StaticString, _ evidence: String) -> Verdict {
        matches(start, from: 0, text).verdict(evidence)
    }

    /// How bytes compare with a pattern.
    private enum Match {
        case no, partly, whole

        func verdict(_ evidence: String) -> Verdict {
            switch self {
            case .no: .no
            case .partly: .undecided
            case .whole: .yes(evidence: evidence)
            }
        }
    }

    /// Compares bytes with a text in which `#` is any digit.
    private static func matches(_ bytes: RawSpan, from start: Int, _ pattern: StaticString) -> Match {
        pattern.withUTF8Buffer { pattern in
            for (index, wanted) in pattern.enumerated() {
                guard start + index < bytes.byteCount else { return .partly }
                let byte = bytes[byte: start + index]
                let fits =
                    wanted == UInt8(ascii: "#") ? UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte : byte == wanted
                guard fits else { return .no }
            }
            return .whole
        }
    }
}
