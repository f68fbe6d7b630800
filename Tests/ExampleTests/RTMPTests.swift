import Foundation
import Framing
import Testing

/// What RTMP's capture does not have, as bytes by Adobe's specifications of RTMP 1.0 and AMF 0: stream keys, messages in AMF 3's
/// form, and other clients' handshakes.
@Suite struct RTMPTests {
    // MARK: Bytes

    private func all(_ parts: [UInt8]...) -> [UInt8] { Array(parts.joined()) }

    private func number(_ value: Double) -> [UInt8] {
        let bits = value.bitPattern
        return [0] + (0..<8).map { UInt8(truncatingIfNeeded: bits >> UInt64(56 - 8 * $0)) }
    }

    /// A string after its length.
    private func name(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        return [UInt8(bytes.count >> 8), UInt8(bytes.count & 255)] + bytes
    }

    private func text(_ text: String) -> [UInt8] { [2] + name(text) }

    private func object(_ properties: (name: String, value: [UInt8])...) -> [UInt8] {
        let inside: [UInt8] = properties.flatMap { all(name($0.name), $0.value) }
        return all([3], inside, [0, 0, 9])
    }

    /// A message in chunks.
    private func chunks(_ stream: UInt8, _ kind: UInt8, _ body: [UInt8], size: Int = 128) -> [[UInt8]] {
        let length: [UInt8] = [0, UInt8(body.count >> 8), UInt8(body.count & 255)]
        let head = all([stream, 0, 0, 0], length, [kind, 1, 0, 0, 0])
        return stride(from: 0, to: body.count, by: size).map { start -> [UInt8] in
            let part = Array(body[start..<min(start + size, body.count)])
            return start == 0 ? head + part : [0xc0 | stream] + part
        }
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
    }

    private static let zeros = "00 00 00 00 00 00 00 00"
    private static let random = "\"\(String(repeating: "R", count: 1_528))\""

    private func played(_ script: String) throws -> String {
        let yaml = try String(contentsOfFile: Example(name: "rtmp").formatPath, encoding: .utf8)
        return try FormatExample(name: "rtmp.yaml", yaml: yaml, script: script).played()
    }

    /// What is shown of the chunks that a client sends after the handshake: a line for each.
    private func shown(_ chunks: [[UInt8]]) throws -> [String] {
        let echo = "\(Self.zeros) \(Self.random)\n"
        let handshake = "client: 03 \(echo)server: 03 \(echo)server: \(echo)client: \(echo)"
        let bytes: [UInt8] = Array(chunks.joined())
        let lines = try played(handshake + "client: \(hex(bytes))\n").split(separator: "\n").map(String.init)
        return Array(lines.filter { $0.hasPrefix("  ") }.dropFirst(4))
    }

    private func types(_ lines: [String]) -> [String] {
        lines.map { line in
            let type = line.firstMatch(of: #/"type":"([^"]*)"/#)?.output.1 ?? "-"
            return String(type)
        }
    }

    /// Neither as text nor in hex.
    private func expectNoSecret(_ lines: [String], sourceLocation: SourceLocation = #_sourceLocation) {
        let secrets = lines.filter { $0.contains("SECRET") || $0.contains("534543524554") }
        #expect(secrets == [], sourceLocation: sourceLocation)
    }

    // MARK: Secrets

    private let key = String(repeating: "k", count: 60) + String(repeating: "SECRET", count: 20)

    /// A key that begins in one chunk ends in the next one, and chunks of other messages may come in between. In AMF 3's form a
    /// zero precedes the values.
    @Test(arguments: [UInt8(20), 17]) func aKeyInTwoChunksIsHidden(kind: UInt8) throws {
        let first: [UInt8] = kind == 17 ? [0] : []
        let publish = chunks(4, kind, all(first, text("publish"), number(5), [5], text(key), text("live")))
        let audio = chunks(6, 8, [UInt8](repeating: 0x41, count: 200))
        let play = chunks(4, 20, all(text("play"), number(0), [5], text("film")))
        let lines = try shown([publish[0], audio[0], publish[1], audio[1], play[0]])
        #expect(types(lines) == ["publish", "Audio", "CommandRest", "continuation", "play"], "\(lines)")
        expectNoSecret(lines)
        #expect(lines.count == 5 && lines[3].contains("4141") && lines[4].contains("film"))
    }

    /// A chunk may be shorter than a command's name.
    @Test(arguments: [1, 5, 10, 30]) func aKeyInShortChunksIsHidden(size: Int) throws {
        let body = all(text("publish"), number(5), [5], text("SECRET"), text("live"))
        let publish = chunks(4, 20, body, size: size)
        let lines = try shown(chunks(2, 1, [0, 0, 0, UInt8(size)]) + publish)
        #expect(types(lines).first == "SetChunkSize" && lines.count == 1 + publish.count)
        #expect(types(lines).dropFirst(2).allSatisfy { $0 == "CommandRest" }, "\(lines)")
        expectNoSecret(lines)
        // Not even the S of the key by itself.
        #expect(!lines.contains { $0.contains("\"hex\":\"53") })
    }

    /// `connect` has the server's address, which may end in a later chunk, and perhaps a user and a password.
    @Test func theAddressIsHidden() throws {
        let long = object(("app", text("live")), ("tcUrl", text("rtmp://h/live?" + key)))
        let lines = try shown(chunks(3, 20, all(text("connect"), number(1), long)))
        #expect(types(lines) == ["connect", "CommandRest"], "\(lines)")
        #expect(lines.first?.contains(#"{"name":"app","value":{"text":"live"}}"#) == true)
        expectNoSecret(lines)
        let short = object(("app", text("live?SECRET")), ("tcUrl", text("rtmp://h/SECRET")))
        let body = all(text("connect"), number(1), short, text("ann"), text("SECRET"))
        let others = try shown(chunks(3, 20, body))
        #expect(types(others) == ["connect"], "\(others)")
        expectNoSecret(others)
    }

    // MARK: Values

    /// References, XML documents and objects with a class (AMF 0, sections 2.9, 2.17 and 2.18); what is in AMF 3 is not read.
    @Test func valuesOfAllTypes() throws {
        let xml = all([15, 0, 0, 0, 4], Array("<a/>".utf8))
        let point = all([16], name("Point"), name("x"), number(1), [0, 0, 9])
        let body = all(text("call"), number(9), [7, 0, 1], xml, point, text("end"), [17, 6, 3, 0x78])
        let lines = try shown(chunks(3, 20, body))
        let expected =
            #"{"reference":1},{"xml":"<a/>"},{"class":"Point","object":[{"name":"x","value":{"number":1.0}}]},"#
            + #"{"text":"end"},{"amf3":"060378"}]"#
        #expect(lines.count == 1 && lines.first?.contains(expected) == true, "\(lines)")
    }

    // MARK: Recognition

    /// The four bytes after a client's time are to be zeros; ffmpeg writes its version there, and a time of 0.
    @Test(arguments: [
        ("00 00 00 00 00 00 00 00", true), ("00 01 02 03 00 00 00 00", true), ("00 00 00 00 09 00 7c 02", true),
        ("00 01 02 03 09 00 7c 02", false),
    ]) func handshakesAreRecognised(_ start: String, _ isRecognised: Bool) throws {
        let played = try played("detect\nclient: 03 \(start) \(Self.random)\n")
        #expect(played.contains("  format: an RTMP handshake\n") == isRecognised, "\(played.prefix(200))")
    }
}
