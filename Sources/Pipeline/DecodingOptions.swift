import Analysis
import Framing
import Streams

/// What a decoder is to look for.
public struct DecodingOptions: Sendable {
    /// How the format of a connection is chosen.
    public enum Choice: Sendable {
        /// By its bytes, among these; where nothing is recognised, by the server's port.
        case automatic([Format])
        /// This one.
        case fixed(Format)
    }

    /// How the format of a connection is chosen.
    public var choice: Choice
    /// The formats of particular server ports; they go before `choice`.
    public var byPort: [UInt16: Format] = [:]
    /// Tells the format of a server port that is known only later, when a connection opens; goes before `choice`, too.
    public var lateByPort: (@Sendable (UInt16) -> Format?)?
    /// How many bytes of a direction are held at most until a format is recognised.
    public var detectionLimit = 65_536
    /// How many bytes a decoder's framers and detections may hold, over all connections.
    public var memoryLimit = 256 << 20
    /// The limit that users know, of which `memoryLimit` is the decoder's part.
    public var totalMemoryLimit = 256 << 20
    /// After how long a silence the format is not looked for any more.
    public var idleTimeout = Interval(nanoseconds: 3_600_000_000_000)

    /// Whether heartbeats are learned where a format says nothing of them; every frame has to be looked at then.
    public var learnsHeartbeats = false
    /// Whether frames are found at which published receivers would have gone wrong; every frame has to be looked at then.
    public var findsHazards = false

    /// Sets the limit of memory for framing, reassembly and detection together.
    ///
    /// Reassembly may work on a thread of its own, and what comes out must not depend on which thread is ahead: so it has a part of
    /// its own, three eighths (`ReassemblyOptions.limitMemory`).
    ///
    /// - Parameters:
    ///   - bytes: the limit.
    ///   - isReassembled: whether packets are reassembled; where a socket's reads are decoded, the decoder has it all.
    public mutating func limitMemory(to bytes: Int, isReassembled: Bool) {
        totalMemoryLimit = bytes
        memoryLimit = isReassembled ? bytes - bytes / 8 * 3 : bytes
    }

    /// The analyses that are only made where they are asked for.
    public func extraAnalyses() -> [any Analysis] {
        (learnsHeartbeats ? [LearnedHeartbeats()] : []) + (findsHazards ? [HazardFinder()] : [])
    }

    /// All formats that connections may have.
    public var knownFormats: [Format] {
        switch choice {
        case .fixed(let format): [format] + byPort.values
        case .automatic(let formats): formats + byPort.values
        }
    }

    /// What a decoder is to look for.
    public init(_ choice: Choice) {
        self.choice = choice
    }
}
