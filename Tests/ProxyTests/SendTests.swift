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
            sock.close()
        listener = socket.create_server(("127.0.0.1", 0))
        print(listener.getsockname()[1], flush=True)
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
        """

    private func send(_ arguments: [String]) async throws -> (status: Int32, output: String, errors: String) {
        let server = try Program("python3", ["-c", Self.server])
        let port = try await server.match(/(\d+)\n/)
        let folder = try Folder()
        let format = try folder.write(
            Array("format: objects\nframing: { rule: delimiter, end: \"\\n\" }\nbody: json\n".utf8), to: "objects.yaml")
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
            result.status == 1 && result.errors.contains("a frame has no bdy; did you mean body?"), "\(result.errors)")
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
}
