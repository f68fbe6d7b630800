/// A way to find the server of each client: `--listen SCHEME://A:P`. A new one is an `EntryLayer` with its `ServerChoice`, and a line in
/// `all`.
package struct ServerChoice: Sendable {
    /// How `--listen` names it.
    package let scheme: String
    /// How the line that says where the proxy listens names it.
    package let title: String
    /// What happens at such an address, for the help of `--listen`.
    package let use: String
    /// Which servers a client may reach this way, for people.
    package let reach: String
    /// Makes the layer of a client.
    let layer: @Sendable () -> any EntryLayer

    /// All there are.
    package static let all: [ServerChoice] = [.socks5, .transparent]

    init(scheme: String, title: String, use: String, reach: String, layer: @escaping @Sendable () -> any EntryLayer) {
        (self.scheme, self.title, self.use, self.reach, self.layer) = (scheme, title, use, reach, layer)
    }
}

extension ServerChoice: Hashable {
    /// Whether both have one scheme.
    package static func == (left: ServerChoice, right: ServerChoice) -> Bool { left.scheme == right.scheme }

    /// Hashes the scheme.
    package func hash(into hasher: inout Hasher) { hasher.combine(scheme) }
}
