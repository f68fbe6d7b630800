import Foundation
import TestSupport
import Testing

/// `frametap proxy` is stopped while its recorder is behind.
@Suite struct StoppingTests {
    private static let frames = 4_000

    private let folder: Folder
    private let traffic: Traffic

    init() async throws {
        folder = try Folder()
        traffic = try await Traffic()
    }

    /// Reads a pipe in pieces, with a pause after each, from the first line on its standard input on.
    private static let slowReader = """
        import sys, time
        with open(sys.argv[1], "rb", buffering=0) as pipe:
            sys.stdin.readline()
            while data := pipe.read(4096):
                sys.stdout.buffer.write(data)
                time.sleep(float(sys.argv[2]))
        """

    /// A proxy whose recorder waits for the reader of its trace, which has read nothing yet.
    private func stalled(pause: String) async throws -> (proxy: Program, reader: Program) {
        let pipe = folder.path("trace")
        try #require(mkfifo(pipe, 0o600) == 0)
        let reader = try Program("python3", ["-c", Self.slowReader, pipe, pause])
        let proxy = try Program(
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
        return (proxy, reader)
    }

    /// Whatever passed is in the trace, even if its reader takes longer than one that has stopped is waited for.
    @Test func aSlowReaderGetsEverything() async throws {
        // In all it takes several times as long as a reader that does nothing.
        let (proxy, reader) = try await stalled(pause: "0.004")
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
        let (proxy, reader) = try await stalled(pause: "0.02")
        try reader.send("")
        proxy.signal(SIGTERM)
        _ = try await proxy.match(/(a second signal ends at once), and loses the rest/, inErrors: true)
        try await Self.echoEnds()
        proxy.signal(signal)
        #expect(try await proxy.exitStatus() == -signal, "\(proxy.errors)")
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
        try await Self.echoEnds()
        program.signal(SIGTERM)
        #expect(try await program.exitStatus() == -SIGTERM, "\(program.errors)")
    }

    /// Until then, another signal is the first one again.
    private static func echoEnds() async throws { try await Task.sleep(for: .milliseconds(350)) }

    /// `timeout` signals its child and then the child's group.
    @Test func theSameSignalRightAfterTheFirstIsNoSecondOne() async throws {
        let trace = folder.path("echo.ndjson")
        let program = try Program(
            "frametap",
            [
                "proxy", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:\(traffic.server)", "--format", Traffic.format,
                "--as", "none", "--trace", trace,
            ])
        let port = try await program.match(/listening on 127\.0\.0\.1:(\d+)\n/, inErrors: true)
        let bound: Int = try #require(Int(port))
        try await traffic.connect(to: bound)
        try await traffic.send("hello", count: 20)
        for _ in 0..<3 { program.signal(SIGINT) }
        #expect(try await program.exitStatus() == 0, "\(program.errors)")
        let lines = try traceLines(String(decoding: Data(contentsOf: URL(filePath: trace)), as: UTF8.self))
        #expect(lines.last?.event == "summary")
    }
}
