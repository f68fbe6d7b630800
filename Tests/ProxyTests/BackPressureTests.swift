import Foundation
import Testing

/// A server that does not read.
@Suite(.serialized) struct BackPressureTests {
    @Test func aSlowReaderSlowsTheSenderAndTheProxyStaysSmall() async throws {
        let ends = try await Ends("slow-reader")
        let proxy = try await ProxyProgram(to: ends.server, ["--as", "none"])
        let before = try proxy.residentBytes()
        try ends.program.send("\(proxy.port)")
        _ = try await ends.program.match(/(stuck)/)
        let after = try proxy.residentBytes()
        try ends.program.send("go on")
        let seen = try await ends.result()
        // Two pairs of sockets hold a few megabytes each; the rest stays with the client.
        let accepted = try #require(seen.numbers["accepted while stuck"])
        #expect(accepted < 32 << 20, "\(seen)")
        #expect(after - before < 24 << 20, "grew from \(before) to \(after)")
        #expect(seen.numbers["server count"] == 64 << 20, "and then everything arrives")
        #expect(seen.text.contains("\"server right\": true"))
        proxy.program.signal(SIGTERM)
        #expect(try await proxy.program.exitStatus() == 0)
    }
}
