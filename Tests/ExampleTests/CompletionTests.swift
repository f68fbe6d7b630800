import Foundation
import Testing

/// Completions of the shells, which are generated from what each option says of its values.
@Suite struct CompletionTests {
    /// What completes a value, by the value's name in help.
    private static let kinds = [
        "file": "file", "file.pcapng": "file", "file.ndjson": "file", "capture": "file", "folder": "directory",
        "dir": "directory", "kinds": "list", "what,…": "list",
    ]

    @Test(arguments: kinds.keys.sorted()) func valuesAreCompleted(value: String) throws {
        let help = try Program.run("frametap", ["--experimental-dump-help"]).text
        let dump = try #require(try JSONSerialization.jsonObject(with: Data(help.utf8)) as? [String: Any])
        let command = try #require(dump["command"] as? [String: Any])
        let arguments = arguments(of: command).filter { $0.value == value }
        #expect(!arguments.isEmpty)
        for argument in arguments { #expect(argument.kind == Self.kinds[value], "\(argument.command)") }
    }

    /// The options and arguments of a command and its subcommands.
    private func arguments(
        of command: [String: Any], in path: String = ""
    ) -> [(command: String, value: String, kind: String?)] {
        let name = path + (command["commandName"] as? String ?? "")
        let own = (command["arguments"] as? [[String: Any]] ?? []).map { argument in
            (
                command: name, value: argument["valueName"] as? String ?? "",
                kind: (argument["completionKind"] as? [String: Any])?.keys.first
            )
        }
        let inner = command["subcommands"] as? [[String: Any]] ?? []
        return own + inner.flatMap { arguments(of: $0, in: name + " ") }
    }
}
