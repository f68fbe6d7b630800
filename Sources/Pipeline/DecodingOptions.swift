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
    /// After how long a silence the format is not looked for any more.
    public var idleTimeout = Interval(nanoseconds: 3_600_000_000_000)

    /// Whether heartbeats are learned where a format says nothing of them; every frame has to be looked at then.
    public var learnsHeartbeats = false
    /// Whether frames are found at which published receivers would have gone wrong; every frame has to be looked at then.
    public var findsHazards = false

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
