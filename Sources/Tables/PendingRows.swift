import Framing
import Streams
import Trace

/// Where rows are kept that wait for too long, such as a file.
package protocol RowStore: AnyObject {
    /// Keeps bytes; returns where they are. It reports errors itself.
    func append(_ bytes: [UInt8]) -> Range<Int>

    /// Bytes that were kept; fewer if they cannot be read, which it reports.
    func read(_ place: Range<Int>) -> [UInt8]
}

/// A connection whose rows wait until it is over: only then is it known which files they belong to.
final class PendingConnection {
    /// The connection, or its first leg.
    let connection: TracedConnection
    /// How many began like it, with itself.
    let alike: Int
    /// Whether its rows are wanted.
    let isWanted: Bool
    // Nothing that writes a row comes back to it.
    @exclusivity(unchecked) var rows = RowBuffer()
    /// The rows before those that are in a store.
    var stored: [Range<Int>] = []
    /// How many of the rows are frames.
    var frames = 0
    /// What is known about its TLS, as JSON.
    var tls: String?
    var endings: [LegEnding] = []

    /// How one of its legs ended.
    struct LegEnding {
        var leg: Leg?
        var closing: Closing
        var counts: PerDirection<ByteCounts>
        var format: (name: String, by: String)?
    }

    init(_ connection: TracedConnection, alike: Int, isWanted: Bool) {
        (self.connection, self.alike, self.isWanted) = (connection, alike, isWanted)
    }
}

/// The ends of a connection, as text.
struct ConnectionTexts: Hashable {
    var client: String
    var server: String

    init(client: String, server: String) { (self.client, self.server) = (client, server) }

    init(_ opening: Opening) { (client, server) = (opening.client.description, opening.server.description) }

    /// Both ends in the order of their text, whichever of them is the client: what `--connection-of` takes.
    var pair: String { client < server ? "\(client)-\(server)" : "\(server)-\(client)" }

    /// An end's address, without its port.
    static func address(of end: String) -> String {
        guard let colon = end.utf8.lastIndex(of: UInt8(ascii: ":")) else { return end }
        return String(end[..<colon])
    }
}
