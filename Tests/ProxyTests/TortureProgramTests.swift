import Foundation
import TestSupport
import Testing

/// `frametap torture` as a program, with servers that everybody uses: their receive loops are right.
@Suite struct TortureProgramTests {
    private static func format(_ name: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("docs/examples/\(name).yaml").path
    }

    /// Records a conversation, and tortures the server with it.
    private func torture(
        _ name: String, format: String, _ arguments: [String] = [], _ talk: (Int) async throws -> Void
    ) async throws -> (status: Int32, output: String, errors: String) {
        let served = try await Served(name, format: Self.format(format))
        try await talk(served.proxy.port)
        _ = try await served.proxy.stop()
        let torture = try Program(
            "frametap",
            [
                "torture", "--server", "127.0.0.1:\(served.port)", "--replay",
                served.proxy.files.path("capture.pcapng"), "--format", Self.format(format), "--seed", "1",
            ] + arguments)
        let status = try await torture.exitStatus()
        try served.server.send("")
        _ = try await served.server.exitStatus()
        return (status, torture.output, torture.errors)
    }

    @Test func redis() async throws {
        let result = try await torture("redis", format: "redis", ["--as", "json"]) { port in
            for command in [
                ["set", "a", "größe 見よ"], ["get", "a"], ["rpush", "l", "x", ""], ["lrange", "l", "0", "-1"], ["nosuch"],
            ] {
                _ = try await Program.run("redis-cli", ["-p", "\(port)"] + command)
            }
            _ = try await Program.run("redis-cli", ["-p", "\(port)", "del", "l"])
        }
        let report = try #require(
            try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any], "\(result.errors)")
        #expect(result.status == 0 && report["failed"] as? Int == 0, "\(result.output)")
        #expect((report["least"] as? [Any])?.isEmpty == true)
        #expect(report["cuts"] as? Int ?? 0 > 100)
        #if os(Linux)
        #expect(report["proven"] as? Int == report["cuts"] as? Int)
        #endif
    }

    @Test func postgreSQL() async throws {
        let result = try await torture("postgres", format: "postgresql") { port in
            _ = try await Program.run(
                "psql",
                [
                    "host=127.0.0.1 port=\(port) user=tester dbname=postgres sslmode=disable gssencmode=disable", "-At",
                    "-c", "select 'größe', x from generate_series(1, 3) x",
                ])
        }
        #expect(result.status == 0 && result.output.contains("\nnone of "), "\(result.output)\(result.errors)")
    }

    @Test func mosquitto() async throws {
        let result = try await torture("mosquitto", format: "mqtt", ["--as", "junit"]) { port in
            _ = try await Program.run(
                "mosquitto_pub", ["-h", "127.0.0.1", "-p", "\(port)", "-t", "tests", "-q", "2", "-m", "größe"])
        }
        #expect(result.status == 0 && result.output.contains("failures=\"0\""), "\(result.output)\(result.errors)")
    }

    @Test func whatCannotBePlayedIsAnError() async throws {
        let folder = try Folder()
        let trace = try folder.write(Array("{}\n".utf8), to: "trace.ndjson")
        for (arguments, why) in [
            (["--server", "127.0.0.1:1", "--replay", trace], "there is no \"event\""),
            (["--server", "127.0.0.1:1"], "--server needs --replay"),
            (["--client", "true", "--to", "127.0.0.1:1"], "--client needs --format"),
        ] {
            let torture = try Program("frametap", ["torture"] + arguments)
            #expect(try await torture.exitStatus() != 0)
            #expect(torture.errors.contains(why), "\(torture.errors)")
        }
    }
}
