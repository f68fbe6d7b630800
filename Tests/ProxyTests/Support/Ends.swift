import Foundation
import Testing

/// Both ends of a proxied connection, played by `ends.py`.
struct Ends {
    let program: Program
    /// The address of its server.
    let server: Int

    /// Starts to play a scenario, up to the point where the proxy is needed.
    init(_ scenario: String..., script name: String = "ends.py") async throws {
        try await self.init(arguments: scenario, script: name)
    }

    /// The same, with the arguments of a script.
    init(arguments: [String], script name: String) async throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent(name)
        program = try Program("python3", [script.path] + arguments)
        server = try #require(Int(try await program.match(/(\d+)\n/)))
    }

    /// What both ends saw, once they are done.
    func result() async throws -> Seen {
        let status = try await program.exitStatus()
        guard status == 0 else { throw Program.Failure(description: "the ends failed:\n\(program.errors)") }
        let line = try #require(program.output.split(separator: "\n").last)
        let values = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        return Seen(
            text: String(line), texts: values.compactMapValues { $0 as? String },
            numbers: values.compactMapValues { $0 as? Int })
    }

    /// The observations of both ends.
    struct Seen: CustomStringConvertible {
        let text: String
        let texts: [String: String]
        let numbers: [String: Int]

        var description: String { text }

        /// A text at a key.
        subscript(key: String) -> String { texts[key] ?? "nothing" }

        /// Whether one side received exactly what the other one sent.
        func arrived(from sender: String, to receiver: String) -> Bool {
            texts["\(sender) sent"] != nil && texts["\(sender) sent"] == texts["\(receiver) got"]
        }
    }
}
