import NIOCore
import Streams
import TLS

/// Decides whether and how a connection's TLS is decrypted: the last layer, when the server is already connected.
///
/// With `intercept` the server is met first, so that the client is shown what the server negotiated: its protocol (ALPN), its
/// version, and its refusals.
struct TLSLayer: EntryLayer {
    /// How long a client may take to begin with a hello before its connection is relayed as it is.
    static let patience = TimeAmount.seconds(1)

    private enum State {
        case awaitingHello(ClientHelloReader, read: Int)
        case securingServer(ClientHello?)
        case securingClient
        case over
    }

    private let options: TLSOptions
    /// Whether both sides have agreed on TLS: the client has to begin, and nothing else is relayed.
    private let isAgreed: Bool
    private var state = State.over
    /// Whether a hello takes longer than `patience`.
    private var isLate = false

    init(_ options: TLSOptions, isAgreed: Bool = false) { (self.options, self.isAgreed) = (options, isAgreed) }

    /// Whether what is not TLS is relayed as it is.
    private var relaysOthers: Bool { options.mode == .intercept && !isAgreed }

    var needsBytes: Bool {
        switch state {
        case .awaitingHello, .securingClient: true
        case .securingServer, .over: false
        }
    }

    mutating func take(_ event: EntryEvent, of connection: inout EntryConnection) -> [EntryAction] {
        switch (event, state) {
        case (.began, _): return begin(connection)
        case (.bytes, .awaitingHello(let reader, let count)): return read(reader, count, &connection)
        case (.woke, .awaitingHello(let reader, let count)) where count > 0 && !isLate:
            // A hello is on its way.
            (state, isLate) = (.awaitingHello(reader, read: count), true)
            return [.wake(in: .nanoseconds(Int64(options.handshakeTimeout * 1e9)))]
        case (.woke, .awaitingHello): return relaysOthers ? pass() : reject("nothing \(within)")
        // With `server` the client has to begin, whatever the server does.
        case (.serverSpoke, .awaitingHello): return relaysOthers ? pass() : []
        case (.ended, .awaitingHello): return relaysOthers ? pass() : reject("its end")
        case (.secured(.server, let outcome), .securingServer(let hello)): return met(outcome, hello, &connection)
        case (.failed(.server, let fault), .securingServer(let hello)): return refuse(fault, hello, connection)
        case (.secured(.client, let outcome), .securingClient):
            connection.tls?.handshake.fromClient = outcome.wire.fromClient
            if options.mode == .server { connection.tls?.learn(outcome) }
            return pass()
        case (.woke, .securingServer(let hello)):
            return refuse(TLSFault(text: "the server did not complete its handshake \(within)"), hello, connection)
        case (.woke, .securingClient):
            state = .over
            let text = "the client did not complete its handshake \(within)" + Self.target(connection)
            return [.close(EntryFault(text, .tlsFailed, by: .fromClient), isOrderly: false)]
        case (.failed(.client, let fault), .securingClient):
            state = .over
            let text = fault.text + Self.target(connection)
            if fault.isBeforehand { return turnAway(Alert(level: 2, code: 80), text) }
            return [.close(EntryFault(text, .tlsFailed, by: .fromClient), isOrderly: false)]
        default: return []
        }
    }

    private var within: String { "within \(Int(options.handshakeTimeout * 1_000)) ms" }

    /// A handshake, which must not take forever.
    private func secure(_ request: TLSRequest) -> [EntryAction] {
        [.wake(in: .nanoseconds(Int64(options.handshakeTimeout * 1e9))), .secure(request)]
    }

    private mutating func begin(_ connection: EntryConnection) -> [EntryAction] {
        switch options.mode {
        case .pass: return pass()
        case .client:
            state = .securingServer(nil)
            return secure(serverRequest(nil, connection))
        case .intercept:
            state = .awaitingHello(ClientHelloReader(), read: 0)
            return isAgreed ? [] : [.watchServer, .wake(in: Self.patience)]
        case .server:
            state = .awaitingHello(ClientHelloReader(), read: 0)
            return [.wake(in: .nanoseconds(Int64(options.handshakeTimeout * 1e9)))]
        }
    }

    /// The rest of the connection is relayed.
    private mutating func pass() -> [EntryAction] {
        state = .over
        return [.done]
    }

    private mutating func read(
        _ reader: ClientHelloReader, _ count: Int, _ connection: inout EntryConnection
    ) -> [EntryAction] {
        var reader = reader
        let bytes = connection.unread.readableBytesView.dropFirst(count)
        let answer = Array(bytes).withUnsafeBytes { reader.read($0.bytes) }
        switch answer {
        case .needsMore:
            state = .awaitingHello(reader, read: connection.unread.readableBytes)
            return []
        case .hello(let hello): return begin(hello, &connection)
        case .notTLS: return relaysOthers ? pass() : reject("bytes that are not TLS")
        case .unsupported(let name): return relaysOthers ? pass() : reject("a hello of \(name)")
        case .malformed(let reason): return relaysOthers ? pass() : reject(reason)
        }
    }

    private mutating func reject(_ found: String) -> [EntryAction] {
        state = .over
        return [
            .close(
                EntryFault("expected a TLS ClientHello from the client, found \(found)", .tlsFailed, by: .fromClient),
                isOrderly: false)
        ]
    }

