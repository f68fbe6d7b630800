import Foundation
import Framing
import Testing

/// What the captures of examples do not have: bytes built from the protocols' specifications, and what is shown of them.
///
/// `fixtures/example-frames` has a file for an example: comments, and a script as in `FormatExample`. Every secret in it is the
/// word SECRET. With FRAMETAP_UPDATE_DOCS=1 what is shown is written.
@Suite struct ExampleFrameTests {
    private static let folder = "\(Example.root)/fixtures/example-frames"

    private static let names: [String] = {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return files.filter { $0.hasSuffix(".txt") }.map { String($0.dropLast(4)) }.sorted()
    }()

    /// What is shown of a script's bytes by an example's format.
    private func played(_ name: String, _ script: String) throws -> String {
        let yaml = try String(contentsOfFile: Example(name: name).formatPath, encoding: .utf8)
        return try FormatExample(name: "\(name).yaml", yaml: yaml, script: script).played()
    }

    /// The lines that say what is shown have no secret, neither as text nor in hex.
    private func expectNoSecret(_ played: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let shown = played.split(separator: "\n").filter { $0.hasPrefix("  ") }
        let secrets = shown.filter { $0.contains("SECRET") || $0.contains("534543524554") }
        #expect(secrets == [], sourceLocation: sourceLocation)
    }

    @Test func filesAreOfExamples() {
        #expect(Self.names.count > 15 && Set(Self.names).isSubset(of: ExampleFormats.names))
    }

    @Test(arguments: names) func theBytesDecodeAsTheFileSays(_ name: String) throws {
        let path = "\(Self.folder)/\(name).txt"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let lines = text.split(separator: "\n")
        let comments = lines.prefix { $0.hasPrefix("#") }.map { "\($0)\n" }.joined()
        let script = lines.drop { $0.hasPrefix("#") }.map { "\($0)\n" }.joined()
        let played = try played(name, script)
        expectNoSecret(played)
        if FormatReferenceTests.updates, played != script {
            return try (comments + played).write(toFile: path, atomically: true, encoding: .utf8)
        }
        #expect(played == script, "\(name)")
        #expect(played.contains("\n  {"), "\(name) has no frame")
    }

    /// After the first line of a server that requires TLS, both sides send TLS (here the beginning of a ClientHello).
    @Test func natsChangesToTLS() throws {
        let hello = "16 03 01 00 2d 01 00 00 29 03 03 \"\(String(repeating: "r", count: 32))\" 00 00 02 13 01 01 00"
        func shown(_ info: String) throws -> String {
            try played("nats", "server: \"INFO {\(info)}\\r\\n\"\nclient: \(hello)\n")
        }
        let required = try shown(#"\"tls_required\":true"#)
        #expect(required.contains("\n  unframed: TLS that was not decrypted\n"), "\(required)")
        // It may be left to the client.
        let available = try shown(#"\"tls_available\":true"#)
        #expect(!available.contains("TLS that was not decrypted"), "\(available)")
    }

    /// AMQP 1.0 begins with the same four letters (its specification, section 2.2), and has other frames.
    @Test(arguments: [
        ("00 00 09 01", true), ("00 00 09 00", true), ("01 01 00 09", true), ("00 01 00 00", false),
        ("02 01 00 00", false), ("03 01 00 00", false),
    ]) func amqpIsRecognisedByItsVersion(_ version: String, _ isRecognised: Bool) throws {
        let played = try played("amqp", "detect\nclient: \"AMQP\" \(version)\n")
        #expect(played.contains("  format: AMQP's header\n") == isRecognised, "\(played)")
    }
}
