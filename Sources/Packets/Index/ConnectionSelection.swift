import Streams

/// Which connections of captures are read.
package struct ConnectionSelection: Hashable, Sendable {
    /// Their ends; nil: any.
    package var ends: Set<ConnectionEnds>?
    /// Addresses of which a connection must have one; nil: any.
    package var hosts: Set<IPAddress>?

    /// Those between given ends, and of given hosts.
    package init(ends: Set<ConnectionEnds>? = nil, hosts: Set<IPAddress>? = nil) {
        (self.ends, self.hosts) = (ends, hosts.map { Set($0.map(\.unmapped)) })
    }

    /// Whether a connection is among them.
    package func contains(_ connection: ConnectionEnds) -> Bool {
        if let hosts, !hosts.contains(connection.lower.address), !hosts.contains(connection.upper.address) {
            return false
        }
        return ends?.contains(connection) ?? true
    }
}
