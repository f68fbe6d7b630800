import ArgumentParser
import Framing
import Pipeline

/// Which formats are looked for.
struct FormatOptions: ParsableArguments {
    @Option(
        name: .customLong("format"),
        help: ArgumentHelp(
            "auto, a built-in format's or rule's name, example:NAME, or a format file; PORT=FORMAT for one server port. May be repeated with ports.",
            discussion: "Parameters stand after a colon: fixed:size=8, or 'delimiter:end=\\r\\n'.",
            valueName: "format"), completion: .file())
    var formats: [String] = []

    @Flag(help: "Look for the examples, too: HTTP, MQTT, Redis, … (frametap formats lists them).")
    var examples = false

    @Option(
        help: ArgumentHelp(
            "The heartbeat contract, overriding the format file's: 'every: 2 s, gap: 6 s'; none: no analysis of heartbeats.",
            discussion: """
                The keys are those of a format file's heartbeat. Without when, from and every, they apply only to formats that \
                declare heartbeats.
                """,
            valueName: "key: value"))
    var heartbeat: String?

    @Flag(help: "If a format declares no heartbeats, learn which frames recur regularly, and report gaps between them.")
    var learnHeartbeats = false

    @Flag(help: "Report frames where published receivers of the format would have stalled, misread or lost data.")
    var hazards = false

    /// What the decoder looks for.
    func decodingOptions() throws -> DecodingOptions {
        var byPort: [UInt16: Format] = [:]
        var asked: Format?
        /// What was asked for, as it was written.
        var other: String?
        for text in formats {
            let parts = text.split(separator: "=", maxSplits: 1)
            if parts.count == 2, let port = UInt16(parts[0]) {
                byPort[port] = try Self.format(String(parts[1]))
            } else if text != "auto" {
                if let other {
                    throw ValidationError("--format \(other) and --format \(text): expected one without a port")
                }
                other = text
                asked = try Self.format(text)
            }
        }
        var options = DecodingOptions(try asked.map { .fixed($0) } ?? .automatic(all()))
        options.byPort = byPort
        options.learnsHeartbeats = learnHeartbeats
        options.findsHazards = hazards
        if let heartbeat { try options.replaceFormats { try Self.override($0, heartbeat) } }
        return options
    }

    /// The formats that are looked for.
    private func all() throws -> [Format] { try BuiltInFormats.all() + (examples ? ExampleFormats.recognised() : []) }

    private static func override(_ format: Format, _ heartbeat: String) throws -> Format {
        var format = format
        if heartbeat == "none" {
            format.heartbeat = nil
            return format
        }
        do throws(FormatFileError) {
            return try format.overridingHeartbeat(heartbeat, place: "--heartbeat") ?? format
        } catch {
            throw ValidationError("--heartbeat '\(heartbeat)': " + error.faults.map(\.message).joined(separator: "; "))
        }
    }

    /// A built-in format, rule or example by its name, or the format that a file describes, with parameters after a colon.
    static func format(_ text: String) throws -> Format {
        do {
            return try FormatName.format(
                text, contents: { String(decoding: try FileInput.contents(of: $0, limit: 4 << 20), as: UTF8.self) },
                other: { FileInput.format(named: $0, beside: $1) })
        } catch let error as FormatNameError {
            throw ValidationError("--format \(error)")
        }
    }
}

extension DecodingOptions {
    /// Replaces each of the formats.
    mutating func replaceFormats(_ replacement: (Format) throws -> Format) rethrows {
        switch choice {
        case .automatic(let formats): choice = .automatic(try formats.map(replacement))
        case .fixed(let format): choice = .fixed(try replacement(format))
        }
        for (port, format) in byPort { byPort[port] = try replacement(format) }
    }

    /// The server ports of the formats: they identify which end of a connection is the client.
    var serverPorts: Set<UInt16> {
        var ports = Set(byPort.keys)
        switch choice {
        case .automatic(let formats): ports.formUnion(formats.flatMap(\.ports))
        case .fixed(let format): ports.formUnion(format.ports)
        }
        return ports
    }
}
