import Foundation
import TestSupport
import Testing

/// `serve` and `connect` with `--replay`: what its options do, and which options it does not take.
@Suite struct ReplayOptionsTests {
    /// A server that calls the Python function `answer` with each line of each connection, and sends what that returns.
    private static func server(_ answer: String) throws -> Program {
        let listening = """
            import json, secrets, socket, threading
            def serve(connection):
                with connection.makefile("rwb") as lines:
                    for line in lines:
                        lines.write(answer(line))
                        lines.flush()
            listener = socket.create_server(("127.0.0.1", 0))
            print(listener.getsockname()[1], flush=True)
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
            """
        return try Program("python3", ["-c", answer + "\n" + listening])
    }

    /// Sends every line back, and prints it.
    private static let echo = """
        def answer(line):
            print("got", line.decode().strip(), flush=True)
            return line
        """

    /// What was recorded decrypted is encrypted again, and answers are decrypted.
    @Test func bodiesAreEncryptedAgain() async throws {
        let folder = try Folder()
        let format = try folder.write(
            Array(
                """
                format: sealed
                framing: { rule: delimiter, end: "\\n" }
                body: [{ aes: { input: hex } }, text]

                """.utf8), to: "sealed.yaml")
        let key = ["--key", "sealed=000102030405060708090a0b0c0d0e0f"]
        let server = try Self.server(Self.echo)
        let port = try await server.match(/(\d+)\n/)
        let trace = folder.path("trace.ndjson")
        let send = ["send", "--format", format, "--as", "ndjson"] + key
        let frame = #"{"body":{"text":"hello"}}"#
        _ = try await Program.run("frametap", send + ["--to", "127.0.0.1:\(port)", "--output", trace, frame])
        let recorded = try traceLines(folder.text("trace.ndjson")).filter { $0.event == "frame" }
        #expect(recorded.map { $0.text(of: "body", "text") } == ["hello", "hello"])

        let replay = ["--replay", trace, "--fast"]
        _ = try await Program.run("frametap", ["connect", format, "--to", "127.0.0.1:\(port)"] + replay + key)
        let got = server.output.split(separator: "\n").filter { $0.hasPrefix("got ") }
        #expect(got.count == 2 && got.first == got.last && got.first?.contains("hello") == false, "\(got)")
        let without = try Program("frametap", ["connect", format, "--to", "127.0.0.1:\(port)"] + replay)
        #expect(try await without.exitStatus() == 2)
        #expect(without.errors.contains("give it with --key"), "\(without.errors)")

        let serving = try Program("frametap", ["serve", format, "--listen", "127.0.0.1:0"] + replay + key)
        let own = try await serving.match(/listening on 127\.0\.0\.1:(\d+)\n/, inErrors: true)
        let answered = try await Program.run("frametap", send + ["--to", "127.0.0.1:\(own)", frame])
        let answers = try traceLines(answered).filter { $0.event == "frame" && $0.from == "server" }
        #expect(answers.map { $0.text(of: "body", "text") } == ["hello"], "\(answered)")
        serving.signal(SIGTERM)
        #expect(try await serving.exitStatus() == 0, "\(serving.errors)")
    }

