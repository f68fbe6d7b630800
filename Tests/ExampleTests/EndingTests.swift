import Foundation
import TestSupport
import Testing

/// Commands whose output has no reader, that a signal ends early, or that begin without standard descriptors.
@Suite final class EndingTests {
    private static let fixtures = "\(Example.root)/fixtures"
    private static let chat = "\(fixtures)/im-json/chat.pcap"
    private static let stomp = "\(fixtures)/examples/stomp.pcap"

    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("frametap-ends-\(UUID())")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    /// The names of the files in a folder.
    private func names(in name: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path(name))) ?? []).sorted()
    }

    // MARK: No reader

    /// Runs frametap with a standard output that nobody reads.
    private func statusWithoutReader(_ arguments: [String]) throws -> Int32 {
        let pipe = Pipe()
        try pipe.fileHandleForReading.close()
        let process = Process()
        process.executableURL = try Program.find("frametap")
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe.fileHandleForWriting
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    @Test func aReaderThatHasSeenEnoughIsNoFailure() throws {
        for command in [["decode"], ["report"], ["streams"], ["packets"]] {
            #expect(try statusWithoutReader(command + [Self.chat]) == 0, "\(command)")
        }
    }

    @Test func aCheckFailsWithoutAReader() throws {
        let decode = ["decode", Self.stomp, "--format", "example:stomp"]
        #expect(try statusWithoutReader(decode + ["--fail-on", "unanswered"]) == 1)
        #expect(try statusWithoutReader(decode + ["--fail-on", "missing"]) == 0)
        let report = ["report", Self.stomp, "--format", "example:stomp"]
        #expect(try statusWithoutReader(report + ["--fail-on", "unanswered"]) == 1)
        let traces = try [Self.chat, Self.stomp].map { capture in
            let trace = try Program.output("frametap", ["decode", capture, "--as", "ndjson"])
            return try TemporaryFile(trace.output, name: "trace.ndjson")
        }
        #expect(try statusWithoutReader(["diff", traces[0].path, traces[1].path]) == 1)
        #expect(try statusWithoutReader(["diff", traces[0].path, traces[0].path]) == 0)
    }

    @Test func filesAreWrittenWithoutAReader() throws {
        _ = try Program.output("frametap", ["streams", Self.stomp, "--directory", path("read")])
        #expect(try statusWithoutReader(["streams", Self.stomp, "--directory", path("unread")]) == 0)
        #expect(names(in: "unread") == names(in: "read") && !names(in: "read").isEmpty)
        let bodies = ["decode", Self.chat, "--extract"]
        _ = try Program.output("frametap", bodies + [path("bodies")])
        #expect(try statusWithoutReader(bodies + [path("others")]) == 0)
        #expect(names(in: "others") == names(in: "bodies") && !names(in: "bodies").isEmpty)
        let index = ["index", Self.chat, Self.stomp, "--output", path("indexes")]
        #expect(try statusWithoutReader(index) == 0)
        #expect(names(in: "indexes") == ["chat.pcap.ftindex", "stomp.pcap.ftindex"])
    }

    // MARK: Signals

    /// A file of which only a part was read must not pass for a whole one.
    @Test(arguments: [
        ["decode", "--fail-on", "missing"], ["decode", "--threads", "1"], ["streams"], ["packets"], ["report"],
    ]) func aSignalEndsAFileEarly(_ arguments: [String]) throws {
        // After the conversation come empty packets, which take no space on most disks: reading them takes seconds.
        let capture = path("long.pcap")
        try FileManager.default.copyItem(atPath: Self.chat, toPath: capture)
        let file = try FileHandle(forUpdating: URL(filePath: capture))
        try file.truncate(atOffset: 4 << 30)
        try file.close()
        for name in ["output", "errors"] { try Data().write(to: folder.appendingPathComponent(name)) }
        // Signals are handled before a line is shown, and right after a file is created; `decode` shows lines in batches,
        // and a report comes at the end.
        let isFile = arguments[0] == "decode" || arguments[0] == "report"
        let output = folder.appendingPathComponent(isFile ? "file" : "output")
        let process = Process()
        process.executableURL = try Program.find("frametap")
        process.arguments = arguments + [capture] + (isFile ? ["--output", output.path] : [])
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: folder.appendingPathComponent("output"))
        process.standardError = try FileHandle(forWritingTo: folder.appendingPathComponent("errors"))
        try process.run()
        var hasBegun = false
        for _ in 0..<4_000 where !hasBegun && process.isRunning {
            usleep(5_000)
            hasBegun =
                try FileManager.default.fileExists(atPath: output.path)
                && (isFile || !Data(contentsOf: output).isEmpty)
        }
        if isFile { Self.waitUntilHandled(SIGINT, by: process.processIdentifier) }
        kill(process.processIdentifier, SIGINT)
        process.waitUntilExit()
        let errors = try String(contentsOf: folder.appendingPathComponent("errors"), encoding: .utf8)
        #expect(process.terminationReason == .exit && process.terminationStatus == 2, "\(errors)")
        #expect(errors.contains("frametap: interrupted: ") && errors.contains("read so far"), "\(errors)")
    }

    /// Waits until a program handles a signal. On Linux, a source of libdispatch blocks it or catches it: proc(5).
    private static func waitUntilHandled(_ signal: Int32, by process: Int32) {
        usleep(500_000)
        for _ in 0..<4_000 {
            guard let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8) else { return }
            let sets = status.matches(of: /Sig(?:Blk|Cgt):\s*([0-9a-f]+)/).compactMap { UInt64($0.1, radix: 16) }
            if sets.contains(where: { $0 >> UInt64(signal - 1) & 1 == 1 }) { return }
            usleep(5_000)
        }
    }

    // MARK: Closed descriptors

    @Test func messagesDoNotGoIntoAFile() throws {
        let program = try Program.find("frametap").path
        let script = #"exec 2>&-; exec "$0" "$@""#
        let result = try Program.run(
            "sh",
            ["-c", script, program, "decode", path("none"), Self.chat, "--as", "ndjson", "--output", path("trace")])
        #expect(result.status == 2 && result.text == "")
        let trace = try String(contentsOfFile: path("trace"), encoding: .utf8)
        #expect(trace.hasPrefix("{") && !trace.contains("frametap: cannot open"), "\(trace.prefix(200))")
    }

    @Test func withoutStandardOutputItEnds() throws {
        _ = try Program.find("timeout")
        let program = try Program.find("frametap").path
        let script = #"exec >&-; exec timeout -s KILL 60 "$0" "$@""#
        let demo = try Program.run("sh", ["-c", script, program, "demo", "line"])
        #expect(demo.status == 0 && demo.errors.contains("cannot write standard output"), "\(demo)")
        let decode = try Program.run("sh", ["-c", script, program, "decode", Self.chat])
        #expect(decode.status == 2 && decode.errors.contains("cannot write standard output"), "\(decode)")
    }
}
