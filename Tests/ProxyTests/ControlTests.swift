import Foundation
import Framing
import Pipeline
import Streams
import TestSupport
import Testing

@testable import frametap

/// `proxy --control`: toxiproxy's API, with a real client and a real server.
@Suite struct ControlTests {
    @Test func toxicsDoWhatToxiproxySays() async throws {
        let folder = try Folder()
        let proxy = try Program(
            "frametap",
            [
                "proxy", "--control", "127.0.0.1:0", "--as", "none", "--seed", "7", "--format", "chunk", "--trace",
                folder.path("trace.ndjson"),
            ])
        let port = try await proxy.match(/control on http:\/\/127\.0\.0\.1:(\d+); token/, inErrors: true)
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("control.py")
        let client = try Program("python3", [script.path])
        _ = try await client.match(/(ready)\n/)
        try client.send(port)
        let ended = try await client.exitStatus()
        #expect(ended == 0, "\(client.errors)")
        let line = try #require(client.output.split(separator: "\n").last)
        let seen = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        func text(_ key: String) -> String { "\(seen[key] ?? "nothing")" }
        func number(_ key: String) -> Double { seen[key] as? Double ?? .nan }
        func status(_ key: String) -> Int? { (seen[key] as? [Any])?.first as? Int }
        func message(_ key: String) -> String { (seen[key] as? [Any])?.last as? String ?? "" }

        // Proxies and errors.
        #expect(seen["created"] as? Int == 201)
        #expect(status("again") == 409 && message("again").contains("proxy already exists"))
        #expect(status("nameless") == 400 && message("nameless").contains("missing required field: name"))
        #expect(seen["no json"] as? Int == 400)
        #expect(status("bad toxic") == 400 && message("bad toxic").contains("invalid toxic type"))
        #expect(status("bad stream") == 400 && message("bad stream").contains("either upstream or downstream"))
        #expect(seen["no proxy"] as? Int == 404)
        #expect(status("no path") == 404 && message("no path") == "404 page not found\n")
        #expect(seen["browser"] as? Int == 403 && seen["other host"] as? Int == 403)
        #expect((seen["version"] as? [String: String])?["version"]?.isEmpty == false)

        // Toxics. A busy machine makes everything later, and nothing earlier.
        #expect(seen["plain"] as? Bool == true && status("latency") == 200)
        #expect(number("latency took") >= 0.3)
        #expect(seen["less latency"] as? [String: Int] == ["latency": 100, "jitter": 0])
        #expect(number("bandwidth took") >= 0.4 && seen["bandwidth right"] as? Bool == true)
        #expect(text("rate 0 got") == "silence" && text("rate 0 then") == "kept")
        #expect(text("limit before") == "more" && seen["limit after"] as? [AnyHashable] == [200, "fin"])
        #expect(number("reset_peer took") >= 0.2)
        #expect(number("slow_close took") >= 0.4 && text("slow_close end") == "fin")
        #expect(number("timeout took") >= 0.29 && seen["timeout got"] as? [AnyHashable] == [0, "fin"])
        #expect(text("silent got") == "silence" && text("silent end") == "fin")
        #expect((seen["reset_peer"] as? [Any])?.last as? String == "reset")
        #expect(seen["reset at once"] as? Int == 30)
        #expect(seen["limit_data"] as? [AnyHashable] == [10, "fin"])
        #expect(number("slicer took") >= 0.1 && seen["slicer right"] as? Bool == true)
        let share = try #require(seen["toxicity"] as? Int)
        #expect((15...45).contains(share), "\(share) of 60 with a toxicity of 0.5")

        // Disabling, reset, populate, deleting.
        #expect(seen["before disabling"] as? Bool == true)
        #expect(seen["disabled"] as? Bool == false && text("disabled end") == "reset")
        #expect(text("disabled connect") == "refused")
        #expect(seen["reset"] as? Int == 204 && seen["after reset"] as? Bool == true)
        #expect(seen["populated"] as? Int == 201 && seen["populated works"] as? Bool == true)
        #expect(seen["proxies"] as? [String] == ["p", "r"])
        let wrong = (seen["wrong items"] as? [[Any]] ?? []).map { ($0.first as? Int, $0.last as? String ?? "") }
        #expect(wrong.map(\.0) == [400, 400, 400, 400] && seen["unchanged"] as? Bool == true, "\(wrong)")
        #expect(wrong.first?.1.contains("missing required field: upstream at proxy 3") == true, "\(wrong)")
        #expect(wrong.dropFirst().first?.1.contains("missing required field: name at proxy 3") == true, "\(wrong)")
        #expect(status("taken") == 500 && message("taken").contains("in use"))
        #expect(seen["deleted"] as? Int == 204 && seen["left"] as? [String] == ["p"])

        proxy.signal(SIGTERM)
        #expect(try await proxy.exitStatus() == 0)
        // What toxics did is in the trace.
        let trace = try traceLines(folder.text("trace.ndjson"))
        let actions = trace.filter { $0.event == "action" }
        #expect(Set(actions.compactMap { $0["rule"] }).isSuperset(of: ["timeout_downstream", "reset_peer_downstream"]))
        // A connection that was open when its proxy was disabled, with four bytes each way: the command ended it.
        let disabled = trace.filter { line in
            line.event == "closed" && ["client", "server"].allSatisfy { line.number("bytes", of: $0) == 4 }
        }
        #expect(disabled.map { $0["reason"] } == ["rule", "rule"], "\(disabled.map(\.text))")
        #expect(disabled.allSatisfy { $0.text.contains("\"by\":null") })
    }

