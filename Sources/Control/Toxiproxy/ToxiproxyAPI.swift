import Framing
import Interception
import NIOHTTP1
import Proxy
import Streams

/// Toxiproxy's HTTP API, so that its client libraries work unmodified (github.com/Shopify/toxiproxy, "HTTP API").
actor ToxiproxyAPI {
    /// The version whose API this is.
    static let version = "2.12.0"
    /// The most toxics of a proxy.
    private static let mostToxics = 50

    private let server: ProxyServer
    private let seed: UInt64
    private let limits: StageChain.Limits
    private var proxies: [String: ToxicProxy] = [:]
    private let changes = RequestQueue()

    init(_ server: ProxyServer, seed: UInt64, limits: StageChain.Limits) {
        (self.server, self.seed, self.limits) = (server, seed, limits)
    }

    /// Answers a request; nil if its path is none of the API's. Requests that change something wait for one another.
    func answer(_ request: HTTPRequest) async -> HTTPResponse? {
        await changes.perform(request) { await self.perform($0) }
    }

    private func perform(_ request: HTTPRequest) async -> HTTPResponse? {
        do {
            return try await route(request)
        } catch let fault as HTTPFault {
            return Self.response(fault)
        } catch {
            return Self.response(HTTPFault(.internalServerError, "\(error)"))
        }
    }

    static func response(_ fault: HTTPFault) -> HTTPResponse {
        HTTPResponse(
            fault.status,
            .object([.init("error", .text(fault.message)), .init("status", .number("\(fault.status.code)"))]))
    }

    private func route(_ request: HTTPRequest) async throws -> HTTPResponse? {
        let isChange = request.method == .POST || request.method == .PATCH
        switch (request.path.count, request.path.first) {
        case (1, "version") where request.method == .GET:
            return HTTPResponse(.ok, .object([.init("version", .text(Self.version))]))
        case (1, "reset") where request.method == .POST: return try await reset()
        case (1, "populate") where request.method == .POST: return try await populate(try request.json())
        case (1, "proxies"):
            if request.method == .GET { return HTTPResponse(.ok, .object(all.map { .init($0.name, $0.json) })) }
            guard request.method == .POST else { return nil }
            return HTTPResponse(.created, try await create(Wanted(request.json())).json)
        case (2, "proxies"):
            let proxy = try proxy(request.path[1])
            if request.method == .GET { return HTTPResponse(.ok, proxy.json) }
            if request.method == .DELETE {
                proxies[proxy.name] = nil
                try await proxy.disable()
                return HTTPResponse(.noContent, text: "")
            }
            guard isChange else { return nil }
            try await change(proxy, try request.json())
            return HTTPResponse(.ok, proxy.json)
        case (3, "proxies") where request.path[2] == "toxics":
            let proxy = try proxy(request.path[1])
            if request.method == .GET { return HTTPResponse(.ok, .array(proxy.toxics.map(\.json))) }
            guard request.method == .POST else { return nil }
            return try await add(Toxic(request.json()), to: proxy)
        case (4, "proxies") where request.path[2] == "toxics":
            return try await toxic(request.path[3], of: try proxy(request.path[1]), request, isChange: isChange)
        default: return nil
        }
    }

    private var all: [ToxicProxy] { proxies.values.sorted { $0.name < $1.name } }

    private func proxy(_ name: String) throws(HTTPFault) -> ToxicProxy {
        guard let proxy = proxies[name] else { throw HTTPFault(.notFound, "proxy not found") }
        return proxy
    }

    // MARK: Proxies

    /// A proxy that a request asks for.
    private struct Wanted {
        let name: String
        let listen: HostPort
        let upstream: HostPort
        let isEnabled: Bool

        /// - Parameter place: its place in a list, from 1; nil: it is the only one.
        init(_ json: JSONValue, place: Int? = nil) throws(HTTPFault) {
            let suffix = place.map { " at proxy \($0)" } ?? ""
            guard case .object = json else { throw HTTPFault(.badRequest, "bad request body: expected an object") }
            guard let name = json["name"]?.string, !name.isEmpty else {
                throw HTTPFault(.badRequest, "missing required field: name\(suffix)")
            }
            guard let upstream = json["upstream"]?.string, !upstream.isEmpty else {
                throw HTTPFault(.badRequest, "missing required field: upstream\(suffix)")
            }
            self.name = name
            listen = try ToxiproxyAPI.address(json["listen"]?.string ?? "", "listen")
            self.upstream = try ToxiproxyAPI.address(upstream, "upstream")
            isEnabled = json["enabled"]?.boolean ?? true
        }
    }

    private func create(_ wanted: Wanted) async throws -> ToxicProxy {
        guard proxies[wanted.name] == nil else { throw HTTPFault(.conflict, "proxy already exists") }
        let proxy = ToxicProxy(
            wanted.name, listen: wanted.listen, upstream: wanted.upstream, of: server, seed: seed, limits: limits)
        proxies[wanted.name] = proxy
        guard wanted.isEnabled else { return proxy }
        do { try await proxy.enable() } catch {
            proxies[wanted.name] = nil
            throw error
        }
        return proxy
    }

    /// An address as Go writes them: without a host it is any.
    private static func address(_ text: String, _ key: String) throws(HTTPFault) -> HostPort {
        if text.isEmpty { return HostPort(host: "127.0.0.1", port: 0) }
        guard let address = HostPort(text.hasPrefix(":") ? "0.0.0.0\(text)" : text) else {
            throw HTTPFault(.badRequest, "bad request body: \(key) is \(text); expected host:port")
        }
        return address
    }

    private func change(_ proxy: ToxicProxy, _ json: JSONValue) async throws {
        guard case .object = json else { throw HTTPFault(.badRequest, "bad request body: expected an object") }
        let enabled = json["enabled"]?.boolean ?? proxy.isEnabled
        let old = proxy.json
        let listen = try Self.address(json["listen"]?.string ?? old["listen"]?.string ?? "", "listen")
        let upstream = try Self.address(json["upstream"]?.string ?? old["upstream"]?.string ?? "", "upstream")
        if !proxy.leads(from: listen, to: upstream) {
            try await proxy.disable()
            proxy.move(listen: listen, upstream: upstream)
        }
        if enabled { try await proxy.enable() } else { try await proxy.disable() }
    }

    /// Makes the proxies of a list; one that exists and leads elsewhere is replaced. If one is wrong, nothing changes.
    private func populate(_ json: JSONValue) async throws -> HTTPResponse {
        guard case .array(let items) = json else { throw HTTPFault(.badRequest, "bad request body: expected an array") }
        let requested = try items.enumerated().map { try Wanted($0.element, place: $0.offset + 1) }
        var made: [JSONValue] = []
        for wanted in requested {
            if let known = proxies[wanted.name] {
                if known.leads(from: wanted.listen, to: wanted.upstream) {
                    if wanted.isEnabled { try await known.enable() } else { try await known.disable() }
                    made.append(known.json)
                    continue
                }
                proxies[wanted.name] = nil
                try await known.disable()
            }
            made.append(try await create(wanted).json)
        }
        return HTTPResponse(.created, .object([.init("proxies", .array(made))]))
    }

    /// Enables all proxies, and removes all toxics.
    private func reset() async throws -> HTTPResponse {
        for proxy in all {
            try await proxy.change { toxics throws(HTTPFault) in toxics = [] }?.wait()
            try await proxy.enable()
        }
        return HTTPResponse(.noContent, text: "")
    }

    // MARK: Toxics

    private func add(_ toxic: Toxic, to proxy: ToxicProxy) async throws(HTTPFault) -> HTTPResponse {
        let added = try proxy.change { toxics throws(HTTPFault) in
            guard !toxics.contains(where: { $0.name == toxic.name }) else {
                throw HTTPFault(.conflict, "toxic already exists")
            }
            guard toxics.count < Self.mostToxics else {
                throw HTTPFault(.badRequest, "the proxy has \(toxics.count) toxics, which is the limit")
            }
            toxics.append(toxic)
        }
        await added?.wait()
        return HTTPResponse(.ok, toxic.json)
    }

    private func toxic(
        _ name: String, of proxy: ToxicProxy, _ request: HTTPRequest, isChange: Bool
    ) async throws(HTTPFault) -> HTTPResponse? {
        guard let known = proxy.toxics.first(where: { $0.name == name }) else {
            throw HTTPFault(.notFound, "toxic not found")
        }
        if request.method == .GET { return HTTPResponse(.ok, known.json) }
        guard isChange || request.method == .DELETE else { return nil }
        let new = isChange ? try Toxic(request.json(), changing: known) : nil
        let changed = try proxy.change { toxics throws(HTTPFault) in
            guard let place = toxics.firstIndex(where: { $0.name == name }) else { return }
            if let new { toxics[place] = new } else { toxics.remove(at: place) }
        }
        await changed?.wait()
        return new.map { HTTPResponse(.ok, $0.json) } ?? HTTPResponse(.noContent, text: "")
    }
}
