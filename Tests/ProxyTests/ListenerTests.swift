import Foundation
import Proxy
import TestSupport
import Testing

/// The listeners of `frametap proxy`, as programs and real sockets use them.
@Suite struct ListenerTests {
    private func ends(_ scenario: String) async throws -> Ends { try await Ends(scenario, script: "listeners.py") }

    /// Plays a scenario through a proxy; returns what the ends saw, and the trace.
    private func play(
        _ scenario: String, _ arguments: (_ server: Int) -> [String]
    ) async throws -> (seen: Ends.Seen, trace: [TraceLine], proxy: ProxyProgram) {
        let ends = try await ends(scenario)
        let proxy = try await ProxyProgram(arguments(ends.server))
        try ends.program.send("\(proxy.port)")
        let seen = try await ends.result()
        return (seen, try await proxy.stop(), proxy)
    }

    private static let socks = ["--listen", "socks5://127.0.0.1:0", "--format", "chunk"]

    @Test func everyWayToAServerIsDocumented() throws {
        let file = URL(filePath: #filePath).appending(path: "../../../docs/proxy.md").standardized
        let text = try String(contentsOf: file, encoding: .utf8)
        for scheme in ServerChoice.all.map(\.scheme) {
            #expect(text.contains("`--listen \(scheme)://A:P`"), "docs/proxy.md lacks \(scheme)")
        }
    }

    @Test func socksClientsNeedNotWaitForAnswers() async throws {
        let (seen, trace, _) = try await play("socks") { _ in Self.socks }
        for name in ["ipv4", "ipv6", "domain"] {
            for cut in ["False", "True"] {
                #expect(seen["\(name) \(cut)"] == "0500 050000", "\(seen)")
                #expect(seen["\(name) \(cut) echo"] == "early bytes", "\(seen)")
            }
        }
        let closed = trace.filter { $0.event == "closed" }
        #expect(closed.count == 6)
        for line in closed {
            #expect(
                line.number("bytes", of: "client") == 11 && line.number("bytes", of: "server") == 11, "\(line.text)")
        }
    }

    @Test func socksClientsLearnWhy() async throws {
        let (seen, trace, proxy) = try await play("socks-codes") { _ in Self.socks }
        let codes = [
            "refused": 5, "own": 2, "own by name": 2, "own mapped": 2, "own unspecified": 2, "unknown": 4, "bind": 7,
            "udp": 7, "type": 8,
        ]
        for (name, code) in codes { #expect(seen[name].hasPrefix("\(code) "), "\(name): \(seen[name])") }
        #expect(seen["password"] == "05ff", "\(seen)")
        let findings = trace.filter { $0.event == "finding" }.compactMap { $0["message"] }
        #expect(findings.count == codes.count + 3, "\(findings)")
        for part in ["that is this proxy itself", "no address for nowhere.invalid", "speaks HTTP", "was gone"] {
            #expect(findings.contains { $0.contains(part) }, "\(part) in \(findings)")
        }
        #expect(proxy.program.errors.contains("(SOCKS 5)"))
    }

    @Test(arguments: [["--socks5"], ["--socks5-hostname"]]) func curlComesInBySOCKS(_ how: [String]) async throws {
        let folder = try Folder()
        _ = try folder.write(Array("it works".utf8), to: "file")
        let server = try Program(
            "python3", ["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", folder.url.path])
        let port = try await server.match(/port (\d+) .*\n/)
        let proxy = try await ProxyProgram(Self.socks)
        let text = try await Program.run(
            "curl", ["-sS", "-m", "20"] + how + ["127.0.0.1:\(proxy.port)", "http://localhost:\(port)/file"])
        #expect(text == "it works")
        let refused = try Program(
            "curl", ["-sS", "-m", "20"] + how + ["127.0.0.1:\(proxy.port)", "http://127.0.0.1:\(proxy.port)/"])
        #expect(try await refused.exitStatus() == 97 && refused.errors.contains("(2)"), "\(refused.errors)")
        _ = try await proxy.stop()
    }

    @Test func pairsByOrderAndANameWithSeveralAddresses() async throws {
        // The server listens only on 127.0.0.1; localhost has ::1 as well.
        let ends = try await ends("plain")
        let proxy = try await ProxyProgram([
            "--listen", "127.0.0.1:0", "--listen", "socks5://127.0.0.1:0", "--listen", "127.0.0.1:0",
            "--to", "localhost:\(ends.server)", "--to", "127.0.0.1:1", "--format", "chunk",
            "--format", "\(ends.server)=im-json",
        ])
        try await eventually("three listen") { proxy.program.errors.split(separator: "\n").count == 3 }
        try ends.program.send("\(proxy.port)")
        #expect(try await ends.result()["got"] == "68656c6c6f fin")
        let trace = try await proxy.stop()
        let server = trace.first { $0.event == "opened" }?["server"]
        #expect(server == "127.0.0.1:\(ends.server)")
        // --format for a server port applies to the server's own port, whichever listener leads there.
        #expect(trace.contains { $0.event == "format" && $0["format"] == "im-json" })
    }

    @Test func aNameThatIsNoneIsSaid() async throws {
        let ends = try await ends("plain")
        // A label of 64 bytes is invalid (RFC 1035 section 2.3.4): no name server has to be queried, which may take time.
        let name = String(repeating: "n", count: 64) + ".invalid"
        let proxy = try await ProxyProgram(["--listen", "127.0.0.1:0", "--to", "\(name):80"])
        try ends.program.send("\(proxy.port)")
        #expect(try await ends.result()["got"] == " reset")
        let message = try await proxy.stop().first { $0.event == "finding" }?["message"]
        #expect(
            message?.hasPrefix("cannot reach \(name):80: no address for \(name): ") == true,
            "\(message ?? "")")
    }