    @Test func eachTestHasItsOwnListener() async throws {
        let proxy = try Program("frametap", ["proxy", "--control", "127.0.0.1:0", "--as", "none", "--format", "line"])
        let port = try await proxy.match(/control on http:\/\/127\.0\.0\.1:(\d+); token/, inErrors: true)
        let token = try await proxy.match(/; token ([0-9a-f]{32})\n/, inErrors: true)
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "control_api.py")
        let client = try Program("python3", [script.path])
        _ = try await client.match(/(ready)\n/)
        try client.send("\(port) \(token)")
        _ = try await client.match(/(open)\n/)
        try await sendIntoAConnection(port, token)
        try client.send("done")
        let ended = try await client.exitStatus()
        #expect(ended == 0, "\(client.errors)")
        let line = try #require(client.output.split(separator: "\n").last)
        let seen = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        func strings(_ key: String) -> [String] { seen[key] as? [String] ?? [] }
        func fault(_ key: String, _ status: Int, _ text: String) -> Bool {
            guard let pair = seen[key] as? [Any], let message = pair.last as? String else { return false }
            return pair.first as? Int == status && message.contains(text)
        }
        #expect(seen["opened"] as? Int == 201 && seen["named by itself"] as? String == "listener-2")
        #expect(strings("early") == ["first"] && strings("late") == ["third"])
        #expect(seen["passed"] as? String == "third\n")
        #expect(fault("none", 408, "go on with after="))
        #expect(strings("two") == ["elsewhere", "elsewhere"])
        #expect(strings("events").prefix(3) == ["opened", "format", "frame"] && strings("events").contains("action"))
        #expect(seen["pages"] as? Bool == true)
        #expect(seen["injected"] as? Int == 204 && seen["injected got"] as? String == "from nowhere\n")
        #expect(seen["injected echo"] as? String == "echo me\n" && seen["uncut"] as? String == "uncut\n")
        #expect(fault("bad frame", 400, "\"from\"") && fault("bad body", 400, "txt"))
        #expect(fault("no connection", 404, "connection 99"))
        #expect(strings("changed").isEmpty && seen["without rule"] as? String == "secret\n")
        #expect(strings("trace") == ["trace", "opened"] && strings("listeners") == ["listener-2", "one"])
        #expect(strings("followed") == ["before", "after"], "\(strings("followed"))")
        #expect(fault("bad bytes", 400, "hexadecimal") && seen["nothing new"] as? [AnyHashable] == [])
        let capture = try #require((seen["capture"] as? String).flatMap { Hexadecimal.bytes($0.utf8) })
        let decoded = try DecodedCapture(capture, options: DecodingOptions(.fixed(FormatOptions.format("line"))))
            .lines()
        let frames = decoded.filter { $0.event == "frame" && $0.from == "client" }
        #expect(
            frames.filter { $0["leg"] == "in" }.map { $0.text(of: "body", "text") }
                == ["before", "", "secret", "after"])
        #expect(
            frames.filter { $0["leg"] == "out" }.map { $0.text(of: "body", "text") } == ["before", "", "after", "raw"])
        #expect(seen["deleted"] as? Int == 204 && seen["after deleting"] as? String == "reset")
        #expect(seen["the other one"] as? String == "still here\n")
        #expect(seen["before the stop"] as? String == "go\n" && seen["decided"] as? Int == 204)
        #expect(seen["edited"] as? String == "edited\nafter\n" && seen["dropped"] as? String == "next\n")
        #expect(seen["released"] as? String == "stop\n" && seen["let go"] as? String == "stop\n")
        #expect(seen["stopped at once"] as? Int == 20)
        #expect(fault("bad decision", 400, "release, drop or replace"))
        #expect(fault("bad breakpoint", 400, "breakpoints[0], column 8"))
        #expect(fault("not held", 409, "is not held") && fault("decided twice", 409, "is not held"))
        #expect(
            fault("two lines", 400, "the body contains the delimiter") && fault("bytes and body", 400, "no \"body\""))
        #expect(seen["scheme in lower case"] as? Int == 200 && fault("empty name", 400, "\"name\" is empty"))
        #expect(strings("openapi").contains("/api/v1/listeners/{name}/wait"))
        #expect(fault("no token", 401, "Authorization: Bearer") && seen["wrong token"] as? Int == 401)
        #expect(seen["form"] as? Int == 415 && fault("no json", 400, "no JSON") && seen["other host"] as? Int == 403)
        #expect(fault("unknown key", 400, "there is no key rule; known are name"))
        #expect(fault("bad rule", 400, "rules[0]: ") && fault("bad rule", 400, "dealy"))
        #expect(fault("no format", 400, "rules for frames need") && fault("bad format", 400, "lin"))
        #expect(fault("bad condition", 400, "column 8") && fault("no condition", 400, "expected when"))
        #expect(seen["nowhere"] as? Int == 404 && fault("gone", 404, "there is no listener one"))
        #expect(seen["twice"] as? Int == 409)
        proxy.signal(SIGTERM)
        #expect(try await proxy.exitStatus() == 0)
    }

    /// `frametap send` into the connection of the listener `streamed`.
    private func sendIntoAConnection(_ port: String, _ token: String) async throws {
        let place = ["--control", "127.0.0.1:\(port)", "--token", token, "--listener", "streamed", "--format", "line"]
        let events = "http://127.0.0.1:\(port)/api/v1/listeners/streamed"
        let listener = try await Program.run("curl", ["-s", "-H", "Authorization: Bearer \(token)", events])
        let number = try #require(listener.firstMatch(of: /"connections":\[(\d+)\]/)?.1)
        let sent = try await Program.run(
            "frametap",
            ["send"] + place + [
                "--connection", "\(number)", #"{"body":{"text":"hello"}}"#, #"{"body":{"text":"${text}!"}}"#,
            ])
        let answers = try traceLines(sent)
        #expect(answers.map { $0.text(of: "body", "text") } == ["hello", "hello!"], "\(sent)")
        let varied = try await Program.run(
            "frametap",
            ["send"] + place + ["--connection", "\(number)", "--vary", "body.text=a,b", #"{"body":{"text":"x"}}"#])
        #expect(try traceLines(varied).map { $0.text(of: "body", "text") } == ["a", "b"], "\(varied)")
        let folder = try Folder()
        let into = ["send"] + place + ["--connection", "\(number)"]
        for options in [["--as", "none"], ["--as", "ndjson", "--output", folder.path("answers")]] {
            let printed = try await Program.run("frametap", into + options + [#"{"body":{"text":"quiet"}}"#])
            #expect(printed == "", "\(options)")
        }
        #expect(try traceLines(folder.text("answers")).map { $0.text(of: "body", "text") } == ["quiet"])
        for (options, name) in [
            (["--as", "summary"], "--as summary"), (["--time", "relative"], "--time"), (["--verbose"], "--verbose"),
            (["--body-limit", "1"], "--body-limit"), (["--color", "always"], "--color"),
        ] {
            let refused = try Program("frametap", into + options + [#"{"body":{"text":"x"}}"#])
            #expect(try await refused.exitStatus() == 64)
            #expect(refused.errors.contains("Error: \(name) cannot be used with --control: "), "\(refused.errors)")
        }
        // In the server's name: the client says nothing to it.
        let silent = try Program(
            "frametap",
            ["send"] + place + [
                "--connection", "\(number)", "--timeout", "0.2s", #"{"body":{"text":""}}"#, "--from", "server",
            ])
        #expect(try await silent.exitStatus() == 1 && silent.errors.contains("no answer in 0.2 s"), "\(silent.errors)")
        let nowhere = try Program("frametap", ["send"] + place + ["--connection", "99", #"{"body":{"text":"x"}}"#])
        #expect(try await nowhere.exitStatus() == 2)
        #expect(nowhere.errors.contains("connection 99 of the listener streamed is not open"), "\(nowhere.errors)")
        let both = try Program("frametap", ["send", "--to", "127.0.0.1:1"] + place + [#"{}"#])
        #expect(try await both.exitStatus() == 64)
    }

    /// An echo server, and a client of a listener that the API has opened, which stays until its input ends.
    private static let staying = """
        import json, socket, sys, threading, urllib.request
        def echo(listener):
            connection = listener.accept()[0]
            while data := connection.recv(100):
                connection.sendall(data)
        listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=echo, args=(listener,), daemon=True).start()
        body = {"to": f"127.0.0.1:{listener.getsockname()[1]}", "name": "one", "format": "fixed:size=4"}
        headers = {"Authorization": "Bearer T", "Content-Type": "application/json"}
        request = urllib.request.Request(
            f"http://127.0.0.1:{sys.argv[1]}/api/v1/listeners", json.dumps(body).encode(), headers)
        host, port = json.load(urllib.request.urlopen(request, timeout=20))["listen"].rsplit(":", 1)
        with socket.create_connection((host, int(port)), 20) as sock:
            sock.sendall(b"abcd")
            print("echoed", sock.recv(4).decode(), flush=True)
            sys.stdin.readline()
        """

    /// A proxy that does not know the format records no frames: that the server did not answer would be wrong.
    @Test(arguments: [true, false]) func sendSaysThatTheProxyNeedsTheFormat(_ knowsFormat: Bool) async throws {
        let proxy = try Program(
            "frametap",
            ["proxy", "--control", "127.0.0.1:0", "--control-token", "T", "--as", "none"]
                + (knowsFormat ? ["--format", "fixed:size=4"] : []))
        let port = try await proxy.match(/control on http:\/\/127\.0\.0\.1:(\d+)\n/, inErrors: true)
        let client = try Program("python3", ["-c", Self.staying, port])
        #expect(try await client.match(/echoed (\w+)\n/) == "abcd")
        let sent = try Program(
            "frametap",
            [
                "send", "--control", "127.0.0.1:\(port)", "--token", "T", "--listener", "one", "--connection", "1",
                "--format", "fixed:size=4", "--timeout", knowsFormat ? "20s" : "0.5s", #"{"body":{"text":"efgh"}}"#,
            ])
        #expect(try await sent.exitStatus() == (knowsFormat ? 0 : 1), "\(sent.errors)")
        #expect(sent.errors.contains("start the proxy with --format") == !knowsFormat, "\(sent.errors)")
        #expect(sent.output.contains("efgh") == knowsFormat, "\(sent.output)")
        try client.send("")
        _ = try await client.exitStatus()
        proxy.signal(SIGTERM)
        #expect(try await proxy.exitStatus() == 0)
    }

    /// An echo server, and a client of a listener that one of the APIs has opened, at which a line waits.
    private static let waiting = """
        import json, socket, sys, threading, urllib.request
        def echo(listener):
            connection = listener.accept()[0]
            while data := connection.recv(100):
                connection.sendall(data)
        def post(path, body):
            headers = {"Authorization": "Bearer T", "Content-Type": "application/json"}
            request = urllib.request.Request(f"http://127.0.0.1:{sys.argv[1]}{path}", json.dumps(body).encode(), headers)
            return json.load(urllib.request.urlopen(request, timeout=20))
        listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=echo, args=(listener,), daemon=True).start()
        server = f"127.0.0.1:{listener.getsockname()[1]}"
        if sys.argv[2] == "frametap":
            stop = 'body.text == "stop"'
            opened = post("/api/v1/listeners", {"to": server, "format": "line", "breakpoints": [stop]})
        else:
            opened = post("/proxies", {"name": "slow", "upstream": server})
            toxic = {"type": "latency", "stream": "upstream", "attributes": {"latency": 600000}}
            post("/proxies/slow/toxics", toxic)
        host, port = opened["listen"].rsplit(":", 1)
        with socket.create_connection((host, int(port)), 20) as sock:
            sock.sendall(b"stop\\n")
            print(sock.recv(100).decode(), end="")
        """

    /// What nobody decides about, and what would be late, passes after the time that the command line sets.
    @Test(arguments: ["frametap", "toxiproxy"]) func limitsHoldForListenersOfTheAPIs(_ api: String) async throws {
        let proxy = try Program(
            "frametap",
            [
                "proxy", "--control", "127.0.0.1:0", "--control-token", "T", "--as", "none", "--format", "line",
                "--hold-timeout", "300ms",
            ])
        let port = try await proxy.match(/control on http:\/\/127\.0\.0\.1:(\d+)\n/, inErrors: true)
        let output = try await Program.run("python3", ["-c", Self.waiting, port, api])
        #expect(output == "stop\n")
        proxy.signal(SIGTERM)
        #expect(try await proxy.exitStatus() == 0)
    }

    /// A client of a listener of the command line, then what the API knows of its connection, which is closed by then.
    private static let given = """
        import json, socket, sys, threading, time, urllib.parse, urllib.request
        def get(path):
            headers = {"Authorization": "Bearer T"}
            request = urllib.request.Request(f"http://127.0.0.1:{control}/api/v1/listeners{path}", None, headers)
            return urllib.request.urlopen(request, timeout=20).read()
        def answer(listener):
            connection = listener.accept()[0]
            connection.sendall(connection.recv(100))
            connection.close()
        listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=answer, args=(listener,), daemon=True).start()
        print("server", listener.getsockname()[1], flush=True)
        port = int(sys.stdin.readline())
        control = sys.stdin.readline().strip()
        with socket.create_connection(("127.0.0.1", port), 20) as sock:
            sock.sendall(b"hello\\n")
            while sock.recv(100):
                pass
        name = urllib.parse.quote(json.loads(get(""))["listeners"][0]["name"], safe="")
        path = "/" + name
        def events():
            return [event["event"] for event in json.loads(get(path + "/events"))["events"]]
        while events()[-1:] != ["closed"]:
            time.sleep(0.01)
        when = urllib.parse.quote('body.text == "hello"')
        waited = json.loads(get(path + "/wait?when=" + when))["events"][0]
        print(json.dumps({
            "connections": json.loads(get(path))["connections"], "waited": waited["connection"],
            "first": events()[0], "capture": len(get(path + "/capture")) > 500}), flush=True)
        """

    @Test func listenersOfTheCommandLineKeepTheirConnections() async throws {
        let client = try Program("python3", ["-c", Self.given])
        let server = try #require(Int(try await client.match(/server (\d+)\n/)))
        let proxy = try await ProxyProgram(
            to: server,
            ["--web", "127.0.0.1:0", "--control", "127.0.0.1:0", "--control-token", "T", "--format", "line"])
        let control = try await proxy.program.match(/control on http:\/\/127\.0\.0\.1:(\d+)\n/, inErrors: true)
        // The listeners are known once the page is there.
        _ = try await proxy.program.match(/(page at )http/, inErrors: true)
        try client.send("\(proxy.port)\n\(control)")
        let ended = try await client.exitStatus()
        #expect(ended == 0, "\(client.errors)")
        let line = try #require(client.output.split(separator: "\n").last)
        let seen = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(seen["connections"] as? [Int] == [1] && seen["waited"] as? Int == 1)
        #expect(seen["first"] as? String == "opened" && seen["capture"] as? Bool == true)
        _ = try await proxy.stop()
    }

    @Test func withoutListenerOrControlNothingStarts() async throws {
        let proxy = try Program("frametap", ["proxy"])
        #expect(try await proxy.exitStatus() != 0)
        #expect(proxy.errors.contains("nothing to listen on; expected --listen ADDRESS:PORT --to"), "\(proxy.errors)")
    }
}
