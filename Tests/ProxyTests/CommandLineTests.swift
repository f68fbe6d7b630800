import Foundation
import Framing
import Pipeline
import TestSupport
import Testing
import Trace

/// `frametap proxy` and `frametap demo` as programs.
@Suite struct CommandLineTests {
    @Test(arguments: [SIGINT, SIGTERM]) func aSignalEndsItInOrder(_ signal: Int32) async throws {
        let ends = try await Ends("silent")
        let proxy = try await ProxyProgram(to: ends.server)
        try ends.program.send("\(proxy.port)")
        _ = try await ends.program.match(/(open)/)
        // Relayed data is recorded; the last bytes may still be on their way.
        _ = try await proxy.program.match(/(listening)/, inErrors: true)
        let seconds = try await Self.seconds(toEnd: proxy.program, with: signal)
        #expect(try await proxy.program.exitStatus() == 0)
        #expect(seconds < 20)
        let trace = try traceLines(proxy.files.text("trace.ndjson"))
        let closed = try #require(trace.first { $0.event == "closed" })
        #expect(closed["reason"] == "end-of-input" && closed["by"] == nil)
        #expect(trace.last?.event == "summary" && trace.last?[number: "connections"] == 1)
        #expect(proxy.program.output.contains("○  end-of-input   →"), "\(proxy.program.output)")
        #expect(!proxy.program.output.contains("reset"))
        // Both the client and the server are notified.
        let seen = try await ends.result()
        #expect(seen.texts["client end"] != nil && seen.texts["server end"] != nil, "\(seen)")
        let capture = DecodedCapture(proxy.files.bytes("capture.pcapng"), options: try Self.options())
        #expect(capture.damage == nil && capture.summary.total.connections == 1)
    }

    /// Sends a signal, and measures how long the program takes to end: outside this process, whose threads are busy.
    private static func seconds(toEnd program: Program, with signal: Int32) async throws -> Double {
        let script = """
            import os, sys, time
            number, start = int(sys.argv[1]), time.monotonic()
            try:
                os.kill(number, int(sys.argv[2]))
                while open(f"/proc/{number}/stat").read().rsplit(")", 1)[1].split()[0] != "Z":
                    time.sleep(0.005)
            except (FileNotFoundError, ProcessLookupError):  # ended, and awaited already
                pass
            print(time.monotonic() - start)
            """
        let output = try await Program.run("python3", ["-c", script, "\(program.identifier)", "\(signal)"])
        return try #require(Double(output.dropLast()))
    }

    private static func options() throws -> DecodingOptions {
        DecodingOptions(.automatic(try BuiltInFormats.allWithVariants()))
    }

    @Test func theEndOfRecordingIsTheEndOfTheCapture() async throws {
        let ends = try await Ends("silent")
        let proxy = try await ProxyProgram(to: ends.server)
        try ends.program.send("\(proxy.port)")
        _ = try await ends.program.match(/(open)/)
        proxy.program.signal(SIGTERM)
        #expect(try await proxy.program.exitStatus() == 0)
        _ = try await ends.result()
        let live = ComparableTrace(try traceLines(proxy.files.text("trace.ndjson")))
        let decoded = try await Program.run(
            "frametap", ["decode", "--as", "ndjson", proxy.files.path("capture.pcapng")])
        #expect(live.differences(to: ComparableTrace(try traceLines(decoded))) == [])
    }

    @Test func aPortThatIsTakenIsAnErrorInWords() async throws {
        let ends = try await Ends("refused")
        let proxy = try await ProxyProgram(to: ends.server)
        let second = try Program(
            "frametap", ["proxy", "--listen", "127.0.0.1:\(proxy.port)", "--to", "127.0.0.1:\(ends.server)"])
        #expect(try await second.exitStatus() == 2)
        #expect(
            second.errors
                == "frametap: cannot listen on 127.0.0.1:\(proxy.port): Address already in use\n", "\(second.errors)")
        #expect(second.output == "")
        try ends.program.send("\(proxy.port)")
        _ = try await ends.result()
        proxy.program.signal(SIGINT)
        #expect(try await proxy.program.exitStatus() == 0)
        let cause = "connect-failed by server: cannot reach 127.0.0.1:\(ends.server): Connection refused"
        #expect(proxy.program.output.contains(cause), "\(proxy.program.output)")
    }

    @Test func wrongUsageIsAnotherStatus() async throws {
        let program = try Program("frametap", ["proxy", "--listen", "127.0.0.1", "--to", "127.0.0.1:1"])
        #expect(try await program.exitStatus() == 64)
    }

    @Test func theDemonstrationEndsAsItsClientsDo() async throws {
        let text = try await Program.run("frametap", ["demo", "im-json", "--color", "never"])
        let closed = text.split(separator: "\n").filter { $0.contains("○") }
        #expect(closed.count == 2 && closed.allSatisfy { $0.contains("fin by client") }, "\(text)")
        #expect(text.contains("1 gap; 0 bytes missing, 0 unframed"), "\(text)")
    }

    #if os(Linux)
    /// In a network without a way to 127.0.0.1, no client reaches its server.
    @Test func aDemonstrationThatGoesWrongIsAnError() async throws {
        let namespaces = geteuid() == 0 ? "-n" : "-rn"
        guard try await Program("unshare", [namespaces, "true"]).exitStatus() == 0 else {
            try InstalledPrograms.leaveOut(needing: "the permission to make network namespaces")
        }
        let folder = try Folder()
        let frametap = try Program.find("frametap").path
        let demo = try Program(
            "unshare", [namespaces, frametap, "demo", "line", "--as", "none", "--trace", folder.path("trace.ndjson")])
        #expect(try await demo.exitStatus() == 2)
        #expect(demo.errors.contains("the line demonstration went wrong: "), "\(demo.errors)")
        #expect(try traceLines(folder.text("trace.ndjson")).last?.event == "summary")
    }
    #endif

    @Test func aDemonstrationOnAFullDiskSaysWhatItsTraceLacks() async throws {
        let folder = try Folder()
        // One block of 1,024 bytes.
        let demo = try Program(
            "bash",
            [
                "-c", #"ulimit -f 1; exec "$0" "$@""#, Program.find("frametap").path, "demo", "line", "--as", "none",
                "--trace", folder.path("trace.ndjson"),
            ])
        #expect(try await demo.exitStatus() == 0, "\(demo.errors)")
        let lost = demo.errors.firstMatch(of: /trace\.ndjson is not complete: (\d+) lines could not be written\n/)
        #expect((lost.flatMap { Int($0.1) } ?? 0) > 0, "\(demo.errors)")
        #expect(folder.text("trace.ndjson").hasSuffix("}\n"))
    }

    @Test func theDemonstrationCanBeInterrupted() async throws {
        let program = try Program("frametap", ["demo", "im-json"])
        _ = try await program.match(/(im-json \(by content\))/)
        let seconds = try await Self.seconds(toEnd: program, with: SIGINT)
        #expect(try await program.exitStatus() == 0)
        #expect(seconds < 20)
        #expect(program.output.contains("0 bytes missing") && !program.output.contains("reset"), "\(program.output)")
    }
}