    private mutating func begin(_ hello: ClientHello, _ connection: inout EntryConnection) -> [EntryAction] {
        let host = hello.serverName ?? connection.server?.host
        if relaysOthers, let host, options.ignoredHosts.contains(where: { $0.matches(host) }) {
            return pass()
        }
        guard let newest = Self.newest(hello), newest >= options.minimum else {
            let offered = Self.newest(hello).map { "\($0)" } ?? "no version that frametap speaks"
            let text = "the client offers \(offered) at most, which is older than --tls-min"
            return turnAway(Alert(level: 2, code: 70), text)
        }
        // Before the server is asked for anything.
        if let flaw = hello.serverName.flatMap({ options.nameFlaw?($0) }) {
            return turnAway(Alert(level: 2, code: 80), flaw)
        }
        connection.tls = TLSFacts(hello, by: .intercepted)
        guard options.mode == .intercept else {
            let names = hello.serverName.map { [$0] } ?? Self.names(of: connection)
            state = .securingClient
            return secure(TLSRequest(leg: .client, names: names, maximum: newest, key: Self.key(hello, newest)))
        }
        state = .securingServer(hello)
        return secure(serverRequest(hello, connection))
    }

    /// The client gets an alert instead of a handshake.
    private mutating func turnAway(_ alert: Alert, _ text: String) -> [EntryAction] {
        state = .over
        return [
            .sendToClient(Self.record(alert)),
            .close(EntryFault(text, .tlsFailed, by: .fromClient), isOrderly: true),
        ]
    }

    /// What the server is offered: what the client offers, as far as the proxy speaks it, but for a name that the user gave.
    private func serverRequest(_ hello: ClientHello?, _ connection: EntryConnection) -> TLSRequest {
        let name = options.serverName ?? hello?.serverName ?? connection.server?.host
        return TLSRequest(
            leg: .server, names: name.map { [$0] } ?? [], maximum: hello.flatMap(Self.newest) ?? .tls13,
            protocols: (hello?.applicationProtocols ?? []).filter(Self.canBeOffered))
    }

    /// The server's handshake is done: the client gets what the server chose.
    private mutating func met(
        _ outcome: TLSOutcome, _ hello: ClientHello?, _ connection: inout EntryConnection
    ) -> [EntryAction] {
        connection.tls = connection.tls ?? TLSFacts(by: .intercepted)
        connection.tls?.learn(outcome)
        connection.tls?.handshake.fromServer = outcome.wire.fromServer
        connection.tls?.certificate = outcome.certificate.flatMap { options.describe?($0) }
        connection.tls?.isVerified = options.trust != .nothing
        guard let hello else { return pass() }
        let names = hello.serverName.map { [$0] } ?? Self.names(of: connection)
        state = .securingClient
        // An unverified certificate may contain any names.
        let model = options.trust == .nothing ? nil : outcome.certificate
        let version = outcome.version ?? .tls13
        return secure(
            TLSRequest(
                leg: .client, names: names, model: model, maximum: version,
                protocols: outcome.applicationProtocol.map { [$0] } ?? [],
                requestsCertificate: outcome.requestsCertificate, key: Self.key(hello, version)))
    }

    /// The server's handshake failed: the client gets the server's alert, or that of a proxy that cannot go on.
    private mutating func refuse(
        _ fault: TLSFault, _ hello: ClientHello?, _ connection: EntryConnection
    ) -> [EntryAction] {
        state = .over
        let close = EntryAction.close(
            EntryFault(fault.text + Self.target(connection), .tlsFailed), isOrderly: hello != nil)
        guard hello != nil else { return [close] }
        return [.sendToClient(Self.record(fault.alert ?? Alert(level: 2, code: 80))), close]
    }

    /// Whether swift-nio-ssl can offer a protocol: it traps on names that are not ASCII, or too long (RFC 7301 section 3.1).
    private static func canBeOffered(_ name: String) -> Bool {
        (1...255).contains(name.utf8.count) && name.utf8.allSatisfy { $0 < 0x80 }
    }

    // MARK: Facts

    /// The newest version that a client offers and the proxy speaks.
    private static func newest(_ hello: ClientHello) -> ProtocolVersion? {
        let offered = hello.supportedVersions.isEmpty ? [hello.legacyVersion] : hello.supportedVersions
        return offered.filter { (.tls10 ... .tls13).contains($0) }.max()
    }

    /// The kind of key that a client accepts in a version.
    private static func key(_ hello: ClientHello, _ version: ProtocolVersion) -> TLSOptions.KeyKind {
        hello.acceptsP256(in: version) ? .ecdsa : .rsa
    }

    /// For what a client may take the proxy that sends no name: the server, or the address it connected to.
    private static func names(of connection: EntryConnection) -> [String] {
        let address = connection.reached.unmapped.address
        guard let host = connection.server?.host else { return ["\(address)"] }
        return address.isUnspecified || host == "\(address)" ? [host] : [host, "\(address)"]
    }

    private static func target(_ connection: EntryConnection) -> String {
        guard let name = connection.tls?.serverName ?? connection.server?.host else { return "" }
        return " (\(name))"
    }

    /// An alert in a record of its own (RFC 8446 section 6, RFC 5246 section 7.2).
    private static func record(_ alert: Alert) -> [UInt8] { [21, 3, 3, 0, 2, alert.level, alert.code] }
}
