import Framing
import Streams

/// A connection opened.
public struct OpenedEvent: Hashable, Sendable {
    /// The connection's number, from 1 in order of opening.
    public var connection: Int
    /// Which leg of it; nil if it has only one.
    public var leg: Leg?
    /// When.
    public var time: Timestamp
    /// Its transport: `tcp`.
    public var transport = "tcp"
    /// The client's address and port.
    public var client: String
    /// The server's address and port.
    public var server: String
    /// Whether the connection was seen from its beginning.
    public var handshake = true
    /// Whether the client was only guessed.
    public var clientGuessed = false
}

/// The format of a connection is known.
public struct FormatEvent: Hashable, Sendable {
    /// The connection's number.
    public var connection: Int
    /// Which leg of it; nil if it has only one.
    public var leg: Leg?
    /// The format's name.
    public var format: String
    /// How it was chosen, such as `content`.
    public var by: String
    /// The evidence for it.
    public var evidence: String
}

/// Bytes that are in no frame: missing, unframed or dropped.
public struct RunEvent: Hashable, Sendable {
    /// The connection's number.
    public var connection: Int
    /// Which leg of it; nil if it has only one.
    public var leg: Leg?
    /// Whose bytes.
    public var from: Direction
    /// When the last of them was seen.
    public var time: Timestamp
    /// Where they begin in their direction's stream.
    public var offset: Int
    /// How many.
    public var length: Int
    /// Why they are in no frame; empty for bytes that were not seen.
    public var reason: String
    /// Human-readable: what was found and expected; empty for all but unframed bytes.
    public var detail: String
    /// The bytes in hex; empty if they were not seen, or are not shown.
    public var hex: String

    /// Bytes that are in no frame.
    package init(
        connection: Int = 0, leg: Leg? = nil, from: Direction, time: Timestamp, offset: Int, length: Int,
        reason: String = "",
        detail: String = "", hex: String = ""
    ) {
        (self.connection, self.leg, self.from, self.time) = (connection, leg, from, time)
        (self.offset, self.length) = (offset, length)
        (self.reason, self.detail, self.hex) = (reason, detail, hex)
    }
}

/// What an analysis found.
public struct FindingEvent: Hashable, Sendable {
    /// The connection's number.
    public var connection: Int
    /// Which leg of it; nil if it has only one.
    public var leg: Leg?
    /// The side responsible for it.
    public var from: Direction
    /// Its date.
    public var time: Timestamp
    /// The kind, such as `heartbeat-gap`.
    public var kind: String
    /// Its severity: `info` or `warning`.
    public var severity: String
    /// For people.
    public var message: String
    /// Machine-readable: an object.
    public var data: JSONValue

    /// How many it counts as: one that stands for those beyond the first ones says how many they are.
    package var occurrences: Int { max(1, data["count"]?.integer ?? 1) }
}

/// A connection is over.
public struct ClosedEvent: Hashable, Sendable {
    /// The connection's number.
    public var connection: Int
    /// Which leg of it; nil if it has only one.
    public var leg: Leg?
    /// When.
    public var time: Timestamp
    /// Why, such as `fin`.
    public var reason: String
    /// Who ended it; nil if no one did.
    public var by: Direction?
    /// The classification of each side's bytes.
    public var counts: PerDirection<ByteCounts>

    /// A connection is over.
    package init(
        connection: Int = 0, leg: Leg? = nil, time: Timestamp, reason: String, by: Direction?,
        counts: PerDirection<ByteCounts> = PerDirection(fromClient: ByteCounts(), fromServer: ByteCounts())
    ) {
        (self.connection, self.leg, self.time, self.reason, self.by) = (connection, leg, time, reason, by)
        self.counts = counts
    }
}
