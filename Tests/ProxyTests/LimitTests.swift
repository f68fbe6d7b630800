import Foundation
import TestSupport
import Testing

/// Timeouts, limits, and what happens when records cannot be written.
@Suite struct LimitTests {
    private func play(_ scenario: String, _ arguments: [String]) async throws -> (Ends.Seen, [TraceLine], ProxyProgram)
    {
        let ends = try await Ends(scenario, script: "listeners.py")
        let proxy = try await ProxyProgram(to: ends.server, ["--format", "chunk"] + arguments)
        try ends.program.send("\(proxy.port)")
        let seen = try await ends.result()
        return (seen, try await proxy.stop(), proxy)
    }

    @Test func theClientTooManyIsRefusedAndCounted() async throws {
        let (seen, trace, proxy) = try await play("crowd", ["--max-connections", "2"])
        #expect(seen["third"] == "reset" && seen["fourth"] == "more", "\(seen)")
        let refused = trace.count { $0.event == "closed" && $0["reason"] == "refused-by-limit" }
        #expect(refused >= 1)
        #expect(proxy.program.errors.contains("refused clients beyond the limit of connections: \(refused)\n"))
    }

    @Test func silenceEndsAConnectionIfAskedTo() async throws {
        let (seen, trace, _) = try await play("idle", ["--idle-timeout", "2", "--keep-alive", "5"])
        #expect(seen["end"] == "reset", "\(seen)")
        let closed = try #require(trace.first { $0.event == "closed" })
        #expect(closed["reason"] == "timeout" && closed["by"] == nil, "\(closed.text)")
        #expect(closed.number("bytes", of: "client") == 5 && closed.number("bytes", of: "server") == 5)
    }

    @Test func openConnectionsMayEndFirst() async throws {
        let ends = try await Ends("talk", script: "listeners.py")
        let proxy = try await ProxyProgram(to: ends.server, ["--format", "chunk", "--drain", "30"])
        try ends.program.send("\(proxy.port)")
        _ = try await ends.program.match(/(open)/)
        proxy.program.signal(SIGTERM)
        _ = try await proxy.program.match(/(waiting up to 30.0 s)/, inErrors: true)
        try ends.program.send("go on")
        let seen = try await ends.result()
        #expect(seen["got"] == "again" && seen["end"] == "fin", "\(seen)")
        #expect(try await proxy.program.exitStatus() == 0)
        let closed = try traceLines(proxy.files.text("trace.ndjson")).first { $0.event == "closed" }
        #expect(closed?["reason"] == "fin")
    }

    @Test func aSecondSignalEndsAtOnce() async throws {
        let ends = try await Ends("talk", script: "listeners.py")
        let proxy = try await ProxyProgram(to: ends.server, ["--drain", "1000"])
        try ends.program.send("\(proxy.port)")
        _ = try await ends.program.match(/(open)/)
        proxy.program.signal(SIGTERM)
        _ = try await proxy.program.match(/(waiting up to)/, inErrors: true)
        // One right after the first is the same one.
        try await Task.sleep(for: .milliseconds(350))
        proxy.program.signal(SIGTERM)
        #expect(try await proxy.program.exitStatus() == -SIGTERM)
    }

    /// Starts a proxy by a shell command, followed by its arguments.
    private func relay(_ command: String) async throws -> (Ends.Seen, errors: String) {
        let ends = try await Ends("pour", script: "listeners.py")
        let path = try Program.find("frametap").path
        let proxy = try Program(
            "bash",
            [
                "-c", command, path, "proxy", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:\(ends.server)",
                "--format", "chunk",
            ])
        let port = try await proxy.match(/listening on 127\.0\.0\.1:(\d+)\n/, inErrors: true)
        try ends.program.send(port)
        let seen = try await ends.result()
        proxy.signal(SIGTERM)
        #expect(try await proxy.exitStatus() == 0)
        return (seen, proxy.errors)
    }

    @Test(arguments: [
        ("exec \"$0\" \"$@\" --trace /dev/full --as none", "cannot write /dev/full: No space left on device"),
        ("exec \"$0\" \"$@\" > /dev/full", "cannot write standard output: No space left on device"),
        (
            "cd $(mktemp -d) && ulimit -f 8 && exec \"$0\" \"$@\" --write w -v > /dev/null",
            "cannot write w: File too large"
        ),
        ("exec \"$0\" \"$@\" -v > >(head -c 1 > /dev/null)", "cannot write standard output: Broken pipe"),
    ]) func whatCannotBeWrittenIsSaidOnceAndRelayingGoesOn(_ command: String, _ message: String) async throws {
        let (seen, errors) = try await relay(command)
        #expect(seen.text.contains("\"right\": true") && seen["end"] == "fin", "\(seen)")
        #expect(errors.split(separator: "\n").count { $0.contains(message) } == 1, "\(errors)")
    }

    @Test func aPipeThatNobodyReadsDoesNotKeepItFromEnding() async throws {
        let ends = try await Ends("pour", script: "listeners.py")
        let script = """
            import os, re, signal, subprocess, sys, time
            proxy = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            print(re.search(r":(\\d+)$", proxy.stderr.readline())[1], flush=True)
            sys.stdin.readline()
            start = time.monotonic()
            proxy.send_signal(signal.SIGINT)
            status = proxy.wait(30)
            print(f"ended with {status} {time.monotonic() - start < 20}", flush=True)
            """
        let folder = try Folder()
        let proxy = try Program(
            "python3",
            [
                "-c", script, try Program.find("frametap").path, "proxy", "--listen", "127.0.0.1:0", "--to",
                "127.0.0.1:\(ends.server)", "--format", "chunk", "-v", "--trace", folder.path("trace"),
            ])
        try ends.program.send(try await proxy.match(/(\d+)\n/))
        let seen = try await ends.result()
        #expect(seen.text.contains("\"right\": true"), "\(seen)")
        try proxy.send("end")
        #expect(try await proxy.match(/ended with (.*)\n/) == "0 True", "\(proxy.errors)")
        #expect(try traceLines(folder.text("trace")).last?.event == "summary")
    }

    @Test func recordsAreTheirOwnersAlone() async throws {
        let ends = try await Ends("plain", script: "listeners.py")
        let proxy = try await ProxyProgram(to: ends.server)
        for name in ["trace.ndjson", "capture.pcapng"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: proxy.files.path(name))
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
        try ends.program.send("\(proxy.port)")
        _ = try await ends.result()
        _ = try await proxy.stop()
    }
}
