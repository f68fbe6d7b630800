import Trace
import Streams

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
