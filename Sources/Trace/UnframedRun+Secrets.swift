import Framing
import Streams

extension UnframedRun {
    /// Why the bytes are unframed, without the text that this quotes if the bytes may hold secrets.
    package func shownDetail(_ direction: Direction, on connection: TracedConnection) -> String {
        detail(hidingText: connection.kinds(of: direction)?.hidesUnframed == true)
    }

    /// Why the bytes are unframed.
    ///
    /// - Parameter hidingText: whether text of the network that is quoted is left out.
    package func detail(hidingText: Bool) -> String {
        // The text may have quotation marks of its own.
        guard hidingText, let first = detail.firstIndex(of: "\""), let last = detail.lastIndex(of: "\""), first < last
        else { return detail }
        return "\(detail[..<first])\"…\"\(detail[detail.index(after: last)...])"
    }
}
