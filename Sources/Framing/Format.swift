import Expressions
import Streams

/// A wire format: everything a format file says, checked and ready to use.
public struct Format: Sendable {
    /// The name, as `--format` takes it and traces show it.
    public var name: String
    /// What it is, in a line.
    public var summary: String
    /// The servers' usual ports.
    public var ports: [UInt16]
    /// What each direction's frames are like.
    public var directions: PerDirection<DirectionFormat>
    /// How it is recognised by its bytes; nil where it has to be asked for.
    public var detection: FormatDetection?
    /// Who sends heartbeats, and how often; nil where nobody does.
    public var heartbeat: HeartbeatContract?
    /// Which frames are requests and answers.
    public var pairings: [Pairing] = []
    /// What a server passes on from one client to others; nil where nothing is.
    public var relay: Relay?
    /// What a server sends to all of its clients, which tell that they have it; nil where nothing is.
    public var broadcast: Broadcast?
    /// What its conversations begin with; nil where that may be anything.
    public var beginning: Beginning?
    /// Values that are not shown unless asked for.
    public var secrets: [Secret] = []
    /// What goes wrong at published receivers of this format, by name.
    public var hazards: [String] = []
    /// Whether streams of it are cut into frames; not where it can only be said what they are.
    public var isFramed = true
}
