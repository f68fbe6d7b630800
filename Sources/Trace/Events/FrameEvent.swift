import Framing
import Streams

/// A frame.
public struct FrameEvent: Hashable, Sendable {
    /// The connection's number.
    public var connection: Int
    /// Which leg of it; nil if it has only one.
    public var leg: Leg?
    /// Who sent it.
    public var from: Direction
    /// Its place among the frames of its direction, from 0.
    public var index: Int
    /// When its last byte was seen.
    public var time: Timestamp
    /// When its first byte was seen.
    public var started: Timestamp
    /// Where it begins in its direction's stream.
    public var offset: Int
    /// How many bytes it has.
    public var length: Int
    /// How many chunks it spanned.
    public var segments: Int
    /// Whether it shared one of them.
    public var merged: Bool
    /// Its type.
    public var type: String?
    /// Whether it is a heartbeat.
    public var isHeartbeat: Bool
    /// The head's fields: an object.
    public var fields: JSONValue
    /// The body: an object with its `length`, and one of `text`, `json`, `protobuf` and `hex`.
    public var body: JSONValue

    /// A frame.
    package init(
        connection: Int, leg: Leg? = nil, from: Direction, index: Int, time: Timestamp, started: Timestamp, offset: Int,
        length: Int,
        segments: Int, merged: Bool, type: String?, isHeartbeat: Bool, fields: JSONValue, body: JSONValue
    ) {
        (self.connection, self.leg, self.from, self.index) = (connection, leg, from, index)
        (self.time, self.started, self.offset, self.length) = (time, started, offset, length)
        (self.segments, self.merged) = (segments, merged)
        (self.type, self.isHeartbeat, self.fields, self.body) = (type, isHeartbeat, fields, body)
    }

    /// The value of a field; nil if there is none of that name.
    public func field(_ name: String) -> JSONValue? { fields[name] }
    /// The body if it is text.
    public var text: String? { body["text"]?.string }
    /// The body if it is JSON.
    public var json: JSONValue? { body["json"] }
}
