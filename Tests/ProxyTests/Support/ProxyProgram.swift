import Foundation
import TestSupport
import Testing

/// `frametap proxy` as a program of its own, writing to files of a folder.
struct ProxyProgram {
    let program: Program
    let port: Int
    let files: Folder

    /// Starts it in front of a server on this machine.
    init(to server: Int, _ arguments: [String] = []) async throws {
        try await self.init(["--listen", "127.0.0.1:0", "--to", "127.0.0.1:\(server)"] + arguments)
    }

    /// Starts it with listeners of which the first is on a port of 127.0.0.1.
    init(_ arguments: [String]) async throws {
        files = try Folder()
        let records = ["--write", files.path("capture.pcapng"), "--trace", files.path("trace.ndjson")]
        program = try Program("frametap", ["proxy"] + arguments + records)
        let address = try await program.match(/frametap: listening on 127\.0\.0\.1:(\d+).*\n/, inErrors: true)
        port = try #require(Int(address))
    }

    /// Ends it cleanly; returns the lines of its trace.
    func stop() async throws -> [TraceLine] {
        program.signal(SIGTERM)
        let status = try await program.exitStatus()
        guard status == 0 else { throw Program.Failure(description: "ended with \(status):\n\(program.errors)") }
        return try traceLines(files.text("trace.ndjson"))
    }

    /// How much memory it has in use, in bytes.
    func residentBytes() throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(program.identifier)/status", encoding: .utf8)
        let kilobytes = try #require(status.firstMatch(of: #/VmRSS:\s+(\d+) kB/#)).1
        return try #require(Int(kilobytes)) << 10
    }
}
