import Control
import NIOCore
import NIOHTTP1
import NIOWebSocket
import Proxy

/// Serves the page on an address of this machine.
package final class PageServer: Sendable {
    private let server: ControlServer
    /// Where it listens.
    package let place: HostPort
    /// The address that a browser opens; it has the token.
    package let address: String

    private init(_ server: ControlServer, _ place: HostPort, _ token: String) {
        (self.server, self.place) = (server, place)
        // A browser does not open the address that means all of them.
        let host = ["0.0.0.0", "::"].contains(place.host) ? "127.0.0.1" : place.host
        address = "http://\(HostPort(host: host, port: place.port))/?token=\(token)"
    }

    /// Why it cannot listen.
    package struct Failure: Error, CustomStringConvertible {
        package var description: String
    }

    /// Listens.
    ///
    /// - Parameters:
    ///   - actions: what the page may do; nil: nothing.
    ///   - capture: makes a capture of some connections; nil where packets are not kept.
    package static func start(
        _ page: Page, at address: HostPort, actions: PageActions? = nil,
        capture: (@Sendable (Set<Int>) -> (bytes: [UInt8], isComplete: Bool))? = nil
    ) async throws -> PageServer {
        let (token, secret) = (PageSafety.secret(), PageSafety.secret())
        let router = LateRouter()
        do {
            let server = try await ControlServer.start(
                host: address.host, port: address.port, upgraders: { [upgrader(page, router)] },
                refusal: { router.now?.refusal(of: $0) }
            ) { request in
                await router.value.answer(request)
            }
            let place = HostPort(host: server.host, port: server.port)
            // Which requests are for it depends on where it listens.
            router.set(
                PageRouter(
                    page: page,
                    safety: PageSafety(host: address.host, at: place, token: token, secret: secret),
                    actions: actions, capture: capture))
            return PageServer(server, place, token)
        } catch {
            throw Failure(description: "cannot listen on \(address): \(connectionCause(of: error))")
        }
    }

    private static func upgrader(_ page: Page, _ router: LateRouter) -> any HTTPServerProtocolUpgrader & Sendable {
        NIOWebSocketServerUpgrader(
            maxFrameSize: 1 << 12,
            shouldUpgrade: { channel, head in
                let isNews = HTTPRequest(head, body: []).map { request in
                    request.path == PageRouter.root + ["news"]
                        && router.now?.safety.judge(request, isWrite: true) == .allowed
                }
                var headers = HTTPHeaders()
                for (name, value) in PageSafety.headers { headers.add(name: name, value: value) }
                return channel.eventLoop.makeSucceededFuture(isNews == true ? headers : nil)
            },
            upgradePipelineHandler: { channel, _ in
                channel.eventLoop.makeCompletedFuture {
                    let news = NewsHandler(page) { router.now?.actions?.switches() ?? 0 }
                    try channel.pipeline.syncOperations.addHandler(news)
                }
            })
    }

    /// Stops listening.
    package func close() { server.close() }
}
