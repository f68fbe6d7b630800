import Foundation
import Framing
import Proxy
import Streams
import Testing
import TraceDiff

@testable import Torture

/// A small client whose receive loop has an error: torture runs it under every segmentation of what the server says.
@Suite struct PlantedClientTests {
    private func torture(_ bug: String, secret: String = "") async throws -> TortureReport {
        let server = try PlantedServer("lines.py", "twice")
        let format = try FormatLoader.load(Conversation.linesFormat(ends: #"\r\n"#) + secret, file: "test.yaml")
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

    /// Its first connection has no error.
    @Test func anErrorOnAnotherConnectionIsFound() async throws {
        let report = try await torture("second")
        let text = TortureText.of(report)
        let least = try #require(report.least.first, "\(text)")
        #expect(least.connection == 2 && least.index == 1 && least.segmentation == "merge", "\(text)")
        #expect(least.text.contains("of connection 2"), "\(text)")
    }

    /// It gets the right answers, and ends with status 0; what it says is compared even if the format calls it secret.
    @Test(arguments: ["", "\nsecret: [body]"]) func aClientThatSaysSomethingElseIsFound(_ secret: String) async throws {
        let report = try await torture("capitals", secret: secret)
        let text = TortureText.of(report)
        let least = try #require(report.least.first, "\(text)")
        #expect(least.index == 0 && least.field == "body" && least.segmentation == "two-part cut", "\(text)")
        #expect(least.symptom.hasPrefix("what it says differs: ") && !text.contains("LONGER"), "\(text)")
    }

    /// Places at which one cut alone fails are left out of other kinds: these have not passed there.
    @Test(arguments: [("character", 1), ("read-is-line", 0), ("rest-lost", 1)])
    func whatIsLeftOutIsReported(_ bug: String, _ tried: Int) async throws {
        let report = try await torture(bug)
        let text = TortureText.of(report)
        let alone = try #require(report.sections.first { $0.name == "two-part cuts" }, "\(text)")
        let everyByte = try #require(report.sections.first { $0.name == "every-byte" }, "\(text)")
        #expect(everyByte.leftOut == alone.failed && (alone.failed > 0) == (bug != "rest-lost"), "\(text)")
        #expect(everyByte.tried == tried && everyByte.failed == 0, "\(text)")
        for name in ["fields", "random"] {
            let section = try #require(report.sections.first { $0.name == name }, "\(text)")
            #expect(section.leftOut <= alone.failed && section.failed == 0, "\(text)")
        }
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
