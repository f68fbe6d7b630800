import Framing
import Interception
import Streams
import Testing

@testable import Control
@testable import Proxy

/// What toxiproxy's API makes.
@Suite struct ToxicTests {
    /// Toxiproxy's jitter goes both ways; nothing comes before it was sent.
    @Test(arguments: [(100, 20, 80, 40), (100, 0, 100, 0), (10, 30, 0, 40)])
    func jitterMakesItEarlierAndLater(_ latency: Int, _ jitter: Int, _ least: Int, _ width: Int) throws {
        let toxic = try Toxic(
            .object([
                .init("type", .text("latency")),
                .init(
                    "attributes",
                    .object([.init("latency", .number("\(latency)")), .init("jitter", .number("\(jitter)"))])),
            ]))
        #expect(
            toxic.rule.action == .latency(.milliseconds(Int64(least)), jitter: .milliseconds(Int64(width))))
    }

    /// Whoever asks for the same proxy again, with the port that the system chooses, means the one that there is.
    @Test func aProxyIsKnownByWhereItWasAskedToListen() async throws {
        let server = ProxyServer(ProxyOptions([]), queue: RecordingQueue())
        let (listen, upstream) = (HostPort(host: "127.0.0.1", port: 0), HostPort(host: "127.0.0.1", port: 1))
        let proxy = ToxicProxy(
            "slow", listen: listen, upstream: upstream, of: server, seed: 0, limits: StageChain.Limits())
        try await proxy.enable()
        let place = try #require(proxy.json["listen"]?.string.flatMap { HostPort($0) })
        #expect(place.port != 0)
        #expect(proxy.leads(from: listen, to: upstream) && proxy.leads(from: place, to: upstream))
        #expect(!proxy.leads(from: upstream, to: upstream) && !proxy.leads(from: listen, to: place))
        try await proxy.disable()
        try await server.close()
    }
}
