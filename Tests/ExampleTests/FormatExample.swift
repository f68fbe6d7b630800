import Foundation
import Framing
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

/// A format with bytes and what they decode to: a YAML block of docs/format-files.md with the block `frames` after it, or a file
/// of fixtures/format-keys with a second document.
///
///     client: 00 05 "Hello"
///       {"type":null,"fields":{"length":5},"body":{"length":5,"text":"Hello"}}
///     server at 10 s: "\x00\x02OK"
///       …
///     end
///       finding unanswered: …
///
/// Lines without indentation are what happens, those below one are what a decoder shows then.
struct FormatExample: CustomTestStringConvertible, Sendable {
    let name: String
    let yaml: String
    /// The lines that say what happens, and those that say what is shown.
    let script: String

    var testDescription: String { name }

    static let reference = "\(Example.root)/docs/format-files.md"
    static let folder = "\(Example.root)/fixtures/format-keys"

    /// All of them.
    static let all: [FormatExample] = {
        let text = (try? String(contentsOfFile: reference, encoding: .utf8)) ?? ""
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let files = names.sorted().compactMap { name -> FormatExample? in
            guard name.hasSuffix(".yaml"),
                let text = try? String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
            else { return nil }
            let parts = text.components(separatedBy: "\n--- |\n")
            let lines = parts.dropFirst().joined().split(separator: "\n", omittingEmptySubsequences: false)
            let script = lines.map { $0.dropFirst(2) }.joined(separator: "\n")
            return FormatExample(name: name, yaml: parts[0] + "\n", script: script)
        }
        return inReference(text) + files
    }()

    private static func inReference(_ text: String) -> [FormatExample] {
        text.components(separatedBy: "```yaml\n").dropFirst().enumerated().compactMap { index, block in
            let parts = block.components(separatedBy: "```")
            guard parts.count > 2, parts[1] == "\n\n", parts[2].hasPrefix("frames\n") else { return nil }
            return FormatExample(
                name: "reference-\(index + 1)", yaml: "format: x\n" + parts[0], script: String(parts[2].dropFirst(7)))
        }
    }

    /// The script with what is really shown.
    func played() throws -> String {
        var format = try FormatLoader.load(yaml, file: name)
        var lines: [String] = []
        var keys: [String: [UInt8]] = [:]
        let steps = script.split(separator: "\n").filter { !$0.hasPrefix("  ") }.map(String.init)
        for step in steps where step.hasPrefix("key ") {
            let words = step.split(separator: " ")
            keys[String(words[1])] = try Base16.decode(Array(words[2].utf8).span.bytes)
        }
        if !keys.isEmpty { try format.use(BodyResources(keys: keys)) }
        let output = MemoryOutput()
        let formats = try steps.contains("detect") ? FormatLoader.loadWithVariant(yaml, file: name) : []
        let options = DecodingOptions(formats.isEmpty ? .fixed(format) : .automatic(formats))
        let decoder = Decoder(options, sinks: [NDJSONWriter(to: output, source: "", tool: "")])
        var count = 0
        func show() throws {
            decoder.flush()
            let all = try traceLines(output.text)
            lines += all.dropFirst(count).compactMap(\.shown).map { "  \($0)" }
            count = all.count
        }
        let start = Timestamp(seconds: 1_795_248_000, nanoseconds: 0)
        let loopback = IPAddress(v4: 0x7f00_0001)
        var time = start
        let connection = decoder.open(
            Opening(
                number: 1, time: time, client: Endpoint(loopback, 40_000), server: Endpoint(loopback, 9_000),
                handshake: true))
        for (index, step) in steps.enumerated() where step != "end" {
            lines.append(step)
            guard let action = try Step(step) else { continue }
            time = action.time.map { start + $0 } ?? time + .milliseconds(1)
            decoder.advance(to: time)
            connection.received(action.bytes.span.bytes, from: action.direction, at: time, packet: index + 1)
            try show()
        }
        let last = lines.count
        for direction in Direction.allCases { connection.finished(.fin, from: direction, at: time) }
        connection.closed(Closing(reason: .fin, by: nil, time: time))
        decoder.finish()
        try show()
        if lines.count > last { lines.insert("end", at: last) }
        return lines.joined(separator: "\n") + "\n"
    }
}

/// Bytes that a side sends: `client at 10 s: 00 05 "Hello\r\n"`.
private struct Step {
    var direction: Direction
    var time: Interval?
    var bytes: [UInt8] = []

    struct Fault: Error { var line: String }

    /// Nil for lines that are no bytes.
    init?(_ line: String) throws {
        guard let colon = line.firstIndex(of: ":"), !line.hasPrefix("key ") else { return nil }
        let words = line[..<colon].split(separator: " ")
        guard let direction = Direction.allCases.first(where: { $0.sender == words[0] }) else {
            throw Fault(line: line)
        }
        self.direction = direction
        if words.count == 4, words[1] == "at", words[3] == "s", let seconds = Double(words[2]) {
            time = .seconds(seconds)
        }
        var rest = line[line.index(after: colon)...]
        while let character = rest.first {
            if character == " " {
                rest = rest.dropFirst()
            } else if character == "\"" {
                rest = rest.dropFirst()
                while let next = rest.first, next != "\"" { bytes += try Self.character(&rest, line) }
                rest = rest.dropFirst()
            } else {
                guard let byte = UInt8(rest.prefix(2), radix: 16) else { throw Fault(line: line) }
                bytes.append(byte)
                rest = rest.dropFirst(2)
            }
        }
    }

    private static func character(_ rest: inout Substring, _ line: String) throws -> [UInt8] {
        let character = rest.removeFirst()
        guard character == "\\", let escaped = rest.first else { return Array(String(character).utf8) }
        rest = rest.dropFirst()
        switch escaped {
        case "n": return [0x0a]
        case "r": return [0x0d]
        case "t": return [0x09]
        case "0": return [0]
        case "x":
            guard let byte = UInt8(rest.prefix(2), radix: 16) else { throw Fault(line: line) }
            rest = rest.dropFirst(2)
            return [byte]
        default: return Array(String(escaped).utf8)
        }
    }
}

extension TraceLine {
    /// What the line says, without what the example knows anyway; nil for lines that say nothing of the format.
    fileprivate var shown: String? {
        switch event {
        case "format": return self["by"] == "content" ? "format: \(self["evidence"] ?? "")" : nil
        case "frame":
            guard let type = text.range(of: "\"type\":") else { return text }
            return "{" + text[type.lowerBound...].replacing("\"heartbeat\":false,", with: "")
        case "unframed": return "unframed: \(self["detail"] ?? "")"
        case "finding": return "\(self["kind"] ?? ""): \(self["message"] ?? "")"
        default: return nil
        }
    }
}
