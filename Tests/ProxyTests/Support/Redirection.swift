import Foundation
import TestSupport

/// What clients saw that a firewall redirected to a transparent proxy, and its trace; see `transparent.bash`.
struct Redirection {
    let output: String
    let trace: [TraceLine]

    /// Each connection's destination and what became of it.
    var said: [Substring] { output.split(separator: "\n").filter { $0.hasSuffix("hello") || $0.hasSuffix("reset") } }

    /// Plays it in network namespaces of its own.
    init(in folder: Folder, _ options: [String] = []) async throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("transparent.bash")
        // Root needs no user namespace of its own, which not every system allows.
        let namespaces = geteuid() == 0 ? "-n" : "-rn"
        try Program.need("ip", "nft", "nsenter", "python3")
        guard try await Program("unshare", [namespaces, "true"]).exitStatus() == 0 else {
            try InstalledPrograms.leaveOut(needing: "the permission to make network namespaces")
        }
        output = try await Program.run(
            "unshare",
            [namespaces, "bash", script.path, try Program.find("frametap").path, folder.url.path] + options)
        trace = try traceLines(folder.text("trace"))
    }
}
