import Interception

/// What a proxy does.
public struct ProxyOptions: Sendable {
    /// The ways in.
    public var listeners: [Listener]
    /// How long a client may take to say which server it wants, and connecting to that server as well, in seconds.
    public var connectTimeout = 10.0
    /// After how many seconds without a byte a connection is closed; nil: never.
    public var idleTimeout: Double?
    /// How many clients may be connected at once; nil: any number.
    public var maxConnections: Int?
    /// After how many seconds of silence the system asks whether the other end is still there; nil: as the system does.
    public var keepAlive: Int?
    /// The headers of HAProxy's PROXY protocol.
    public var proxyProtocol = ProxyProtocolUse()
    /// How long what was read from a side that is gone may take to reach the other side before that is reset, in seconds.
    public var deliveryTimeout = 10.0

    /// Makes the stages of a connection: what is done to its bytes on their way; nil: nothing.
    package var stages: (@Sendable () -> StageChain)?

    /// What a proxy with these ways in does.
    public init(_ listeners: [Listener]) {
        self.listeners = listeners
    }

    /// What a proxy with one way in does.
    public init(listen: HostPort, to: HostPort) {
        self.init([Listener(listen: .tcp(listen), server: .fixed(.tcp(to)))])
    }
}

/// Where headers of the PROXY protocol are expected and sent.
public struct ProxyProtocolUse: Hashable, Sendable {
    /// The versions of the header.
    public enum Version: Hashable, Sendable {
        /// A line of text.
        case v1
        /// Binary.
        case v2
    }

    /// Whether each client begins with a header that names the real client.
    public var isExpected = false
    /// The version of the header that is sent to each server; nil: none.
    public var sent: Version?

    /// Neither expects nor sends headers.
    public init() {}
}
