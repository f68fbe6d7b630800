import Packets
import Streams

/// The ends of open connections as a capture shows them, of which no two are the same: a reader would take their packets for those of
/// one connection.
///
/// Clients may have the same address and port at the same time: at several listeners, or in headers of the PROXY protocol. The one
/// that connected first keeps its port.
struct DistinctEnds {
    private struct Shown {
        /// As they are.
        var given: ConnectionEnds
        /// As they are shown; nil if no free port was found for them.
        var ends: ConnectionEnds?
        var client: Endpoint
        /// How many legs of the connection are open.
        var legs = 1
    }

    /// By the connection's number: both legs have the same ends.
    private var open: [Int: Shown] = [:]
    private var used: Set<ConnectionEnds> = []
    /// Ports that systems give to clients (RFC 6335 section 6), the highest first.
    private static let ports = UInt16(49_152)...UInt16.max
    private var lastPort = Self.ports.lowerBound

    /// How many ports are tried.
    private static let mostTries = 1_024

    /// The client of a connection, or leg, that opens, as the capture shows it. If no free port is found, it is shown as it is.
    mutating func client(of opening: Opening) -> Endpoint {
        let given = ConnectionEnds(opening.client, opening.server)
        if let shown = open[opening.number], shown.given == given {
            open[opening.number]?.legs += 1
            return shown.client
        }
        let free = used.contains(given) ? other(than: opening.client, to: opening.server) : opening.client
        let ends = free.map { ConnectionEnds($0, opening.server) }
        if let ends { used.insert(ends) }
        let client = free ?? opening.client
        open[opening.number] = Shown(given: given, ends: ends, client: client)
        return client
    }

    private mutating func other(than client: Endpoint, to server: Endpoint) -> Endpoint? {
        for _ in 0..<Self.mostTries {
            lastPort = lastPort == Self.ports.lowerBound ? Self.ports.upperBound : lastPort - 1
            let other = Endpoint(client.address, lastPort)
            if !used.contains(ConnectionEnds(other, server)) { return other }
        }
        return nil
    }

    /// A connection, or a leg of it, is over.
    mutating func closed(_ number: Int) {
        guard var shown = open.removeValue(forKey: number) else { return }
        shown.legs -= 1
        if shown.legs > 0 { open[number] = shown } else if let ends = shown.ends { used.remove(ends) }
    }
}
