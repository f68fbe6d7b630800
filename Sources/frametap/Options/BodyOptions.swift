import ArgumentParser
import Framing
import Pipeline

/// Options needed to read bodies: keys, and message descriptions.
struct BodyOptions: ParsableArguments {
    @Option(
        name: .customLong("key"),
        help: ArgumentHelp(
            "A key: NAME=HEX, NAME=base64:…, NAME=text:…, NAME=file:PATH or NAME=env:VARIABLE. May be repeated.",
            discussion: """
                NAME is what the format calls it, by default the format's own name; NAME.iv is what CBC starts with. Without \
                this option, FRAMETAP_KEY_NAME in the environment is used (in capitals, with _ for all but letters and \
                digits), which other users cannot see in a list of processes. A file contains the key in one of these \
                notations, or 16, 24 or 32 raw bytes.
                """,
            valueName: "name=key"))
    var keys: [String] = []

    @Option(
        help: ArgumentHelp(
            "Show Protobuf messages by name; protoc --include_imports --descriptor_set_out=FILE makes such a file.",
            valueName: "file"), completion: .file())
    var descriptorSet: String?

    @Flag(help: "Show values that the format marks as secret: passwords, tokens.")
    var showSecrets = false

    /// The files that are read: keys, and message descriptions.
    var files: [String] {
        let ofKeys = keys.compactMap { text -> String? in
            let value = text.drop { $0 != "=" }.dropFirst()
            return value.hasPrefix("file:") ? String(value.dropFirst("file:".count)) : nil
        }
        return ofKeys + [descriptorSet].compactMap { $0 }
    }

    /// Adds to the formats what their bodies need.
    func apply(to options: inout DecodingOptions) throws {
        let given = try Self.given(keys)
        let schema = try descriptorSet.map { path in
            let bytes = try FileInput.contents(of: path, limit: 64 << 20)
            do {
                return try MessageSchema(descriptorSet: bytes)
            } catch {
                throw CommandError("\(path): \(error)")
            }
        }
        var known: Set<String> = []
        func use(_ format: Format) throws -> Format {
            var format = format
            if showSecrets { format.secrets = [] }
            var resources = BodyResources(keys: given, schema: schema)
            for name in format.bodyKeyNames {
                known.insert(name)
                if resources.keys[name] == nil { resources.keys[name] = try Self.fromEnvironment(name) }
            }
            do {
                try format.use(resources)
            } catch {
                throw ValidationError("format \(format.name): \(error)")
            }
            return format
        }
        try options.replaceFormats(use)
        for name in given.keys.sorted() where !known.contains(name) {
            let names =
                known.isEmpty ? "none of these formats has keys" : "known are " + known.sorted().joined(separator: ", ")
            throw ValidationError("no format has a key \(name); \(names)")
        }
    }

    /// A format with what its bodies need.
    func applied(to format: Format) throws -> Format {
        var options = DecodingOptions(.fixed(format))
        try apply(to: &options)
        if case .fixed(let format) = options.choice { return format }
        return format
    }

    // MARK: Keys

    /// The key of that name, from `--key` or from the environment.
    static func key(_ name: String, among keys: [String]) throws -> [UInt8]? {
        try given(keys)[name] ?? fromEnvironment(name)
    }

    private static func given(_ keys: [String]) throws -> [String: [UInt8]] {
        var given: [String: [UInt8]] = [:]
        for text in keys {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else {
                // The value is not repeated: it may be a key.
                throw ValidationError("--key takes NAME=KEY, such as login=00112233445566778899aabbccddeeff")
            }
            given[String(parts[0])] = try bytes(of: String(parts[1]), for: String(parts[0]))
        }
        return given
    }

    private static func fromEnvironment(_ name: String) throws -> [UInt8]? {
        let variable =
            "FRAMETAP_KEY_" + String(name.uppercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
        return try Environment[variable].map { try bytes(of: $0, for: name) }
    }

    private static func bytes(of text: String, for name: String, isIndirect: Bool = false) throws -> [UInt8] {
        if !isIndirect, text.hasPrefix("file:") {
            let path = String(text.dropFirst("file:".count))
            let content = try FileInput.contents(of: path, limit: 4_096)
            let line = String(decoding: content, as: UTF8.self).filter { !$0.isWhitespace }
            if let bytes = try? bytes(of: line, for: name, isIndirect: true) { return bytes }
            guard [16, 24, 32].contains(content.count) else {
                throw ValidationError(
                    "\(path), for the key \(name): expected hex digits, base64:…, text:…, or exactly 16, 24 or 32 raw bytes; found \(content.count) bytes"
                )
            }
            return content
        }
        if !isIndirect, text.hasPrefix("env:") {
            let variable = String(text.dropFirst("env:".count))
            guard let value = Environment[variable] else {
                throw ValidationError("the environment has no \(variable), for the key \(name)")
            }
            return try bytes(of: value, for: name, isIndirect: true)
        }
        if text.hasPrefix("text:") { return Array(text.utf8.dropFirst("text:".utf8.count)) }
        do {
            if text.hasPrefix("base64:") { return try Base64.decode(Array(text.utf8.dropFirst(7)).span.bytes) }
            let bytes = try Base16.decode(Array(text.utf8).span.bytes)
            if !bytes.isEmpty { return bytes }
        } catch {
            throw ValidationError("the key \(name): \(error)")
        }
        throw ValidationError("the key \(name) is empty")
    }
}
