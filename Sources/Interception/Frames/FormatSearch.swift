import Framing
import Streams

/// Recognises the format of a connection by its bytes.
package protocol FormatSearch: AnyObject {
    /// Takes the next bytes of a direction; returns the format, once these settle it.
    func take(_ bytes: RawSpan, from direction: Direction, at time: Timestamp) -> Format?

    /// Whether the format will not be known, whatever follows.
    var isOver: Bool { get }
}