    /// What is played has secrets, what is printed does not show them.
    @Test func secretsAreNotPrinted() async throws {
        let folder = try Folder()
        let format = try folder.write(
            Array(
                """
                format: secretive
                framing: { rule: delimiter, end: "\\n" }
                frame: { type: body.json.type }
                body: json
                secret: [body.password, body.token]

                """.utf8), to: "secretive.yaml")
        let server = try Self.server(Self.tokens)
        let port = try await server.match(/(\d+)\n/)
        let trace = folder.path("trace.ndjson")
        let login = { (password: String) in #"{"body":{"json":{"type":"login","password":"\#(password)"}}}"# }
        let send = ["send", "--format", format, "--as", "ndjson", "--show-secrets"]
        let to = ["--to", "127.0.0.1:\(port)"]
        _ = try await Program.run("frametap", send + to + ["--output", trace, login("hunter2")])
        let recorded = try traceLines(folder.text("trace.ndjson")).filter { $0.event == "frame" }
        let token = try #require(recorded.last?.text.firstMatch(of: /"token":"([0-9a-f]{16})"/)?.1)

        // Each login gets another token.
        let replay = ["--replay", trace, "--fast"]
        for isShown in [false, true] {
            let option = isShown ? ["--show-secrets"] : []
            let connecting = try Program("frametap", ["connect", format] + to + replay + option)
            #expect(try await connecting.exitStatus() == 1, "\(connecting.errors)")
            let printed = connecting.output + connecting.errors
            #expect(printed.contains("body.json.token") && printed.contains("«secret»") != isShown, "\(printed)")
            #expect(printed.contains("hunter2") == isShown && printed.contains(token) == isShown, "\(printed)")

            let serving = try Program("frametap", ["serve", format, "--listen", "127.0.0.1:0"] + replay + option)
            let own = try await serving.match(/listening on 127\.0\.0\.1:(\d+)\n/, inErrors: true)
            _ = try await Program("frametap", send + ["--to", "127.0.0.1:\(own)", login("swordfish")]).exitStatus()
            serving.signal(SIGTERM)
            #expect(try await serving.exitStatus() == 1, "\(serving.errors)")
            #expect(serving.errors.contains("does not know this request, login"), "\(serving.errors)")
            #expect(serving.errors.contains("swordfish") == isShown, "\(serving.errors)")
            #expect(serving.errors.contains("hunter2") == isShown, "\(serving.errors)")
        }
        server.signal(SIGKILL)
    }

    /// Issues a token at each login, and answers `attached` to a token that it has issued.
    private static let tokens = """
        known = set()
        def answer(line):
            said = json.loads(line)
            if said["type"] == "login":
                reply = {"type": "token", "token": secrets.token_hex(8)}
                known.add(reply["token"])
            else:
                reply = {"type": "attached" if said["token"] in known else "denied"}
            return json.dumps(reply).encode() + b"\\n"
        """

    /// A token that was given on one connection is the one that is sent on another.
    @Test func boundValuesAreSharedByConnections() async throws {
        let folder = try Folder()
        let format = try folder.write(
            Array(
                """
                format: attaching
                framing: { rule: delimiter, end: "\\n" }
                frame: { type: body.json.type }
                body: json

                """.utf8), to: "attaching.yaml")
        let rules = try folder.write(
            Array(
                """
                bind:
                  - name: token
                    places:
                      - { from: server, type: token, path: body.json.token }
                      - { from: client, type: attach, path: body.json.token }

                """.utf8), to: "rules.yaml")
        var lines = [#"{"event":"trace","version":2,"source":"test","tool":"test"}"#]
        func add(_ connection: Int, _ from: String, _ second: Int, _ type: String, _ token: String = "") {
            let time = "2026-01-01T00:00:0\(second)Z"
            if from == "client" {
                lines.append(
                    #"{"event":"opened","connection":\#(connection),"time":"\#(time)","client":"a:1","server":"b:2"}"#)
                lines.append(#"{"event":"format","connection":\#(connection),"format":"attaching","by":"option"}"#)
            }
            lines.append(
                #"{"event":"frame","connection":\#(connection),"from":"\#(from)","index":0,"time":"\#(time)","#
                    + #""started":"\#(time)","offset":0,"length":1,"segments":1,"merged":false,"type":"\#(type)","#
                    + #""heartbeat":false,"fields":{},"body":{"json":{"type":"\#(type)"\#(token)}}}"#)
        }
        add(1, "client", 1, "login")
        add(1, "server", 2, "token", #","token":"f00d""#)
        add(2, "client", 3, "attach", #","token":"f00d""#)
        add(2, "server", 4, "attached")
        let trace = try folder.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: "trace.ndjson")
        let server = try Self.server(Self.tokens)
        let port = try await server.match(/(\d+)\n/)
        let replayed = try Program(
            "frametap",
            [
                "connect", format, "--to", "127.0.0.1:\(port)", "--replay", trace, "--mask", rules, "--fast",
                "--ignore",
                "closed.by", "--ignore", "closed.reason",
            ])
        let status = try await replayed.exitStatus()
        #expect(status == 0, "\(replayed.output)\(replayed.errors)")
    }

    /// A recording's format may be one of a file, which is named as each command takes it.
    @Test(arguments: [
        (["serve", "--listen", "127.0.0.1:0"], "frametap serve elsewhere.yaml --replay "),
        (["connect", "--to", "127.0.0.1:1"], "frametap connect elsewhere.yaml --replay "),
        (["torture", "--server", "127.0.0.1:1"], "--format elsewhere.yaml"),
    ]) func theFormatOfARecordingIsAskedFor(_ arguments: [String], _ example: String) async throws {
        let folder = try Folder()
        let lines = [
            #"{"event":"trace","version":2,"source":"test","tool":"test"}"#,
            #"{"event":"opened","connection":1,"time":"2026-01-01T00:00:00Z","client":"a:1","server":"b:2"}"#,
            #"{"event":"format","connection":1,"format":"elsewhere","by":"option"}"#,
        ]
        let trace = try folder.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: "trace.ndjson")
        let program = try Program("frametap", arguments + ["--replay", trace])
        #expect(try await program.exitStatus() == 2)
        #expect(
            program.errors.contains("frametap has no format elsewhere; give the format's file: \(example)"),
            "\(program.errors)")
    }

    @Test(arguments: [
        ["serve", "--listen", "127.0.0.1:0", "--time-scale", "2"],
        ["serve", "--listen", "127.0.0.1:0", "--as-published", "stale-head"],
        ["serve", "--listen", "127.0.0.1:0", "--store-offline"],
        ["connect", "--to", "127.0.0.1:1", "--time-scale", "2"],
        ["connect", "--to", "127.0.0.1:1", "--as-published", "stale-head"],
        ["connect", "--to", "127.0.0.1:1", "--rounds", "2"],
    ]) func optionsOfTheReferencePeersAreRefused(_ arguments: [String]) async throws {
        let refused = try Program("frametap", arguments + ["--replay", "/nowhere"])
        #expect(try await refused.exitStatus() == 64)
        let reason = "is for the reference peers; --replay plays the recording as it is"
        #expect(refused.errors.contains("Error: \(arguments[3]) \(reason)"), "\(refused.errors)")
        // An unknown option is reported first.
        let unknown = try Program("frametap", arguments + ["--replay", "/nowhere", "--nonsense"])
        #expect(try await unknown.exitStatus() == 64)
        #expect(unknown.errors.contains("--nonsense"), "\(unknown.errors)")
    }
}
