import Analysis
import Framing
import Streams

/// What a decoder looks for.
package struct DecodingOptions: Sendable {
    /// How the format of a connection is chosen.
    package enum Choice: Sendable {
        /// By its bytes, among these; if none is recognised, by the server's port.
        case automatic([Format])
        /// This one.
        case fixed(Format)
    }

    /// How the format of a connection is chosen.
    package var choice: Choice
    /// The formats of particular server ports; they take precedence over `choice`.
    package var byPort: [UInt16: Format] = [:]
    /// Returns the format of a server port that only becomes known when a connection opens; also takes precedence over `choice`.
    package var lateByPort: (@Sendable (UInt16) -> Format?)?
    /// The maximum number of bytes held per direction until a format is recognised.
    package var detectionLimit = 65_536
    /// How many bytes a decoder's framers and detections may hold, over all connections.
    package var memoryLimit = 256 << 20
    /// The limit as users set it, of which `memoryLimit` is the decoder's part.
    package var totalMemoryLimit = 256 << 20
    /// How long a silence ends format detection.
    package var idleTimeout = Interval(nanoseconds: 3_600_000_000_000)

    /// How many connections may have formats on trial at once. Others look for theirs again when twice as many bytes are held.
    package var awakeDetections = 1_024

    /// Whether connections of which a few undecided bytes were seen take less memory. The results are the same.
    package var keepsUndecided = true

    /// How TLS is decrypted; nil: it is not looked at.
    package var tls: TLSDecoding? = TLSDecoding()

    /// Whether heartbeats are learned if a format does not define them; every frame must then be inspected.
    package var learnsHeartbeats = false
    /// Whether to report frames that published receivers would have mishandled; every frame must then be inspected.
    package var findsHazards = false

    /// Sets the limit of memory for framing, reassembly and detection together.
    ///
    /// Reassembly may run on a thread of its own, and the output must not depend on which thread is ahead: so it has a share of
    /// its own, three eighths (`ReassemblyOptions.limitMemory`).
    ///
    /// - Parameters:
    ///   - bytes: the limit.
    ///   - isReassembled: whether packets are reassembled; if a socket's reads are decoded, the decoder gets the whole limit.
    package mutating func limitMemory(to bytes: Int, isReassembled: Bool) {
        totalMemoryLimit = bytes
        memoryLimit = isReassembled ? bytes - bytes / 8 * 3 : bytes
    }

    /// The analyses that run only if asked for.
    package func extraAnalyses() -> [any Analysis] {
        (learnsHeartbeats ? [LearnedHeartbeats()] : []) + (findsHazards ? [HazardFinder()] : [])
    }

    /// All formats that connections may have.
    package var knownFormats: [Format] {
        switch choice {
        case .fixed(let format): [format] + byPort.values
        case .automatic(let formats): formats + byPort.values
        }
    }

    /// What a decoder looks for.
    package init(_ choice: Choice) {
        self.choice = choice
    }
}
