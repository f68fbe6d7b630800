import Foundation
import Framing
import Proxy
import Streams
import Testing
import TraceDiff

@testable import Torture

/// A small client whose receive loop has an error: torture runs it under every segmentation of what the server says.
@Suite struct PlantedClientTests {
    private func torture(_ bug: String) async throws -> TortureReport {
        let server = try PlantedServer("lines.py", "twice")
        let format = try FormatLoader.load(Conversation.linesFormat(ends: #"\r\n"#), file: "test.yaml")
        var options = TortureOptions(format, Comparison(), seed: 1)
        options.parallel = 4
        let client = PlantedServer.folder.appendingPathComponent("client.py").path
        let report = try await ClientTorture.run(
            "python3 '\(client)' {host} {port} \(bug)", to: HostPort(host: "127.0.0.1", port: server.port), options)
        withExtendedLifetime(server) {}
        return report
    }

    @Test func nothingBreaksAClientThatIsRight() async throws {
        let report = try await torture("none")
        #expect(report.isClean, "\(TortureText.of(report))")
        #if os(Linux)
        #expect(report.proven == report.cuts, "\(TortureText.of(report))")
        #endif
    }

    @Test(arguments: [
        ("read-is-line", 0, "body", "two-part cut"), ("character", 2, "body", "two-part cut"),
        ("rest-lost", 1, "frame", "merge"),
    ])
    func anErrorIsFoundAtItsPlace(_ bug: String, _ index: Int, _ field: String, _ segmentation: String) async throws {
        let report = try await torture(bug)
        let text = TortureText.of(report)
        let least = try #require(report.least.first, "\(text)")
        #expect(least.index == index && least.field == field && least.segmentation == segmentation, "\(text)")
        #expect(least.from == .fromServer && least.symptom == "the client ends with status 1", "\(text)")
    }

    @Test func aClientThatFailsAnywayIsReported() async throws {
        let server = try PlantedServer("lines.py", "none")
        let format = try FormatLoader.load(Conversation.linesFormat(ends: #"\r\n"#), file: "test.yaml")
        let options = TortureOptions(format, Comparison(), seed: 1)
        for (command, why) in [
            ("echo no such thing >&2; exit 3 # {port}", "ends with status 3 without any torture: no such thing"),
            ("true", "expected {port} in it"),
        ] {
            let error = await #expect(throws: TortureError.self) {
                try await ClientTorture.run(
                    command, to: HostPort(host: "127.0.0.1", port: server.port), options)
            }
            #expect(error?.description.contains(why) ?? false, "\(error?.description ?? "")")
        }
        withExtendedLifetime(server) {}
    }
}
