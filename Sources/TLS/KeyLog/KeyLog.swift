import Streams

/// The secrets of an NSS key log, by client random: what `SSLKEYLOGFILE` makes programs write (RFC 9850).
///
/// Text is added as the file grows, cut anywhere: an incomplete last line is kept, at most ``lineLimit`` bytes of it. Unknown
/// labels, comments and blank lines are ignored. If a label repeats for a random, the last one counts.
package struct KeyLog: Sendable {
    /// The longest line that is read, in bytes.
    package static let lineLimit = 1_024

    /// A line that is not as the format says.
    package struct MalformedLine: Hashable, Sendable {
        /// The line's number, from 1, counted over all text added.
        package let number: Int
        /// What is wrong with it.
        package let reason: String
    }

    private var secrets: [ClientRandom: Secrets] = [:]
    private var sessions: [[UInt8]: [UInt8]] = [:]
    private var lines = LineBuffer(limit: KeyLog.lineLimit)

    /// An empty log.
    package init() {}

    /// How many connections have secrets.
    package var count: Int { secrets.count }

    /// Adds the next text of a log.
    ///
    /// - Returns: the lines that became complete and cannot be read.
    package mutating func add(_ text: RawSpan) -> [MalformedLine] {
        var malformed: [MalformedLine] = []
        var rest = 0
        while let line = lines.next(text, &rest) { take(line, &malformed) }
        return malformed
    }

    /// Ends the text: a last line without a line feed is read, too. More text may follow, on a new line.
    package mutating func endText() -> [MalformedLine] {
        var malformed: [MalformedLine] = []
        if let line = lines.takeLast() { take(line, &malformed) }
        return malformed
    }

    /// Adds one line.
    package mutating func add(_ line: KeyLogLine) {
        secrets[line.clientRandom, default: Secrets()][line.label] = line.secret
    }

    /// The secret of a label for a connection.
    package func secret(_ label: KeyLogLabel, for random: ClientRandom) -> [UInt8]? {
        secrets[random]?[label]
    }

    /// Whether any secret of a connection is known.
    package func hasSecrets(for random: ClientRandom) -> Bool { secrets[random] != nil }

    /// The master secret of a TLS 1.2 session: by the client's random, or by the session's ID.
    func masterSecret(for random: ClientRandom, sessionID: [UInt8]) -> [UInt8]? {
        secret(.clientRandom, for: random) ?? (sessionID.isEmpty ? nil : sessions[sessionID])
    }

    private mutating func take(_ line: LineBuffer.Line, _ malformed: inout [MalformedLine]) {
        guard let bytes = line.bytes else {
            malformed.append(
                MalformedLine(number: line.number, reason: "it is longer than \(KeyLog.lineLimit) bytes"))
            return
        }
        // Editors on Windows begin files with a byte order mark.
        let mark: [UInt8] = [0xef, 0xbb, 0xbf]
        switch KeyLogContent(bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes[...]) {
        case .secret(let line): add(line)
        case .session(let id, let masterSecret): sessions[id] = masterSecret
        case .nothing: break
        case .malformed(let reason): malformed.append(MalformedLine(number: line.number, reason: reason))
        }
    }

    /// A connection's secrets: few, and mostly all of them at once.
    private struct Secrets: Sendable {
        private var known: [KeyLogLabel: [UInt8]] = [:]

        subscript(label: KeyLogLabel) -> [UInt8]? {
            get { known[label] }
            set { known[label] = newValue }
        }
    }
}