    @Test(arguments: [
        (["--listen", "127.0.0.1:0", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:1"], "2 --listen"),
        (["--listen", "socks5://127.0.0.1:0", "--to", "127.0.0.1:1"], "socks5:// and transparent:// take none"),
        (["--listen", "127.0.0.1:0"], "no --to"),
        (["--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--proxy-protocol", "inside"], "proxy-protocol"),
        (["--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--max-connections", "0"], "--max-connections is 0"),
    ]) func whatDoesNotPairIsWrongUsage(_ arguments: [String], _ part: String) async throws {
        let program = try Program("frametap", ["proxy"] + arguments)
        #expect(try await program.exitStatus() == 64)
        #expect(program.errors.contains(part), "\(program.errors)")
    }

    @Test func headersOfThePROXYProtocolAreTakenOff() async throws {
        let (seen, trace, _) = try await play("header") {
            ["--listen", "127.0.0.1:0", "--to", "127.0.0.1:\($0)", "--proxy-protocol", "in", "--format", "chunk"]
        }
        for name in ["v1", "v1 unknown", "v2", "v2 local"] { #expect(seen[name] == "bytes of \(name) fin", "\(seen)") }
        for name in ["none", "long"] { #expect(seen[name] == " reset", "\(seen)") }
        let clients = trace.filter { $0.event == "opened" }.compactMap { $0["client"] }
        #expect(clients.contains("192.0.2.1:1234") && clients.contains("[::1]:4321"), "\(clients)")
        #expect(clients.count { $0.hasPrefix("127.0.0.1:") } == 4)
        let findings = trace.filter { $0.event == "finding" }.compactMap { $0["message"] }
        #expect(findings.contains { $0.hasPrefix("no PROXY protocol header, but 6e 6f 20 68") }, "\(findings)")
        #expect(findings.contains("a PROXY line that does not end within 107 bytes"), "\(findings)")
    }

    @Test(arguments: ["out", "out-v1"]) func aServerLearnsWhoseConnectionItIs(_ version: String) async throws {
        let (seen, trace, proxy) = try await play("plain") {
            ["--listen", "127.0.0.1:0", "--to", "127.0.0.1:\($0)", "--proxy-protocol", version, "--format", "chunk"]
        }
        let client = try #require(seen.numbers["client"])
        let line = "PROXY TCP4 127.0.0.1 127.0.0.1 \(client) \(proxy.port)\r\n"
        func hex(_ number: Int) -> String { String(format: "%04x", number) }
        let header =
            version == "out-v1"
            ? line.utf8.map { String(format: "%02x", $0) }.joined()
            : "0d0a0d0a000d0a515549540a2111000c7f0000017f000001" + hex(client) + hex(proxy.port)
        #expect(seen["got"] == header + "68656c6c6f fin", "\(seen)")
        let closed = try #require(trace.first { $0.event == "closed" })
        #expect(closed.number("bytes", of: "client") == 5, "the header is the proxy's, not the client's")
    }

    /// A server that speaks first waits for the header, and its client for the server.
    @Test(arguments: ["out", "out-v1"]) func aServerThatSpeaksFirstHasTheHeader(_ version: String) async throws {
        let (seen, _, _) = try await play("greeting") {
            ["--listen", "127.0.0.1:0", "--to", "127.0.0.1:\($0)", "--proxy-protocol", version, "--format", "chunk"]
        }
        let start = version == "out-v1" ? "50524f585920" : "0d0a0d0a000d0a515549540a"
        #expect(seen["server got"].hasPrefix(start), "\(seen)")
        #expect(seen["greeting"] == seen["server got"], "the server's answer to the header: \(seen)")
    }

    @Test func unixSocketsAtBothEnds() async throws {
        let folder = try Folder()
        let ends = try await ends("plain")
        let path = folder.path("in.sock")
        // One proxy's Unix socket is the other one's server; the existing socket file is stale.
        _ = try await Program.run(
            "python3", ["-c", "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])", path])
        let inner = try Program(
            "frametap",
            ["proxy", "--listen", "unix:\(path)", "--to", "127.0.0.1:\(ends.server)", "--trace", folder.path("inner")])
        _ = try await inner.match(/listening on unix:(.*)\n/, inErrors: true)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let second = try Program("frametap", ["proxy", "--listen", "unix:\(path)", "--to", "127.0.0.1:1"])
        #expect(
            try await second.exitStatus() == 2 && second.errors.contains("Address already in use"), "\(second.errors)")
        let proxy = try await ProxyProgram(["--listen", "127.0.0.1:0", "--to", "unix:\(path)"])
        try ends.program.send("\(proxy.port)")
        #expect(try await ends.result()["got"] == "68656c6c6f fin")
        let opened = try await proxy.stop().first { $0.event == "opened" }
        #expect(opened?["server"] == "127.85.78.88:1", "\(opened?.text ?? "")")
        inner.signal(SIGTERM)
        #expect(try await inner.exitStatus() == 0)
        #expect(!FileManager.default.fileExists(atPath: path))
        let client = try traceLines(folder.text("inner")).first { $0.event == "opened" }?["client"]
        #expect(client == "127.85.78.88:1024")
    }

    /// Connecting to a Unix socket succeeds at once, while the client's channel is still being registered: the client is read
    /// all the same, and not only when it ends.
    @Test func aUnixServerAnswersBeforeTheClientEnds() async throws {
        let folder = try Folder()
        let path = folder.path("server.sock")
        let server = try Program(
            "python3",
            [
                "-c",
                """
                import socket, sys
                listener = socket.socket(socket.AF_UNIX); listener.bind(sys.argv[1]); listener.listen()
                print("ready", flush=True)
                while True:
                    peer = listener.accept()[0]
                    while data := peer.recv(100): peer.sendall(data.upper())
                """, path,
            ])
        _ = try await server.match(/(ready)/)
        let proxy = try await ProxyProgram(["--listen", "127.0.0.1:0", "--to", "unix:\(path)"])
        let answers = try await Program.run(
            "python3",
            [
                "-c",
                """
                import socket, sys
                for _ in range(20):
                    peer = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 10)
                    peer.settimeout(10)
                    for _ in range(2):
                        peer.sendall(b"hello")
                        print(peer.recv(100).decode())
                """, "\(proxy.port)",
            ])
        #expect(answers == String(repeating: "HELLO\n", count: 40))
        _ = try await proxy.stop()
        server.signal(SIGTERM)
    }

    @Test func aFileThatIsNoSocketStays() async throws {
        let folder = try Folder()
        let path = try folder.write([1, 2, 3], to: "file")
        let program = try Program("frametap", ["proxy", "--listen", "unix:\(path)", "--to", "127.0.0.1:1"])
        #expect(try await program.exitStatus() == 2)
        #expect(program.errors.contains("no socket") && folder.bytes("file") == [1, 2, 3], "\(program.errors)")
    }

    @Test func listeningWiderIsWarnedOf() async throws {
        let program = try Program("frametap", ["proxy", "--listen", "0.0.0.0:0", "--to", "127.0.0.1:1"])
        _ = try await program.match(/(anybody who can reach 0\.0\.0\.0:\d+ can now connect)/, inErrors: true)
        program.signal(SIGTERM)
        #expect(try await program.exitStatus() == 0)
    }
}
