import ArgumentParser
import Framing
import Pipeline

/// Which formats are looked for.
struct FormatOptions: ParsableArguments {
    @Option(
        name: .customLong("format"),
        help: ArgumentHelp(
            "auto, a built-in format's name, or a format file; PORT=FORMAT for one server port. May be repeated.",
            valueName: "format"))
    var formats: [String] = []

    /// What the decoder is to look for.
    func decodingOptions() throws -> DecodingOptions {
        var options = DecodingOptions(.automatic(try BuiltInFormats.all()))
        for text in formats {
            let parts = text.split(separator: "=", maxSplits: 1)
            if parts.count == 2, let port = UInt16(parts[0]) {
                options.byPort[port] = try Self.format(String(parts[1]))
            } else if text != "auto" {
                options.choice = .fixed(try Self.format(text))
            }
        }
        return options
    }

    /// A built-in format by its name, or the format that a file describes.
    static func format(_ text: String) throws -> Format {
        if let format = try BuiltInFormats.format(named: text) { return format }
        guard text.contains("/") || text.hasSuffix(".yaml") || text.hasSuffix(".yml") else {
            let known = BuiltInFormats.names.joined(separator: ", ")
            throw ValidationError(
                "there is no format \(text); built in are \(known). A format file's name ends in .yaml")
        }
        let bytes = try FileInput.contents(of: text, limit: 4 << 20)
        return try FormatLoader.load(String(decoding: bytes, as: UTF8.self), file: text)
    }
}

extension DecodingOptions {
    /// The ports on which servers of the formats looked for listen: they tell which end of a connection is the client.
    var serverPorts: Set<UInt16> {
        var ports = Set(byPort.keys)
        switch choice {
        case .automatic(let formats): ports.formUnion(formats.flatMap(\.ports))
        case .fixed(let format): ports.formUnion(format.ports)
        }
        return ports
    }
}
