import Foundation
import TestSupport
import Testing

/// A server of `servers.bash` behind the proxy.
struct Served {
    let server: Program
    let proxy: ProxyProgram
    let folder: Folder
    /// The server's own.
    let port: Int

    /// The program of each.
    private static let programs = [
        "redis": "redis-server", "mosquitto": "mosquitto", "sshd": "sshd", "postgres": "postgres",
    ]

    /// Starts both; without a format nothing but chunks is recorded.
    init(_ name: String, format: String = "chunk", _ arguments: [String] = []) async throws {
        try Program.need("python3")
        let program = try Program.find(Self.programs[name] ?? name).path
        folder = try Folder()
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("servers.bash").path
        // PostgreSQL's server runs as another user if this one is root.
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.url.path)
        server = try Program("bash", [script, program, folder.url.path])
        port = try #require(Int(try await server.match(/(\d+)\n/)))
        proxy = try await ProxyProgram(to: port, ["--format", format, "--drain", "20"] + arguments)
    }

    /// Ends all of it; returns how the connections ended.
    func stop() async throws -> [String] {
        let trace = try await proxy.stop()
        try server.send("")
        _ = try await server.exitStatus()
        return trace.filter { $0.event == "closed" }.compactMap { $0["reason"] }
    }
}
