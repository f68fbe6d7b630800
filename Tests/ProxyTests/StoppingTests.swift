import Foundation
import TestSupport
import Testing

/// `frametap proxy` is stopped while its recorder is behind.
@Suite struct StoppingTests {
    private let folder: Folder
    private let traffic: Traffic
    private let proxy: Program
    private let reader: Program
    private static let frames = 4_000

    /// Reads a pipe in pieces, with a pause after each, once it is told to.
    private static let slowReader = """
        import sys, time
        with open(sys.argv[1], "rb", buffering=0) as pipe:
            sys.stdin.readline()
            while data := pipe.read(4096):
                sys.stdout.buffer.write(data)
                time.sleep(float(sys.argv[2]))
        """

    /// A proxy whose recorder waits for the reader of its trace, which has read nothing yet.
    private init(pause: String) async throws {
        folder = try Folder()
        traffic = try await Traffic()
        let pipe = folder.path("trace")
        try #require(mkfifo(pipe, 0o600) == 0)
        reader = try Program("python3", ["-c", Self.slowReader, pipe, pause])
        proxy = try Program(
            "frametap",
            [
                "proxy", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:\(traffic.server)", "--format", Traffic.format,
                "--as", "none", "--trace", pipe,
            ])
        let port = try await proxy.match(/listening on 127\.0\.0\.1:(\d+)\n/, inErrors: true)
        let number: Int = try #require(Int(port))
        try await traffic.connect(to: number)
        // More than pipes hold.
        try await traffic.send(String(repeating: "y", count: 999), count: Self.frames)
    }

    init() async throws { try await self.init(pause: "0.001") }

    /// Whatever passed is in the trace, even if its reader takes longer than one that has stopped is waited for.
    @Test func aSlowReaderGetsEverything() async throws {
        try reader.send("")
        proxy.signal(SIGTERM)
        #expect(try await proxy.exitStatus() == 0, "\(proxy.errors)")
        #expect(try await reader.exitStatus() == 0, "\(reader.errors)")
        #expect(!proxy.errors.contains("dropped"), "\(proxy.errors)")
        let trace = try traceLines(reader.output)
        #expect(trace.count { $0.event == "frame" } == Self.frames)
        #expect(trace.last?.event == "summary" && trace.last?[number: "dropped"] == 0)
    }

    @Test(arguments: [SIGINT, SIGTERM]) func aSecondSignalEndsAtOnce(_ signal: Int32) async throws {
        let slow = try await StoppingTests(pause: "0.02")
        try slow.reader.send("")
        slow.proxy.signal(SIGTERM)
        _ = try await slow.proxy.match(/(a second signal ends at once), and loses the rest/, inErrors: true)
        slow.proxy.signal(signal)
        #expect(try await slow.proxy.exitStatus() == -signal, "\(slow.proxy.errors)")
    }

    @Test func aSecondSignalEndsWaitingForConnections() async throws {
        let program = try Program(
            "frametap",
            [
                "proxy", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:\(traffic.server)", "--as", "none", "--drain",
                "1h",
            ])
        let port = try await program.match(/listening on 127\.0\.0\.1:(\d+)\n/, inErrors: true)
        let number: Int = try #require(Int(port))
        try await traffic.connect(to: number)
        program.signal(SIGTERM)
        _ = try await program.match(/(open connections to end)/, inErrors: true)
        program.signal(SIGTERM)
        #expect(try await program.exitStatus() == -SIGTERM, "\(program.errors)")
    }
}
