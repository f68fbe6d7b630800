import Interception
import NIOHTTP1
import Proxy

/// The control API of a running proxy: frametap's own below `/api/v1`, and toxiproxy's, for its client libraries.
package struct ControlAPI: Sendable {
    private let toxiproxy: ToxiproxyAPI
    private let frametap: FrametapAPI
    private let token: String

    /// - Parameters:
    ///   - frametap: frametap's own API.
    ///   - seed: decides what happens by chance.
    ///   - limits: how much the toxics of a connection hold, and for how long.
    ///   - token: what requests of frametap's own API must show.
    package init(
        _ server: ProxyServer, _ frametap: FrametapAPI, seed: UInt64, limits: StageChain.Limits, token: String
    ) {
        toxiproxy = ToxiproxyAPI(server, seed: seed, limits: limits)
        (self.frametap, self.token) = (frametap, token)
    }

    /// Listens on an address.
    package func serve(at address: HostPort) async throws -> ControlServer {
        do {
            return try await ControlServer.start(
                host: address.host, port: address.port, refusal: { refusal(of: $0, at: address) }
            ) {
                await answer($0)
            }
        } catch {
            throw ControlFailure(description: "cannot listen on \(address): \(connectionCause(of: error))")
        }
    }

    /// Why the control API cannot listen.
    package struct ControlFailure: Error, CustomStringConvertible {
        package var description: String
    }

    /// Whether requests are for frametap's own API.
    private static func isOwn(_ request: HTTPRequest) -> Bool { request.path.starts(with: ["api", "v1"]) }

    /// The response to a request that is refused by its head; nil if it is not.
    private func refusal(of request: HTTPRequest, at address: HostPort) -> HTTPResponse? {
        // A page in a browser must not reach it, neither by name (DNS rebinding) nor directly.
        guard Self.isAllowed(host: request.headers.first(name: "host"), at: address) else {
            return ToxiproxyAPI.response(
                HTTPFault(
                    .forbidden, "the Host header names another host; expected \(address.host), localhost or an address")
            )
        }
        if Self.isOwn(request), !isKnown(request) {
            return ToxiproxyAPI.response(
                HTTPFault(
                    .unauthorized,
                    "expected the header Authorization: Bearer TOKEN, with the token that the proxy printed"))
        }
        if !Self.isOwn(request), request.headers.first(name: "user-agent")?.hasPrefix("Mozilla/") ?? false {
            return ToxiproxyAPI.response(HTTPFault(.forbidden, "User agent not allowed"))
        }
        return nil
    }

    /// Answers a request that is not refused.
    private func answer(_ request: HTTPRequest) async -> HTTPResponse {
        if Self.isOwn(request) {
            if !request.body.isEmpty, !Self.isJSON(request.headers.first(name: "content-type")) {
                return ToxiproxyAPI.response(
                    HTTPFault(.unsupportedMediaType, "expected the header Content-Type: application/json"))
            }
            return await frametap.answer(request, Array(request.path.dropFirst(2)))
        }
        if let response = await toxiproxy.answer(request) { return response }
        return HTTPResponse(.notFound, text: "404 page not found\n")
    }

    /// Whether a content type is JSON's: in any case, with any parameters (RFC 9110 section 8.3.1).
    static func isJSON(_ contentType: String?) -> Bool {
        let type = (contentType ?? "").prefix { $0 != ";" }
        return type.split(separator: " ").joined().lowercased() == "application/json"
    }

    /// Whether a request shows the token; the scheme's name may have any case (RFC 9110 section 11.1). The comparison takes equally
    /// long, wherever the texts differ.
    private func isKnown(_ request: HTTPRequest) -> Bool {
        let header = (request.headers.first(name: "authorization") ?? "").split(separator: " ", maxSplits: 1)
        guard header.count == 2, header[0].lowercased() == "bearer" else { return false }
        let (shown, expected) = (Array(header[1].drop { $0 == " " }.utf8), Array(token.utf8))
        guard shown.count == expected.count else { return false }
        return zip(shown, expected).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// Whether a request means this server: by an address, `localhost`, or the name that it listens on.
    static func isAllowed(host: String?, at address: HostPort) -> Bool {
        guard let host else { return false }
        let name = (HostPort(host)?.host ?? host).lowercased()
        let bare = name.hasPrefix("[") && name.hasSuffix("]") ? String(name.dropFirst().dropLast()) : name
        return bare == "localhost" || bare == address.host.lowercased() || HostPort(host: bare, port: 0).isLiteral
    }
}
