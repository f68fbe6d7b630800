import Foundation
import TestSupport
import Testing

/// Published servers as programs, behind `frametap proxy --hazards`.
@Suite struct HazardProgramTests {
    private static func serve(_ format: String, _ hazard: String) async throws -> (server: Program, port: Int) {
        let server = try Program(
            "frametap",
            ["serve", format, "--listen", "127.0.0.1:0", "--as-published", hazard, "--time-scale", "0.05"])
        let port = try await server.match(/listening on 127\.0\.0\.1:(\d+)\n/, inErrors: true)
        return (server, try #require(Int(port)))
    }

    /// A client of im-json that sends texts to itself, and heartbeats until it is disconnected; it prints the texts that it
    /// received.
    private static let client = """
        import json, re, socket, sys
        def frame(kind, target, body):
            head = {"type": kind, "CinentID": "CinentA", "targetID": target, "size": str(len(body))}
            return json.dumps(head, indent=2).encode() + b"\\r\\n" + body
        connection, got = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 20), b""
        for text in sys.argv[2:]:
            connection.sendall(frame("txt", "CinentA", text.encode()))
        connection.settimeout(0.1)
        while True:
            try:
                connection.sendall(frame("heartA", "", b"A"))
                part = connection.recv(65536)
                if not part:
                    break
                got += part
            except TimeoutError:
                continue
            except OSError:
                break
        print(*re.findall(rb"}\\r\\n(\\w+)", got))
        """

    @Test(arguments: [0, 2, 4]) func aRelayGoesDeafAtTheFrameThatIsNamed(index: Int) async throws {
        let (server, port) = try await Self.serve("im-json", "zero-size-body")
        let proxy = try await ProxyProgram(to: port, ["--format", "im-json", "--hazards"])
        var texts = ["a", "b", "c", "d", "e"]
        texts[index] = ""
        // It is evicted despite its heartbeats.
        let got = try await Program.run("python3", ["-c", Self.client, "\(proxy.port)"] + texts)
        server.signal(SIGTERM)
        #expect(try await server.exitStatus() == 0)
        let said = ["asks for exactly 0 bytes: goes deaf", "evicted"]
        #expect(said.allSatisfy(server.output.contains), "\(server.output)")
        let reported = try await proxy.stop().filter { $0.text(of: "data", "hazard") == "zero-size-body" }
        // Earlier data was relayed; nothing after it.
        #expect(got == texts[..<index].map { "b'\($0)'" }.joined(separator: " ") + "\n", "\(server.output)")
        #expect(
            reported.map { $0.from } == ["client"] && reported.first?.number("index", of: "data") == index,
            "\(reported)")
    }

    /// The hazards that the clients' conversation triggers.
    @Test(arguments: [
        ("text-heartbeat", "cut-character"), ("len16-id", "double-append"), ("tlv32", "merged-frames"),
        ("tlv32", "short-first-read"), ("tlv32", "kept-buffer"), ("tlv32", "always-failure"), ("line", "per-read"),
    ])
    func theConversationFailsAndWhyIsReported(format: String, hazard: String) async throws {
        let (server, port) = try await Self.serve(format, hazard)
        let proxy = try await ProxyProgram(to: port, ["--format", format, "--hazards"])
        // Segments that a read must split are sometimes merged if the machine is busy: if so, the test tries again.
        var status: Int32 = 0
        for _ in 0..<20 where status == 0 {
            let client = try Program(
                "frametap", ["connect", format, "--to", "127.0.0.1:\(proxy.port)", "--time-scale", "0.05"])
            status = try await client.exitStatus()
        }
        #expect(status != 0, "\(server.output)")
        server.signal(SIGTERM)
        #expect(try await server.exitStatus() == 0)
        let trace = try await proxy.stop()
        #expect(trace.contains { $0.text(of: "data", "hazard") == hazard }, "\(trace.map(\.text))")
    }
}
