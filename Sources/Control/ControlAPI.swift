import Framing
import NIOHTTP1
import Proxy

/// The control API of a running proxy: toxiproxy's API, for its client libraries.
package struct ControlAPI: Sendable {
    private let toxiproxy: ToxiproxyAPI

    /// - Parameter seed: decides what happens by chance.
    package init(_ server: ProxyServer, seed: UInt64) { toxiproxy = ToxiproxyAPI(server, seed: seed) }

    /// Listens on an address.
    package func serve(at address: HostPort) async throws -> ControlServer {
        do {
            return try await ControlServer.start(host: address.host, port: address.port) {
                await answer($0, at: address)
            }
        } catch {
            throw ControlFailure(description: "cannot listen on \(address): \(connectionCause(of: error))")
        }
    }

    /// Why the control API cannot listen.
    package struct ControlFailure: Error, CustomStringConvertible {
        package var description: String
    }

    private func answer(_ request: HTTPRequest, at address: HostPort) async -> HTTPResponse {
        // A page in a browser must not reach it, neither by name (DNS rebinding) nor directly.
        guard Self.isAllowed(host: request.headers.first(name: "host"), at: address) else {
            return ToxiproxyAPI.response(
                HTTPFault(.forbidden, "the Host header names another host; expected \(address)"))
        }
        if request.headers.first(name: "user-agent")?.hasPrefix("Mozilla/") ?? false {
            return ToxiproxyAPI.response(HTTPFault(.forbidden, "User agent not allowed"))
        }
        if let response = await toxiproxy.answer(request) { return response }
        return HTTPResponse(.notFound, text: "404 page not found\n")
    }

    /// Whether a request means this server: by an address, `localhost`, or the name that it listens on.
    static func isAllowed(host: String?, at address: HostPort) -> Bool {
        guard let host else { return false }
        let name = (HostPort(host)?.host ?? host).lowercased()
        let bare = name.hasPrefix("[") && name.hasSuffix("]") ? String(name.dropFirst().dropLast()) : name
        return bare == "localhost" || bare == address.host.lowercased() || HostPort(host: bare, port: 0).isLiteral
    }
}
