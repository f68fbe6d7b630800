import Foundation
import TestSupport
import Testing

/// `frametap send` with a real server.
@Suite struct SendTests {
    /// Gives every client a token, and returns what it says with it.
    private static let server = """
        import json, socket, threading
        def serve(sock):
            text = sock.makefile("rw", newline="\\n")
            for line in text:
                said = json.loads(line)
                if said.get("do") == "leave":
                    break
                if said.get("do") != "nothing":
                    text.write(json.dumps({"token": "t-17"} if said.get("do") == "login" else {"said": said}) + "\\n")
                    text.flush()
                if said.get("do") == "last":
                    break
            sock.close()
        listener = socket.create_server(("127.0.0.1", 0))
        print(listener.getsockname()[1], flush=True)
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
        """

    private func send(_ arguments: [String], heartbeat: String = "") async throws -> (
        status: Int32, output: String, errors: String
    ) {
        let server = try Program("python3", ["-c", Self.server])
        let port = try await server.match(/(\d+)\n/)
        let folder = try Folder()
        let format = try folder.write(
            Array("format: objects\nframing: { rule: delimiter, end: \"\\n\" }\nbody: json\n\(heartbeat)".utf8),
            to: "objects.yaml")
        let program = try Program("frametap", ["send", "--to", "127.0.0.1:\(port)", "--format", format] + arguments)
        let status = try await program.exitStatus()
        server.signal(SIGKILL)
        return (status, program.output, program.errors)
    }

    @Test func whatFollowsUsesAnAnswer() async throws {
        let result = try await send([
            "--as", "ndjson", #"{"body":{"json":{"do":"login"}}}"#, #"{"body":{"json":{"token":"${token}"}}}"#,
        ])
        #expect(result.status == 0, "\(result.errors)")
        let frames = try traceLines(result.output).filter { $0.event == "frame" }
        #expect(frames.map { $0["from"] } == ["client", "server", "client", "server"])
        #expect(frames.last?.text.contains(#"{"said":{"token":"t-17"}}"#) ?? false, "\(result.output)")
    }

