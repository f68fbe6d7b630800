import ArgumentParser
import Proxy
import Streams

/// The listeners of a proxy.
struct ListenerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Where clients connect to; may be repeated. Port 0 lets the system choose.",
            discussion: """
                Each address:port or unix:path needs one --to, in the same order. \
                \(ServerChoice.all.map { "At \($0.scheme)://address:port \($0.use)." }.joined(separator: " "))
                """,
            valueName: "address:port"))
    var listen: [ListenOption] = []

    @Option(
        help: ArgumentHelp(
            "The server, or unix:path; one for each --listen with an address or unix:path, in the same order.",
            valueName: "host:port"))
    var to: [Place] = []

    @Option(
        help: ArgumentHelp(
            "Let this address control the proxy over HTTP: frametap's API (docs/control.md), and toxiproxy's, for its client libraries. Port 0 lets the system choose.",
            valueName: "address:port"))
    var control: HostPort?

    @Option(
        help: ArgumentHelp(
            "With --control: the bearer token that requests to /api/v1 need (Authorization: Bearer TOKEN). By default a random one, which is printed.",
            valueName: "token"))
    var controlToken: String?

    func validate() throws {
        _ = try listeners()
        if controlToken?.isEmpty ?? false { throw ValidationError("--control-token is empty; expected a secret") }
    }

    /// The listeners, each with its server.
    func listeners() throws -> [Listener] {
        let plain = listen.filter { $0.server == nil }
        guard plain.count == to.count else { throw ValidationError(mismatch(plain)) }
        var servers = to[...]
        return listen.compactMap { option in
            if let server = option.server { return Listener(listen: option.place, server: server) }
            return servers.popFirst().map { Listener(listen: option.place, server: .fixed($0)) }
        }
    }

    private func mismatch(_ plain: [ListenOption]) -> String {
        func count(_ texts: [String], _ option: String) -> String {
            texts.isEmpty ? "no \(option)" : "\(texts.count) \(option) (\(texts.joined(separator: ", ")))"
        }
        let wanted = count(plain.map { "\($0.place)" }, "--listen for one server each")
        return
            "each --listen needs its --to, in the same order: found \(wanted) and \(count(to.map { "\($0)" }, "--to"))"
            + (plain.count < listen.count ? "; \(Self.schemes) take none" : "")
    }

    /// The listeners without a server of their own: `socks5:// and transparent://`.
    private static var schemes: String { ServerChoice.all.map { "\($0.scheme)://" }.joined(separator: " and ") }

    /// The listeners, as the trace names them.
    static func source(of listeners: [Listener]) -> String {
        let texts = listeners.map { listener in
            switch listener.server {
            case .fixed(let place): "\(listener.listen) to \(place)"
            case .chosen(let choice): "\(choice.scheme)://\(listener.listen)"
            }
        }
        return "proxy " + texts.joined(separator: ", ")
    }
}

/// A value of `--listen`.
struct ListenOption: ExpressibleByArgument {
    var place: Place
    /// How the server is found; nil if `--to` names it.
    var server: Listener.Server?

    init?(argument: String) {
        for choice in ServerChoice.all where argument.hasPrefix("\(choice.scheme)://") {
            guard let address = HostPort(String(argument.dropFirst(choice.scheme.count + 3))) else { return nil }
            (place, server) = (.tcp(address), .chosen(by: choice))
            return
        }
        guard let place = Place(argument) else { return nil }
        self.place = place
    }
}

extension Place: ExpressibleByArgument {
    /// Parses `host:port` or `unix:path`.
    public init?(argument: String) {
        self.init(argument)
    }
}

extension HostPort: ExpressibleByArgument {
    /// Parses `host:port`.
    public init?(argument: String) {
        self.init(argument)
    }
}

/// How a proxy treats connections.
struct RelayOptions: ParsableArguments {
    @Option(help: ArgumentHelp("How long looking up and connecting to a server may take.", valueName: "time"))
    var connectTimeout = TimeAmount(seconds: 10)

    @Option(help: ArgumentHelp("Close a connection, with a reset, after this long without a byte.", valueName: "time"))
    var idleTimeout: TimeAmount?

    @Option(help: ArgumentHelp("Refuse clients while N are connected.", valueName: "count"))
    var maxConnections: Int?

    @Option(
        help: ArgumentHelp(
            "Send TCP keep-alive probes after this long without traffic.", valueName: "time"))
    var keepAlive: TimeAmount?

    @Option(
        help: ArgumentHelp(
            "HAProxy's PROXY protocol: in (clients begin with a header), out or out-v1 (servers get one), or in,out.",
            valueName: "in,out"))
    var proxyProtocol: ProxyProtocolUse?

    @Option(
        help: ArgumentHelp("On SIGINT or SIGTERM, let open connections finish for this long.", valueName: "time"))
    var drain = TimeAmount(seconds: 0)

    @Option(
        help: ArgumentHelp(
            "Relay on this many threads; by default as many as there are processor cores.", valueName: "n"))
    var threads: Int?

    func validate() throws {
        let times = [("--connect-timeout", connectTimeout), ("--idle-timeout", idleTimeout)]
        for (name, value) in times where value?.interval == .seconds(0) {
            throw ValidationError("\(name) is 0; expected a time above 0, such as 500ms or 10s")
        }
        if let threads, !(1...1_024).contains(threads) {
            throw ValidationError("--threads is \(threads); expected 1 to 1024")
        }
        if let keepAlive, !(1...32_767).contains(keepAlive.interval.seconds) {
            throw ValidationError("--keep-alive is \(keepAlive.defaultValueDescription); expected 1s to 32767s")
        }
        if let maxConnections, maxConnections < 1 {
            throw ValidationError("--max-connections is \(maxConnections); expected 1 or more")
        }
    }

    /// The settings of a proxy with these listeners.
    func options(_ listeners: [Listener]) -> ProxyOptions {
        var options = ProxyOptions(listeners)
        options.connectTimeout = connectTimeout.interval.seconds
        options.idleTimeout = idleTimeout?.interval.seconds
        options.keepAlive = keepAlive.map { Int($0.interval.seconds) }
        options.maxConnections = maxConnections ?? DescriptorLimit.connections
        options.proxyProtocol = proxyProtocol ?? ProxyProtocolUse()
        return options
    }
}

extension ProxyProtocolUse: ExpressibleByArgument {
    /// Parses `in`, `out`, `out-v1`, `out-v2`, or `in` and one of the others separated by a comma.
    public init?(argument: String) {
        self.init()
        for part in argument.split(separator: ",", omittingEmptySubsequences: false) {
            switch part {
            case "in": isExpected = true
            case "out", "out-v2": sent = .v2
            case "out-v1": sent = .v1
            default: return nil
            }
        }
    }
}
