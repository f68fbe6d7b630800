import Foundation
import Testing

/// A client and a server that send lines on command (`traffic.py`), each a frame of `Traffic.format`.
struct Traffic {
    let program: Program
    /// The address of its server.
    let server: Int

    /// A format for what is sent, as `--format` takes it.
    static let format = #"delimiter:end=\n"#

    init() async throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("traffic.py")
        program = try Program("python3", [script.path])
        server = try #require(Int(try await program.match(/(\d+)\n/)))
    }

    /// Connects, directly to its own server or through a proxy.
    func connect(to port: Int? = nil) async throws {
        try await report("connect \(port ?? server)", /(connected)\n/)
    }

    /// Sends lines, and waits until they have arrived.
    func send(_ text: String, count: Int = 1) async throws {
        try await report("repeat \(count) \(text)", /(arrived) \d+\n/)
    }

    func close() async throws {
        try await report("close", /(closed)\n/)
    }

    private func report(_ command: String, _ answer: Regex<(Substring, Substring)>) async throws {
        let before = program.output.matches(of: answer).count
        try program.send(command)
        let deadline = ContinuousClock.now + Program.patience
        while program.output.matches(of: answer).count == before {
            guard ContinuousClock.now < deadline else {
                throw Program.Failure(description: "\(command): no answer\n\(program.output)\n\(program.errors)")
            }
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}

/// Waits until a condition holds.
func eventually(_ what: String, _ holds: () async throws -> Bool) async throws {
    let deadline = ContinuousClock.now + Program.patience
    while try await !holds() {
        guard ContinuousClock.now < deadline else { throw Program.Failure(description: "waited in vain: \(what)") }
        try await Task.sleep(for: .milliseconds(5))
    }
}

extension Folder {
    /// The permissions of a file.
    func mode(_ name: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path(name))[.posixPermissions] as? Int)
    }

    /// The names of its files, in order.
    func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
}
