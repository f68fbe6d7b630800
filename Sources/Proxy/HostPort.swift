import Streams

/// An address as people write it: `127.0.0.1:8088`, `[::1]:80`, `chat.example.com:8088`.
package struct HostPort: Hashable, Sendable, CustomStringConvertible {
    /// A name or an address, without brackets.
    package var host: String
    /// The port; 0 lets the system choose one to listen on.
    package var port: Int

    /// An address from its two parts.
    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Parses an address; nil if the text is not one.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        // A resolver may take * for this machine alone, HAProxy's users mean every address: 0.0.0.0 or [::].
        guard !host.isEmpty, host != "*" else { return nil }
        self.init(host: String(host), port: Int(port))
    }

    /// Whether only this machine can reach it.
    package var isLoopback: Bool {
        // An IPv4 address in IPv6's notation is the IPv4 address.
        host == "localhost" || IPAddress(text: host).map { Endpoint($0, 0).unmapped.address.isLoopback } == true
    }

    /// Whether the host is an address, not a name.
    package var isLiteral: Bool { IPAddress(text: host) != nil }

    /// The address as it was written.
    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