    @Test(arguments: [("ndjson", 2), ("none", 0)])
    func answersReplaceAllOfTheOutput(form: String, frames: Int) async throws {
        let folder = try Folder()
        let path = try folder.write([UInt8](repeating: UInt8(ascii: "k"), count: 1 << 20), to: "answers")
        let result = try await send(["--as", form, "--output", path, #"{"body":{"json":{"do":"login"}}}"#])
        #expect(result.status == 0 && result.output == "", "\(result.errors)")
        #expect(try traceLines(folder.text("answers")).count { $0.event == "frame" } == frames)
        #expect(!folder.text("answers").contains("kk"))
    }

    /// A secret value is filled in as it is, and shown as little as any.
    @Test func aSecretOfAnAnswerIsSentAsItIs() async throws {
        let frames = [#"{"body":{"json":{"do":"login"}}}"#, #"{"body":{"json":{"token":"${token}","is":"mine"}}}"#]
        let secret = "secret: [body.token, body.said.token]\n"
        let hidden = try await send(["--as", "ndjson"] + frames, heartbeat: secret)
        #expect(hidden.status == 0 && !hidden.output.contains("t-17"), "\(hidden.output)\(hidden.errors)")
        let shown = try await send(["--as", "ndjson", "--show-secrets"] + frames, heartbeat: secret)
        #expect(shown.output.contains(#"{"said":{"token":"t-17","is":"mine"}}"#), "\(shown.output)")
        // What the server got is what it said.
        func lengths(_ output: String) throws -> [Int?] {
            try traceLines(output).filter { $0.event == "frame" }.map { $0[number: "length"] }
        }
        #expect(try lengths(hidden.output) == lengths(shown.output))
    }

    @Test func noAnswerIsReported() async throws {
        let silent = try await send(["--timeout", "200ms", #"{"body":{"json":{"do":"nothing"}}}"#])
        #expect(silent.status == 1 && silent.errors.contains("no answer in 0.2 s"), "\(silent.errors)")
        let gone = try await send([#"{"body":{"json":{"do":"leave"}}}"#])
        #expect(gone.status == 1 && gone.errors.contains("the server closed the connection"), "\(gone.errors)")
        let unknown = try await send([#"{"body":{"json":"${token}"}}"#])
        #expect(unknown.status == 2 && unknown.errors.contains("no answer has a value token"), "\(unknown.errors)")
    }

    @Test func aFrameHasNoOtherKeys() async throws {
        let result = try await send([#"{"bdy":{"json":{"do":"login"}}}"#])
        #expect(
            result.status == 2 && result.errors.contains("a frame has no bdy; did you mean body?"), "\(result.errors)")
        #expect(result.output == "", "nothing is sent")
        let traced = try await send([#"{"event":"frame","later":1,"index":3,"body":{"json":{"do":"login"}}}"#])
        #expect(traced.status == 0, "\(traced.errors)")
    }

    @Test(arguments: [["send", "--format", "line", "{}"], ["connect", "line"]])
    func aHostThatIsNotThereIsNamed(_ arguments: [String]) async throws {
        let program = try Program("frametap", arguments + ["--to", "no-such-host.invalid:9"])
        #expect(try await program.exitStatus() != 0)
        #expect(program.errors.contains(" no-such-host.invalid: "), "\(program.errors)")
        #expect(!program.errors.contains("SocketAddressError"), "\(program.errors)")
    }

    @Test func variationsHaveConnectionsOfTheirOwn() async throws {
        let result = try await send([
            "--as", "ndjson", "--vary", "body.json.do=login,leave,other", #"{"body":{"json":{"do":"x"}}}"#,
        ])
        #expect(result.status == 0, "\(result.errors)")
        #expect(try traceLines(result.output).count { $0.event == "opened" } == 3)
        #expect(result.errors.contains("connection 2: the server closed the connection"), "\(result.errors)")
    }

    @Test(arguments: [
        ("junit", "<failure type=\"unanswered\" message=\"unanswered: frame 2: "), ("github", "::error "),
    ])
    func aCheckSaysWhatTheStatusSays(form: String, failure: String) async throws {
        let login = #"{"body":{"json":{"do":"login"}}}"#
        let good = try await send(["--as", form, login])
        #expect(good.status == 0 && !good.output.contains(failure), "\(good.output)")
        let silent = [login, #"{"body":{"json":{"do":"nothing"}}}"#, "--as", form, "--timeout", "1s"]
        let bad = try await send(silent)
        #expect(bad.status == 1 && bad.output.contains(failure), "\(bad.output)")
        #expect(bad.output.contains("frame 2: no answer in 1.0 s"), "\(bad.output)")
        let varied = try await send(silent + ["--vary", "body.json.do=nothing"])
        #expect(varied.status == 0 && !varied.output.contains(failure), "\(varied.output)")
    }

    /// Whoever sends by hand sends no heartbeats in between; and an annotation is at no file.
    @Test(arguments: ["junit", "github", "text"]) func missingHeartbeatsOfTheSenderAreNoFault(form: String) async throws
    {
        let heartbeat =
            "heartbeat: { when: body.json.do == \"beat\", from: client, every: 10 ms, gap: 20 ms }\n"
        let beat = #"{"body":{"json":{"do":"beat"}}}"#
        let other = #"{"body":{"json":{"do":"other"}}}"#
        let good = try await send(["--as", form, beat, other], heartbeat: heartbeat)
        #expect(good.status == 0 && !good.output.contains("heartbeat-"), "\(good.output)")
        #expect(!good.output.contains("heartbeat gap") && !good.output.contains("heartbeats stopped"), "\(good.output)")
        let silent = #"{"body":{"json":{"do":"nothing"}}}"#
        let bad = try await send(["--as", form, "--timeout", "200ms", beat, silent], heartbeat: heartbeat)
        #expect(bad.status == 1 && !bad.output.contains("file="), "\(bad.output)")
        if form == "github" { #expect(bad.output.hasPrefix("::error title=frametap%3A unanswered::"), "\(bad.output)") }
    }

    /// A frame that cannot be built ends it: what was known before is in the result all the same.
    @Test func anEarlierFaultIsReportedWhateverFollows() async throws {
        let result = try await send([
            "--as", "junit", "--timeout", "1s", #"{"body":{"json":{"do":"login"}}}"#,
            #"{"body":{"json":{"do":"nothing"}}}"#, #"{"body":{"hex":"${token}"}}"#,
        ])
        #expect(result.status == 2, "\(result.errors)")
        #expect(result.output.contains("unanswered: frame 2: no answer in 1.0 s"), "\(result.output)")
        #expect(result.output.contains("not-sent: frame 3: body.hex is "), "\(result.output)")
    }

    @Test func whatFollowsAFrameWithoutAnAnswerIsSent() async throws {
        let result = try await send([
            "--as", "ndjson", "--timeout", "1s", #"{"body":{"json":{"do":"nothing"}}}"#,
            #"{"body":{"json":{"do":"login"}}}"#, #"{"body":{"json":{"token":"${token}"}}}"#,
        ])
        #expect(result.status == 1 && result.errors.contains("frame 1: no answer in 1.0 s"), "\(result.errors)")
        let frames = try traceLines(result.output).filter { $0.event == "frame" }
        #expect(frames.map { $0["from"] } == ["client", "client", "server", "client", "server"])
        // The value would be in the answer that is missing.
        let lost = try await send([
            "--timeout", "200ms", #"{"body":{"json":{"do":"nothing"}}}"#, #"{"body":{"json":"${token}"}}"#,
        ])
        #expect(lost.status == 1 && lost.errors.contains("frame 2: no answer has a value token"), "\(lost.errors)")
    }

    @Test func nothingIsSentIntoAConnectionThatIsOver() async throws {
        let other = #"{"body":{"json":{"do":"other"}}}"#
        let result = try await send(["--as", "ndjson", #"{"body":{"json":{"do":"leave"}}}"#, other, other])
        #expect(
            result.status == 1 && result.errors.contains("frame 1: the server closed the connection; 2 more not sent"),
            "\(result.errors)")
        #expect(try traceLines(result.output).count { $0.event == "frame" } == 1)
        let closed = try await send(["--as", "junit", #"{"body":{"json":{"do":"last"}}}"#, other])
        let reason = "not-sent: frame 2: the server closed the connection before it was sent"
        #expect(closed.status == 1 && closed.output.contains(reason), "\(closed.output)")
    }

    /// Only the client's frames of a trace are sent, once.
    @Test func theFramesOfATraceAreSent() async throws {
        let login = #""body":{"length":14,"json":{"do":"login"}}}"#
        let result = try await send([
            "--as", "ndjson", #"{"event":"trace","version":2,"source":"x","tool":"y"}"#,
            #"{"event":"frame","connection":1,"from":"client","leg":"in","index":0,\#(login)"#,
            #"{"event":"frame","connection":1,"from":"client","leg":"out","index":0,\#(login)"#,
            #"{"event":"frame","connection":1,"from":"server","leg":"in","index":0,"body":{"text":"no"}}"#,
            #"{"event":"summary"}"#,
        ])
        #expect(
            result.errors.contains(
                "not sent: 1 frame of the server, 1 frame of the leg out, 2 lines without a frame\n"),
            "\(result.errors)")
        let frames = try traceLines(result.output).filter { $0.event == "frame" }
        #expect(result.status == 0 && frames.map { $0["from"] } == ["client", "server"], "\(result.output)")
        let none = try await send([#"{"event":"summary"}"#])
        #expect(none.status == 2 && none.errors.contains("no frames to send"), "\(none.errors)")
    }

    @Test func whatCannotBeBuiltIsAnError() async throws {
        let none = try await send(["--vary", "fields.nope=5,6", #"{"body":{"json":{"do":"x"}}}"#])
        #expect(none.status == 2 && none.output == "" && none.errors.contains("no field nope"), "\(none.errors)")
        let some = try await send(["--as", "ndjson", "--vary", "body.hex=zz,7b7d", #"{"body":{"hex":"00"}}"#])
        #expect(some.status == 2 && some.errors.contains("1 of 2 values not sent"), "\(some.errors)")
        #expect(some.errors.contains("connection 1: body.hex is \"zz\"; expected pairs"), "\(some.errors)")
        #expect(try traceLines(some.output).count { $0.event == "frame" } == 2)
        let later = try await send(["--as", "junit", #"{"body":{"json":{"do":"x"}}}"#, #"{"body":{"json":"${no}"}}"#])
        #expect(later.status == 2 && later.output.contains("failures=\"1\""), "what was exchanged: \(later.output)")
        let timeless = try await send(["--timeout", "0", "{}"])
        #expect(timeless.status == 64 && timeless.errors.contains("--timeout: expected more than 0"))
    }

    @Test func aServerThatDoesNotReadIsNotWaitedFor() async throws {
        let server = try Program(
            "python3",
            [
                "-c",
                """
                import socket, time
                listener = socket.create_server(("127.0.0.1", 0))
                print(listener.getsockname()[1], flush=True)
                taken = listener.accept()
                time.sleep(600)
                """,
            ])
        let port = try await server.match(/(\d+)\n/)
        let folder = try Folder()
        let text = String(repeating: "x", count: 16_000_000)
        let frame = try folder.write(Array(#"{"body":{"text":"\#(text)"}}"#.utf8), to: "frame")
        let program = try Program(
            "sh",
            [
                "-c", "exec \"$0\" send --format chunk --as none --timeout 200ms --to 127.0.0.1:\(port) <\"$1\"",
                Program.find("frametap").path, frame,
            ])
        #expect(try await program.exitStatus() == 1 && program.errors.contains("no answer in 0.2 s"))
        server.signal(SIGKILL)
    }
}
