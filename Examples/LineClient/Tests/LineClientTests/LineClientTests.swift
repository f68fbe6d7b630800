import LineClient
import Testing
import TraceTesting

/// The client still speaks the protocol as it did.
@Suite struct LineClientTests {
    /// What the client says through frametap's proxy.
    private func record() async throws -> TestTrace {
        let server = try LineServer()
        return try await recordTrace(format: "line", to: server.address) { proxy in
            let client = try LineClient(host: proxy.host, port: proxy.port)
            #expect(try client.login(as: "ann").hasPrefix("token "))
            #expect(try client.ask("Hello") == "olleH")
            try client.leave()
        }
    }

    @Test func greetsAsksAndLeaves() async throws {
        let trace = try await record()
        #expect(trace.frames(type: "line", from: .client).map(\.text) == ["login ann", "Hello", "quit"])
        #expect(trace.unframed.isEmpty)
        #expect(trace.keepsHeartbeatContract)
        // The token is another one each time: a number in the answer's text, which the mask leaves out.
        try await expectTrace(
            trace, matches: "conversation.golden.ndjson", masking: [try .text(matching: #"token \d+"#)])
    }
}
