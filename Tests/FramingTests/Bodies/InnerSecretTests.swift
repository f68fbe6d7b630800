import Streams
import Testing

@testable import Framing

/// Secrets of formats whose frames are inside those of another one.
@Suite struct InnerSecretTests {
    private static let sized = """
        format: x
        header: [{ length: u16 }]
        framing: { rule: length-field, field: length }

        """
    private static let redis = "{ format: { name: \"example:redis\" } }"

    /// A body as it is shown, with and without its secrets.
    private func shown(_ yaml: String, _ body: [UInt8]) throws -> (all: String, redacted: String) {
        let format = try FormatLoader.load(Self.sized + yaml, file: "x.yaml")
        let bytes = [UInt8(body.count >> 8), UInt8(body.count & 255)] + body
        let decoded = format.directions.fromClient.decodeBody(
            of: bytes.span.bytes, FrameShape(head: 2, body: body.count))
        let paths = SecretPaths(format.secrets, from: .fromClient) { _ in true }
        let redacted = decoded.redacting(paths.body, of: body.span.bytes)
        return (
            String(decoding: decoded.bytes ?? [], as: UTF8.self), String(decoding: redacted.bytes ?? [], as: UTF8.self)
        )
    }

    private static func command(_ words: String...) -> [UInt8] {
        Array(("*\(words.count)\r\n" + words.map { "$\($0.utf8.count)\r\n\($0)\r\n" }.joined()).utf8)
    }

    private static let commands = command("AUTH", "hunter2") + command("GET", "public")
    private static let count = UInt8(commands.count)

    private static let tunnel = """
        formats:
          mid:
            header: [{ kind: { type: u8, names: { 1: redis, 2: text } } }, { size: u8 }]
            framing: { rule: length-field, field: size }
            frame: { type: kind }
            body: { byType: { redis: \(redis) }, else: text }

        """

    private static let inside: [(String, [UInt8])] = [
        // In a field, in a list, and in a field of another structure.
        ("body: { fields: [{ id: u8 }, { frames: { body: \(redis), size: rest } }] }", [7] + commands),
        (
            "body: { fields: [{ list: { repeat: rest, of: [{ frames: { body: \(redis), size: u8 } }] } }] }",
            [count] + commands + [count] + commands
        ),
        (
            "body: { fields: [{ outer: { body: { fields: [{ frames: { body: \(redis), size: rest } }] }, size: rest } }] }",
            commands
        ),
        // In frames inside, and in a field with such frames.
        (tunnel + "body: { format: { name: mid } }", [1, count] + commands),
        (
            tunnel + "body: { fields: [{ frames: { body: { format: { name: mid } }, size: rest } }] }",
            [1, count] + commands
        ),
    ]

    @Test(arguments: inside)
    func areRedactedAsTheirFormatSays(yaml: String, body: [UInt8]) throws {
        let (all, redacted) = try shown(yaml, body)
        #expect(all.contains("hunter2"))
        #expect(!redacted.contains("hunter2") && redacted.contains("public"), "\(redacted)")
    }

    /// Bytes that belong to no frame, and those that could not be decoded, may hold secrets.
    @Test(arguments: [redis, "[base64, \(redis)]"]) func whatWasNotReadIsHidden(chain: String) throws {
        let (all, redacted) = try shown(
            "body: { fields: [{ id: u8 }, { frames: { body: \(chain), size: rest } }] }", [7] + Array("hunter2!".utf8))
        let digits = hex(Array("hunter2".utf8))
        #expect(all.contains(digits), "\(all)")
        #expect(!redacted.contains(digits) && redacted.contains("\"id\":7"), "\(redacted)")
    }

    /// A format without secrets of its own only hides those inside it.
    @Test func textBesideThemIsShown() throws {
        let (_, redacted) = try shown(
            Self.tunnel + "body: { format: { name: mid } }",
            [1, Self.count] + Self.commands + [2, 5] + Array("Hello".utf8))
        #expect(!redacted.contains("hunter2") && redacted.contains("Hello"), "\(redacted)")
    }

    /// In a header, the conditions of the format inside are not known.
    @Test func inAHeaderAllValuesThatMayBeSecretAreHidden() throws {
        let format = try FormatLoader.load(
            """
            format: x
            header: [{ size: u8 }, { frames: { body: \(Self.redis), size: size } }]
            framing: { rule: fields }
            """, file: "x.yaml")
        let paths = SecretPaths(format.secrets, from: .fromClient) { _ in false }
        #expect(paths.fields.contains(["frames", "fields", "args"]) && paths.fields.contains(["frames", "unframed"]))
    }

    /// Types may contain themselves: what is too deep to look for its secrets is one.
    @Test func theDeepestValuesOfAHeaderAreHiddenAsAWhole() throws {
        let format = try FormatLoader.load(
            """
            format: x
            types:
              node:
                - { size: u8 }
                - { frames: { body: \(Self.redis), size: size } }
                - { count: u8 }
                - { nodes: { repeat: count, of: node } }
            header: [{ count: u8 }, { nodes: { repeat: count, of: node } }]
            framing: { rule: fields }
            """, file: "x.yaml")
        let paths = SecretPaths(format.secrets, from: .fromClient) { _ in false }
        #expect(paths.fields.contains(["nodes", "frames", "fields", "args"]))
        #expect(paths.fields.contains { Set($0) == ["nodes"] }, "\(paths.fields)")
    }
}
