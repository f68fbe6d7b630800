import Foundation
import TestSupport
import Testing

/// `frametap proxy --rule`, between real sockets.
@Suite struct RuleProgramTests {
    private struct Session {
        let ends: Ends
        let proxy: ProxyProgram
        private var count = 0

        init(_ arguments: [String], _ options: [String] = []) async throws {
            ends = try await Ends(arguments: options, script: "rules.py")
            proxy = try await ProxyProgram(to: ends.server, ["--format", "line"] + arguments)
            try ends.program.send("\(proxy.port)")
        }

        /// What both ends of a connection get whose client sends these lines.
        mutating func say(_ lines: String) async throws -> [String: String] {
            count += 1
            try ends.program.send(lines)
            let deadline = ContinuousClock.now + Program.patience
            while ends.program.output.split(separator: "\n").count < count + 1 {
                guard ContinuousClock.now < deadline else {
                    throw Program.Failure(description: "the ends say nothing:\n\(ends.program.errors)")
                }
                try await Task.sleep(for: .milliseconds(5))
            }
            let line = ends.program.output.split(separator: "\n")[count]
            return try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String])
        }
    }

    @Test func rulesApplyAndTheTraceSaysSo() async throws {
        var session = try await Session([
            "--rule", "drop: body.text == \"two\" and from == client", "--rule",
            "delay: 30 ms; when: body.text == \"three\"",
            "--rule", "replace: { body: { text: cinq } }; when: body.text == \"five\"; name: french", "--seed", "5",
        ])
        let seen = try await session.say("one;two;three;four;five")
        #expect(seen["server got"] == "one\nthree\nfour\ncinq\n", "\(seen)")
        #expect(seen["client got"] == "one\nthree\nfour\ncinq\n" && seen["server end"] == "fin", "\(seen)")
        // A FIN follows what was delayed, even if its sender is gone by then.
        #expect(seen["client end"] == "fin", "\(seen)")
        let trace = try await session.proxy.stop()
        #expect(session.proxy.program.errors.contains("rules apply; seed 5"))
        let actions = trace.filter { $0.event == "action" }
        #expect(actions.map { $0["rule"] } == ["drop-1", "delay-2", "french", "delay-2"], "\(actions.map(\.text))")
        #expect(actions.map { $0["detail"] } == ["", "30 ms later", "", "30 ms later"])
        #expect(actions[2]["before"] == "666976650a" && actions[2]["after"] == "63696e710a", "\(actions[2].text)")
        // What each side sent is what the trace has; the recording decodes to the same lines.
        #expect(trace.count { $0.event == "frame" && $0.from == "client" && $0["leg"] == "in" } == 5)
        #expect(trace.count { $0.event == "frame" && $0.from == "client" && $0["leg"] == "out" } == 4)
        let capture = session.proxy.files.path("capture.pcapng")
        let offline = try traceLines(
            try await Program.run("frametap", ["decode", capture, "--format", "line", "--as", "ndjson"]))
        for event in ["action", "frame", "closed"] {
            #expect(offline.filter { $0.event == event }.map(\.text) == trace.filter { $0.event == event }.map(\.text))
        }
        let shown = try await Program.run("frametap", ["decode", capture, "--format", "line", "--leg", "out"])
        #expect(shown.contains("cinq") && !shown.contains("five") && shown.contains("#1 out"), "\(shown)")
        let both = try await Program.run("frametap", ["decode", capture, "--format", "line", "--leg", "both"])
        #expect(both.contains("cinq") && both.contains("five"), "\(both)")
        let usual = try await Program.run("frametap", ["decode", capture, "--format", "line"])
        #expect(usual.contains("five") && !usual.contains("#1 out"), "\(usual)")
        // What is compared is what both sides sent, or what was passed on.
        let golden = try session.proxy.files.write(
            Array(offline.filter { $0["leg"] != "out" }.map { $0.text + "\n" }.joined().utf8), to: "golden.ndjson")
        _ = try await Program.run("frametap", ["diff", golden, capture, "--format", "line"])
        let different = try Program("frametap", ["diff", golden, capture, "--format", "line", "--leg", "out"])
        #expect(try await different.exitStatus() == 1)
        // For other programs, each leg is a connection.
        for leg in ["in", "out"] {
            let one = session.proxy.files.path("\(leg).pcapng")
            _ = try await Program.run(
                "tshark", ["-r", capture, "-Y", "frame.interface_name == \"frametap:\(leg)\"", "-w", one])
            let tshark = try await Program.run(
                "tshark", ["-r", one, "-Y", "tcp.analysis.flags", "-T", "fields", "-e", "frame.number"])
            #expect(tshark.split(separator: "\n").count <= actions.count, "only duplicate acknowledgments: \(tshark)")
        }
    }

    #if os(Linux)
    /// The server reads each piece by itself, and that is proven, even if it is busy in between.
    @Test(arguments: [[], ["busy"]]) func cutsAreSeenByTheReceiver(options: [String]) async throws {
        var session = try await Session(
            ["--rule", "segment: every-byte; from: client", "--rule", "segment: merge 2; from: server"], options)
        let text = (0..<30).map { "line \($0)" }.joined(separator: ";")
        let seen = try await session.say(text)
        let count = text.utf8.count + 1
        #expect(seen["server read"] == String(repeating: "1 ", count: count), "\(seen)")
        #expect(seen["server got"] == seen["client got"] && seen["server end"] == "fin" && seen["client end"] == "fin")
        let trace = try await session.proxy.stop()
        let actions = trace.filter { $0.event == "action" && $0.from == "client" }
        #expect(
            actions.count == 30 && actions.allSatisfy { $0.text.contains("\"proven\":true") }, "\(actions.map(\.text))")
        // Frames that are written together are reported, too.
        let merged = trace.filter { $0.event == "action" && $0.from == "server" }
        #expect(!merged.isEmpty && merged.allSatisfy { $0["rule"] == "segment-2" }, "\(merged.map(\.text))")
    }
    #endif

    /// A reset by a rule reaches both ends, and is one in the trace.
    @Test(arguments: ["reset: 5 B; from: client", "truncate: 1; when: body.text == \"two\"", "refuse:"])
    func resets(rule: String) async throws {
        var session = try await Session(["--rule", rule])
        let seen = try await session.say("one;two;three")
        #expect(seen["client end"] == "reset" && seen["server end"] == "reset", "\(seen)")
        // A server that writes notices the reset before it has read everything.
        #expect((rule == "refuse:" ? "" : "one\nt").hasPrefix(seen["server got"] ?? "nothing"), "\(seen)")
        let trace = try await session.proxy.stop()
        #expect(trace.filter { $0.event == "closed" }.map { $0["reason"] } == ["rule", "rule"])
        #expect(trace.count { $0.event == "action" } == 1)
    }

    /// A rule that does nothing is probably not what was meant: a test with it would test nothing.
    @Test func rulesThatApplyToNothingAreNamed() async throws {
        var session = try await Session([
            "--rule", "drop: body.text == \"two\"; name: dropping", "--rule",
            "drop: body.text == \"tow\"; name: misspelled",
            "--rule", "latency: 1 ms; name: slow", "--rule",
            "replace: { body: { text: \"a\\nb\" } }; when: body.text == \"one\"; name: impossible",
        ])
        #expect(try await session.say("one;two;three")["server got"] == "one\nthree\n")
        _ = try await session.proxy.stop()
        let errors = session.proxy.program.errors
        #expect(errors.contains("the rule misspelled applied to no frame"), "\(errors)")
        // Nor was one that could not do what it says.
        #expect(errors.contains("the rule impossible applied to no frame"), "\(errors)")
        #expect(!errors.contains("the rule dropping") && !errors.contains("the rule slow"), "\(errors)")
    }

    /// The server closes once a rule has ended what the client sends: what the client goes on to send is discarded, not held.
    @Test(arguments: ["half-close: 14; from: client", "limit: 14; end: fin; from: client"])
    func whatFollowsAnEndIsDiscarded(rule: String) async throws {
        let server = try Program(
            "python3",
            [
                "-c",
                """
                import socket
                listener = socket.create_server(("127.0.0.1", 0))
                print(listener.getsockname()[1], flush=True)
                connection, _ = listener.accept()
                while connection.recv(4096):
                    pass
                connection.close()
                """,
            ])
        let port = try #require(Int(try await server.match(/(\d+)\n/)))
        let proxy = try await ProxyProgram(to: port, ["--format", "line", "--rule", rule])
        let client = try Program(
            "python3",
            [
                "-c",
                """
                import socket, sys
                client = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=20)
                client.sendall(b"line 0\\nline 1\\n")
                while client.recv(4096):
                    pass
                for _ in range(256):
                    try:
                        client.sendall(b"x" * 65535 + b"\\n")
                    except (BrokenPipeError, ConnectionResetError):
                        break
                print("sent", flush=True)
                """, "\(proxy.port)",
            ])
        #expect(try await client.exitStatus() == 0, "\(client.errors)")
        #expect(client.output == "sent\n")
        let trace = try await proxy.stop()
        #expect(trace.count { $0.event == "closed" } == 2)
        server.signal(SIGKILL)
    }

    /// The format is recognised by the first frames, which pass.
    @Test func rulesApplyToWhatIsRecognised() async throws {
        let ends = try await Ends(script: "rules.py")
        let proxy = try await ProxyProgram(to: ends.server, ["--rule", "drop: type == \"txt\" and from == client"])
        try ends.program.send("\(proxy.port)")
        func frame(_ type: String) -> String {
            "{\"CinentID\":\"A\",\"size\":\"1\",\"targetID\":\"B\",\"type\":\"\(type)\"}\\r\\nx"
        }
        try ends.program.send("raw " + ["txt", "img", "txt", "img"].map(frame).joined(separator: "|"))
        let line = try await ends.program.match(/(\{.*\})\n/)
        let seen = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String])
        let got = try #require(seen["server got"])
        #expect(got.ranges(of: "txt").count == 1 && got.ranges(of: "img").count == 2, "\(got)")
        let trace = try await proxy.stop()
        #expect(trace.contains { $0.event == "format" && $0["format"] == "im-json" })
        #expect(trace.filter { $0.event == "action" }.map { $0[number: "index"] } == [2])
    }

    @Test func aFileIsReadAgainWhenItChanges() async throws {
        let folder = try Folder()
        let path = try folder.write(Array("rules: [drop: body.text == \"one\"]".utf8), to: "rules.yaml")
        var session = try await Session(["--rules", path])
        #expect(try await session.say("one;two")["server got"] == "two\n")
        _ = try folder.write(Array("rules: [drop: body.text == \"two\"]".utf8), to: "rules.yaml")
        _ = try await session.proxy.program.match(/(rules.yaml has changed: 1 rules)/, inErrors: true)
        #expect(try await session.say("one;two")["server got"] == "one\n")
        _ = try folder.write(Array("rules: [drop: bdy.text == \"two\"]".utf8), to: "rules.yaml")
        _ = try await session.proxy.program.match(
            /(rules.yaml:1:15: .*\n.*the rules stay as they were)/, inErrors: true)
        #expect(try await session.say("one;two")["server got"] == "one\n")
        _ = try await session.proxy.stop()
    }

    @Test(arguments: [
        (
            ["--rule", "drop: tpye == 1", "--format", "line"], Int32(2),
            "--rule:1:7: drop: there is no value tpye; did you mean type?"
        ),
        (["--seed", "3"], 64, "--seed needs --rule, --rules or --control"),
        (["--rules", "/nowhere.yaml"], 2, "cannot open /nowhere.yaml"),
    ]) func whatIsWrongIsReported(arguments: [String], status: Int32, text: String) async throws {
        let program = try Program("frametap", ["proxy", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:1"] + arguments)
        #expect(try await program.exitStatus() == status)
        #expect(program.errors.contains(text), "\(program.errors)")
    }
}
