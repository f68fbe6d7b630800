import Foundation
import TestSupport
import Testing

/// Everyday programs work through the proxy as they do without it.
@Suite struct ProgramsTests {
    private static func script(_ name: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(name).path
    }

    @Test func psql() async throws {
        let served = try await Served("postgres")
        let text = try await Program.run(
            "psql",
            [
                "-h", "127.0.0.1", "-p", "\(served.proxy.port)", "-U", "tester", "-At", "-c",
                "select sum(x), length(string_agg(x::text, ',')) from generate_series(1, 100000) x", "postgres",
            ])
        #expect(text == "5000050000|588894\n")
        #expect(try await served.stop() == ["fin"])
    }

    @Test func redisCLI() async throws {
        let served = try await Served("redis")
        let text = try await Program.run(
            "redis-cli",
            ["-h", "127.0.0.1", "-p", "\(served.proxy.port)", "eval", "return string.rep('x', 1000000)", "0"])
        #expect(text == String(repeating: "x", count: 1_000_000) + "\n")
        #expect(try await served.stop() == ["fin"])
    }

    @Test func mosquittoPub() async throws {
        let served = try await Served("mosquitto")
        let to = ["-h", "127.0.0.1", "-p", "\(served.proxy.port)", "-t", "tests"]
        let subscriber = try Program("mosquitto_sub", to + ["-C", "1"])
        // The subscriber does not report when it is ready: the retained message waits for it.
        _ = try await Program.run("mosquitto_pub", to + ["-q", "2", "-r", "-m", "it works"])
        #expect(try await subscriber.exitStatus() == 0)
        #expect(subscriber.output.contains("it works"), "\(subscriber.output)")
        #expect(try await served.stop().count == 2)
    }

    @Test func ssh() async throws {
        let served = try await Served("sshd")
        let user = NSUserName()
        let text = try await Program.run(
            "ssh",
            [
                "-F", "none", "-p", "\(served.proxy.port)", "-i", served.folder.path("key"), "-o", "BatchMode=yes",
                "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "\(user)@127.0.0.1",
                "head -c 1000000 /dev/zero | tr '\\0' x",
            ])
        #expect(text == String(repeating: "x", count: 1_000_000))
        #expect(try await served.stop().count == 1)
    }

    @Test(arguments: ["send-proxy", "send-proxy-v2"]) func haproxy(_ kind: String) async throws {
        // After the proxy, HAProxy reports which client address it received; before the proxy, it sends one. It inherits its
        // listeners: a port that was free a moment ago may already be in use by another test.
        try Program.need("haproxy", "curl")
        let folder = try Folder()
        let haproxy = try Program(
            "python3",
            [
                "-c",
                """
                import os, socket, sys
                listeners = [socket.create_server(("127.0.0.1", 0)) for _ in "ab"]
                for listener in listeners: os.set_inheritable(listener.fileno(), True)
                print("listeners:", *[f"{x.getsockname()[1]} {x.fileno()}" for x in listeners], flush=True)
                os.execvp("haproxy", ["haproxy", "-f", sys.stdin.readline().strip()])
                """,
            ])
        // Without the end of the line, it may be the beginning of what is printed.
        let listeners = try await haproxy.match(#/listeners: (.+)\n/#).split(separator: " ").compactMap { Int($0) }
        try #require(listeners.count == 4, "\(listeners)")
        let (port, front, back) = (listeners[0], listeners[1], listeners[3])
        let proxy = try await ProxyProgram(
            to: listeners[2], ["--proxy-protocol", kind == "send-proxy" ? "in,out-v1" : "in,out", "--format", "chunk"])
        let configuration = try folder.write(
            Array(
                """
                defaults
                    timeout connect 20s
                    timeout client 20s
                    timeout server 20s
                listen front
                    mode tcp
                    bind fd@\(front)
                    server tap 127.0.0.1:\(proxy.port) \(kind)
                frontend back
                    mode http
                    bind fd@\(back) accept-proxy
                    http-request return status 200 content-type text/plain lf-string "%[src]:%[src_port]"

                """.utf8), to: "haproxy.cfg")
        try haproxy.send(configuration)
        let text = try await Program.run(
            "curl", ["-sS", "-m", "30", "-w", " %{local_port}", "http://127.0.0.1:\(port)/"])
        let parts = text.split(separator: " ")
        try #require(parts.count == 2 && parts[0] == "127.0.0.1:\(parts[1])", "\(text)")
        haproxy.signal(SIGTERM)
        _ = try await haproxy.exitStatus()
        let clients = try await proxy.stop().filter { $0.event == "opened" }.compactMap { $0["client"] }
        #expect(clients.contains("127.0.0.1:\(parts[1])"), "\(clients)")
    }

    #if os(Linux)
    @Test func aRedirectedClientGetsWhereItMeantTo() async throws {
        let played = try await Redirection(in: Folder())
        let trace = played.trace
        #expect(
            played.said == ["10.9.0.1 hello", "fd09::1 hello", "10.9.0.1 reset", "127.0.0.1 reset"],
            "\(played.output)")
        let opened = trace.filter { $0.event == "opened" }
        #expect(opened.prefix(2).map { $0["server"] } == ["10.9.0.1:9000", "[fd09::1]:9000"])
        #expect(opened.first?["client"]?.hasPrefix("10.9.0.2:") == true)
        let findings = trace.filter { $0.event == "finding" }.compactMap { $0["message"] }
        let cameBack = findings.filter { $0.contains("exempt the proxy from redirection") }
        // The connection that began the loop failed, too: at once, or by the reset that follows.
        #expect(cameBack.count == 1 && findings.count <= 3, "a connection that came back came back once: \(findings)")
        #expect(findings.contains { $0.contains("that is this proxy itself") })
    }
    #endif
}
