import Streams
import TLS

/// The secrets with which a decoder decrypts TLS: those of a key log, and those that its source brings along.
///
/// Used by one decoder, on its thread.
package final class TLSKeys {
    /// What is known so far.
    private(set) var log = KeyLog()
    /// Whether the user asked for decryption: then missing secrets are worth a finding.
    let isRequested: Bool
    private let more: (() -> [UInt8])?

    /// Secrets.
    ///
    /// - Parameters:
    ///   - log: those that are known from the beginning.
    ///   - more: returns what a key log that is still being written has gained since the last call; nil if it has none.
    package init(_ log: KeyLog? = nil, more: (() -> [UInt8])? = nil) {
        isRequested = log != nil
        self.log = log ?? KeyLog()
        self.more = more
    }

    /// Adds lines of a key log. Those that cannot be read are ignored: they come from a capture.
    func add(_ text: RawSpan) {
        _ = log.add(text)
        _ = log.endText()
    }

    /// Whether the key log is still being written.
    var isFollowed: Bool { more != nil }

    /// Reads what a key log has gained, if none of a connection's secrets are known.
    func look(for random: ClientRandom) {
        if !log.hasSecrets(for: random) { look() }
    }

    /// Reads what a key log has gained.
    func look() {
        guard let more else { return }
        let text = more()
        if !text.isEmpty { _ = log.add(text.span.bytes) }
    }
}
