import ArgumentParser
import Framing
import Pipeline
import Platform

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
        name: .customLong("heartbeat"),
        help: ArgumentHelp(
            "The heartbeat contract, overriding the format file's: 'every: 2 s, gap: 6 s'; none: no analysis of heartbeats.",
            discussion: """
                The keys are those of a format file's heartbeat. Without when, from and every, they apply only to formats that \
                declare heartbeats, and formats that are only looked for keep their own contracts if it does not fit them.
                """,
            valueName: "key: value"))
    var heartbeats: [String] = []

    @Flag(help: "If a format declares no heartbeats, learn which frames recur regularly, and report gaps between them.")
    var learnHeartbeats = false

    @Flag(help: "Report frames where published receivers of the format would have stalled, misread or lost data.")
    var hazards = false

    func validate() throws {
        guard let heartbeat = try heartbeat(), !formats.contains(where: { Self.port(of: $0) == nil && $0 != "auto" })
        else { return }
        let kept = try Self.overriding(all(), heartbeat).kept
        guard !kept.isEmpty else { return }
        warn(
            "--heartbeat '\(heartbeat)' does not fit formats that keep their own contracts: \(kept.joined(separator: ", "))"
        )
    }

    /// What overrides the contracts; nil: nothing.
    private func heartbeat() throws -> String? {
        try heartbeats.single("--heartbeat", "expected one with all keys, such as 'every: 2 s, gap: 6 s'")
    }

    /// What the decoder looks for.
    func decodingOptions() throws -> DecodingOptions {
        var byPort: [UInt16: Format] = [:]
        var asked: Format?
        /// What was asked for, as it was written.
        var other: String?
        for text in formats {
            if let (port, name) = Self.port(of: text) {
                if byPort[port] != nil { throw ValidationError("--format \(text): port \(port) has a format already") }
                byPort[port] = try Self.format(name)
            } else {
                if let other {
                    throw ValidationError("--format \(other) and --format \(text): expected one without a port")
                }
                other = text
                asked = try text == "auto" ? nil : Self.format(text)
            }
        }
        var options = DecodingOptions(try asked.map { .fixed($0) } ?? .automatic(all()))
        options.byPort = byPort
        options.learnsHeartbeats = learnHeartbeats
        options.findsHazards = hazards
        if let heartbeat = try heartbeat() {
            switch options.choice {
            case .automatic(let formats): options.choice = .automatic(try Self.overriding(formats, heartbeat).formats)
            case .fixed(let format): options.choice = .fixed(try Self.override(format, heartbeat) ?? format)
            }
            for (port, format) in options.byPort {
                options.byPort[port] = try Self.override(format, heartbeat) ?? format
            }
        }
        return options
    }

    /// The files that describe them.
    var files: [String] { Self.files(in: formats.map { Self.port(of: $0)?.name ?? $0 }) }

    /// Those of the names of formats that are files; parameters may stand after a colon.
    static func files(in names: [String]) -> [String] {
        let paths = names.flatMap { name in
            [name] + name.indices.filter { name[$0] == ":" }.map { String(name[..<$0]) }
        }
        return paths.filter { path in
            (path.contains("/") || path.hasSuffix(".yaml") || path.hasSuffix(".yml")) && FileStatus(of: path) != nil
        }
    }

    /// The parts of `PORT=FORMAT`; nil for a format of any port.
    private static func port(of text: String) -> (port: UInt16, name: String)? {
        let parts = text.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, let port = UInt16(parts[0]) else { return nil }
        return (port, String(parts[1]))
    }

    /// The formats that are looked for.
    private func all() throws -> [Format] {
        try BuiltInFormats.allWithVariants() + (examples ? ExampleFormats.recognised() : [])
    }

    /// A format with another contract; nil if it declares none, and this is not a whole one.
    private static func override(_ format: Format, _ heartbeat: String) throws(ValidationError) -> Format? {
        if heartbeat == "none" {
            var format = format
            format.heartbeat = nil
            return format
        }
        do throws(FormatFileError) {
            return try format.overridingHeartbeat(heartbeat, place: "--heartbeat")
        } catch {
            let faults = error.faults.map(\.message).joined(separator: "; ")
            throw ValidationError("--heartbeat '\(heartbeat)' with the format \(format.name): \(faults)")
        }
    }

    /// Formats that are looked for, with another contract, and the names of those that keep their own because it does not fit.
    ///
    /// What fits none of them is an error.
    private static func overriding(
        _ formats: [Format], _ heartbeat: String
    ) throws(ValidationError) -> (formats: [Format], kept: [String]) {
        var result: [Format] = []
        var kept: [String] = []
        var (fits, fault): (Bool, ValidationError?) = (false, nil)
        for format in formats {
            do throws(ValidationError) {
                let changed = try Self.override(format, heartbeat)
                fits = fits || changed != nil
                result.append(changed ?? format)
            } catch {
                fault = fault ?? error
                kept.append(format.name)
                result.append(format)
            }
        }
        if let fault, !fits { throw fault }
        return (result, kept)
    }

    /// A built-in format, rule or example by its name, or the format that a file describes, with parameters after a colon.
    static func format(_ text: String) throws -> Format {
        do { return try named(text) } catch let error as FormatNameError { throw ValidationError("--format \(error)") }
    }

    /// The same; an unknown name is a `FormatNameError`.
    static func named(_ text: String) throws -> Format {
        try FormatName.format(
            text, contents: { String(decoding: try FileInput.contents(of: $0, limit: 4 << 20), as: UTF8.self) },
            other: { FileInput.format(named: $0, beside: $1) })
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
