import Streams
import Interception

/// The settings of a proxy.
package struct ProxyOptions: Sendable {
    /// The listeners.
    package var listeners: [Listener]
    /// The time limit for a client to name its server, and for connecting to that server, in seconds.
    package var connectTimeout = 10.0
    /// The idle timeout, in seconds; nil: none.
    package var idleTimeout: Double?
    /// The maximum number of connected clients; nil: unlimited.
    package var maxConnections: Int?
    /// After how many seconds of silence the system sends keepalive probes; nil: the system's default.
    package var keepAlive: Int?
    /// The headers of HAProxy's PROXY protocol.
    package var proxyProtocol = ProxyProtocolUse()
    /// How long bytes read from a side that is gone may take to reach the other side before that side is reset, in seconds.
    package var deliveryTimeout = 10.0

    /// What is done with TLS.
    package var tls = TLSOptions()

    /// Makes the stages of a connection, which process its bytes on their way, by its number from 1 and its server; nil: none.
    package var stages: (@Sendable (_ connection: Int, _ server: Endpoint) -> StageChain?)?

    /// The settings of a proxy with these listeners.
    package init(_ listeners: [Listener]) {
        self.listeners = listeners
    }

    /// The settings of a proxy with one listener.
    package init(listen: HostPort, to: HostPort) {
        self.init([Listener(listen: .tcp(listen), server: .fixed(.tcp(to)))])
    }
}

/// Where headers of the PROXY protocol are expected and sent.
package struct ProxyProtocolUse: Hashable, Sendable {
    /// The versions of the header.
    package enum Version: Hashable, Sendable {
        /// A line of text.
        case v1
        /// Binary.
        case v2
    }

    /// Whether each client's stream begins with a header that names the real client.
    package var isExpected = false
    /// The version of the header sent to each server; nil: none.
    package var sent: Version?

    /// Neither expects nor sends headers.
    package init() {}
}
