import Foundation
import Framing
import Streams
import Testing
import Trace

/// Third-party programs at the ends of the proxy.
@Suite struct ToolsTests {
    @Test func socatCarriesFilesBothWays() async throws {
        let files = try Folder()
        var generator = SystemRandomNumberGenerator()
        let sent = [0, 1].map { _ in (0..<2 << 20).map { _ in UInt8(truncatingIfNeeded: generator.next()) } }
        let fromClient = try files.write(sent[0], to: "from client")
        let fromServer = try files.write(sent[1], to: "from server")
        let patience = ["-d", "-d", "-t", "20"]
        let server = try Program(
            "socat",
            patience + ["TCP-LISTEN:0,bind=127.0.0.1", "OPEN:\(fromServer)!!CREATE:\(files.path("at server"))"])
        let port = try #require(Int(try await server.match(/listening on .*:(\d+)\n/, inErrors: true)))
        let proxy = try await RunningProxy(to: port)
        let client = try Program(
            "socat",
            patience + ["TCP:127.0.0.1:\(proxy.port)", "OPEN:\(fromClient)!!CREATE:\(files.path("at client"))"])
        #expect(try await client.exitStatus() == 0)
        #expect(try await server.exitStatus() == 0)
        #expect(files.bytes("at server") == sent[0])
        #expect(files.bytes("at client") == sent[1])
        let recording = try await proxy.stop()
        #expect(try recording.endings().map { $0.prefix(3) } == ["fin"])
        #expect(recording.summary.total.bytes.bytes == 4 << 20)
        #expect(recording.summary.dropped == 0)
    }

    @Test(arguments: [["--bidir"], ["-R"], ["-P", "4"]]) func iperf3IsSatisfied(_ how: [String]) async throws {
        let (server, port) = try await Program.serving("iperf3", ready: /(listening) on/) {
            ["-s", "-1", "--forceflush", "-B", "127.0.0.1", "-p", "\($0)"]
        }
        let proxy = try await RunningProxy(to: port)
        let result = try await Program.run(
            "iperf3", ["-c", "127.0.0.1", "-p", "\(proxy.port)", "-n", "4M", "-J", "--connect-timeout", "20000"] + how)
        #expect(try await server.exitStatus() == 0)
        let report = try #require(try JSONSerialization.jsonObject(with: Data(result.utf8)) as? [String: Any])
        let end = try #require(report["end"] as? [String: Any])
        func bytes(_ key: String) throws -> Int { try #require((end[key] as? [String: Any])?["bytes"] as? Int) }
        let recording = try await proxy.stop()
        // The receiver stops counting when the sender is done, which may be before it has read anything.
        // With both directions, iperf3 ends when one of them has passed all.
        let other = how == ["--bidir"] ? try bytes("sum_received_bidir_reverse") : 0
        #expect(try max(bytes("sum_sent"), other) >= 4_000_000)
        #expect(try recording.summary.total.bytes.bytes >= bytes("sum_received"))
        #expect(recording.summary.total.connections == (how == ["-P", "4"] ? 5 : how == ["--bidir"] ? 3 : 2))
    }
}
