/// A way to find the server of each client: `--listen SCHEME://A:P`. A new one is an `EntryLayer` with its `ServerChoice`, and a line in
/// `all`.
public struct ServerChoice: Sendable {
    /// How `--listen` names it.
    public let scheme: String
    /// How the line that says where the proxy listens names it.
    public let title: String
    /// Which servers a client may reach this way, for people.
    public let reach: String
    /// Makes the layer of a client.
    let layer: @Sendable () -> any EntryLayer

    /// All there are.
    public static let all: [ServerChoice] = [.socks5, .transparent]

    init(scheme: String, title: String, reach: String, layer: @escaping @Sendable () -> any EntryLayer) {
        (self.scheme, self.title, self.reach, self.layer) = (scheme, title, reach, layer)
    }
}

extension ServerChoice: Hashable {
    /// Whether both have one scheme.
    public static func == (left: ServerChoice, right: ServerChoice) -> Bool { left.scheme == right.scheme }

    /// Hashes the scheme.
    public func hash(into hasher: inout Hasher) { hasher.combine(scheme) }
}
