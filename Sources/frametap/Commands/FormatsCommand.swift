import ArgumentParser
import Framing

/// `frametap formats`: lists the known formats, and checks format files.
struct FormatsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "formats",
        abstract: "List, show and check formats; build frames.",
        subcommands: [List.self, Show.self, CheckCommand.self, Encode.self, Keys.self, Schema.self],
        defaultSubcommand: List.self)

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the built-in formats, the framing rules and the examples.")

        func run() throws {
            let (systems, rules) = BuiltInFormats.outlines
            for format in systems {
                let ports = format.ports.map(String.init).joined(separator: ",")
                let columns = [pad(format.name, 16), pad(ports.isEmpty ? "-" : ports, 8), format.summary]
                printText(columns.joined(separator: "  "))
            }
            printText("\nFraming rules, to try where there is no file yet (fixed and marker, above, are rules too):\n")
            for rule in rules { printText("\(pad(rule.name, 16))  \(rule.summary)") }
            printText("\nExamples, described with the same language (--format example:redis):\n")
            for (name, format) in ExampleFormats.outlines {
                let ports = format.ports.map(String.init).joined(separator: ",")
                let columns = [pad(name, 16), pad(ports.isEmpty ? "-" : ports, 16), format.summary]
                printText(columns.joined(separator: "  "))
            }
            printText("\nParameters: --format fixed:size=8, --format 'delimiter:end=\\r\\n'")
        }

        private func pad(_ text: String, _ width: Int) -> String {
            text + String(repeating: " ", count: max(0, width - text.count))
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Print the file of a built-in format, or of an example: a start for your own.")

        @Argument(
            help: "The format's name.",
            completion: .list(
                BuiltInFormats.names + BuiltInFormats.ruleNames
                    + ExampleFormats.names.map { ExampleFormats.prefix + $0 }
            ))
        var name: String

        func run() throws {
            let isExample = name.hasPrefix(ExampleFormats.prefix)
            let yaml =
                isExample
                ? ExampleFormats.yaml(of: String(name.dropFirst(ExampleFormats.prefix.count)))
                : BuiltInFormats.yaml(of: name)
            guard let yaml else {
                throw ValidationError("there is no format \(name); \(FormatName.known(near: name))")
            }
            printText(yaml, terminator: "")
        }
    }

    struct Keys: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "keys",
            abstract: "List the sections of format files, or the keys of one.",
            discussion: """
                A section is named by its place: heartbeat, heartbeat.answer, framing.delimiter, body.aes. Its last part is enough if \
                no other section has it.
                """)

        @Argument(help: "The section, such as heartbeat or length-field; all of them without it.")
        var section: String?

        func run() throws {
            do {
                printText(
                    try section.map { try FormatLanguage.listing(of: $0) } ?? FormatLanguage.listing, terminator: "")
            } catch let error as FormatLanguageError {
                throw ValidationError(error.description)
            }
        }
    }

    struct Schema: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "schema",
            abstract: "Print the JSON Schema of format files, for completion and checking in editors.")

        func run() { printText(FormatLanguage.schema, terminator: "") }
    }
}
