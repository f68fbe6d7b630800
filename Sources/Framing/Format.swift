import Expressions
import Streams

/// A wire format: the content of a format file, checked and ready to use.
public struct Format: Sendable {
    /// The name, as in `--format` and in traces.
    public var name: String
    /// A one-line description.
    public var summary: String
    /// The servers' usual ports.
    public var ports: [UInt16]
    /// The structure of each direction's frames.
    public var directions: PerDirection<DirectionFormat>
    /// How it is recognised by its bytes; nil if it must be selected explicitly.
    public var detection: FormatDetection?
    /// Who sends heartbeats, and how often; nil if neither side does.
    public var heartbeat: HeartbeatContract?
    /// Which frames are requests and answers.
    public var pairings: [Pairing] = []
    /// The frames that a server relays from one client to others; nil if none.
    public var relay: Relay?
    /// The frames that a server broadcasts to all of its clients, which confirm them; nil if none.
    public var broadcast: Broadcast?
    /// The frame that its conversations begin with; nil if that may be any.
    public var beginning: Beginning?
    /// Where its conversations change to TLS; nil if they do not.
    public var upgrade: TLSUpgrade?
    /// The number in its frames that goes on; nil if there is none.
    public var sequence: SequenceRule?
    /// The states of its conversations; nil if their frames are always the same.
    public var states: ConversationStates?
    /// Values that are redacted by default.
    public var secrets: [Secret] = []
    /// Known bugs of published receivers of this format, by name.
    public var hazards: [String] = []
    /// Whether its streams are split into frames; false if they can only be recognized.
    public var isFramed = true
}
