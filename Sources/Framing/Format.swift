import Expressions
import Streams

/// A wire format: the content of a format file, checked and ready to use.
public struct Format: Sendable {
    /// The name, as in `--format` and in traces.
    public package(set) var name: String
    /// Of a variant of the format of its name, the values of parameters that make it one: `byteOrder=little`; otherwise empty.
    package internal(set) var variant = ""
    /// A one-line description.
    public package(set) var summary: String
    /// The servers' usual ports.
    public package(set) var ports: [UInt16]
    /// The structure of each direction's frames.
    package var directions: PerDirection<DirectionFormat>
    /// How it is recognised by its bytes; nil if it must be selected explicitly.
    package var detection: FormatDetection?
    /// Who sends heartbeats, and how often; nil if neither side does.
    package var heartbeat: HeartbeatContract?
    /// Which frames are requests and answers.
    package var pairings: [Pairing] = []
    /// The frames that a server relays from one client to others; nil if none.
    package var relay: Relay?
    /// The frames that a server broadcasts to all of its clients, which confirm them; nil if none.
    package var broadcast: Broadcast?
    /// The frame that its conversations begin with; nil if that may be any.
    package var beginning: Beginning?
    /// Where its conversations change to TLS; nil if they do not.
    package var upgrade: TLSUpgrade?
    /// The number in its frames that goes on; nil if there is none.
    package var sequence: SequenceRule?
    /// The states of its conversations; nil if their frames are always the same.
    package var states: ConversationStates?
    /// Values that are redacted by default.
    package var secrets: [Secret] = []
    /// Known bugs of published receivers of this format.
    package var hazards: [FormatHazard] = []
    /// Whether its streams are split into frames; false if they can only be recognized.
    package var isFramed = true

    /// The name with the values of a variant, as one asks for it.
    package var label: String { variant.isEmpty ? name : "\(name):\(variant)" }
}
