import LineClient
import TraceTesting
import XCTest

/// The same in XCTest.
final class XCTestLineClientTests: XCTestCase {
    func testGreetsAndLeaves() async throws {
        let server = try LineServer()
        let trace = try await recordTrace(format: "line", to: server.address) { proxy in
            let client = try LineClient(host: proxy.host, port: proxy.port)
            _ = try client.login(as: "ann")
            _ = try client.ask("Hello")
            try client.leave()
        }
        try await expectTrace(
            trace, matches: "conversation.golden.ndjson", masking: [try .text(matching: #"token \d+"#)])
    }
}
