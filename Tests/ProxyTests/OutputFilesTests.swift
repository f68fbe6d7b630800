import ArgumentParser
import Foundation
import Proxy
import Testing

@testable import frametap

/// Where output is written, and the form of messages.
@Suite struct OutputFilesTests {
    private let files: Folder

    init() throws { files = try Folder() }

    private func areOne(_ left: String, _ right: String) -> Bool {
        do {
            try OutputFiles.check([("--write", left), ("--trace", right)])
            return false
        } catch { return true }
    }

    @Test func oneFileIsOneFileHoweverItIsSpelt() throws {
        let path = try files.write([1], to: "a")
        try FileManager.default.createSymbolicLink(atPath: files.path("soft"), withDestinationPath: "a")
        try FileManager.default.linkItem(atPath: path, toPath: files.path("hard"))
        try FileManager.default.createSymbolicLink(atPath: files.path("new-link"), withDestinationPath: "new")
        for other in ["a", "./a", "soft", "hard", "../\(files.url.lastPathComponent)/a"] {
            #expect(areOne(path, files.path(other)), "\(other)")
        }
        // A file that does not exist yet.
        for other in ["new", ".//new", "new-link"] { #expect(areOne(files.path("new"), files.path(other)), "\(other)") }
        #expect(areOne("-", "-"))
        #expect(!areOne(path, files.path("b")) && !areOne(files.path("new"), files.path("newer")))
        #expect(!areOne("/dev/null", "/dev/null"))
    }

    @Test func aFileThatIsReadIsNotWritten() throws {
        let path = try files.write([1], to: "a")
        #expect(throws: ValidationError.self) { try OutputFiles.check([("--output", path)], inputs: [path]) }
        #expect(throws: Never.self) { try OutputFiles.check([("--output", files.path("b"))], inputs: [path, "-"]) }
    }

    @Test func theProxyRefusesItBeforeAnythingIsWritten() async throws {
        let path = try files.write([1, 2, 3], to: "a")
        let program = try Program(
            "frametap",
            ["proxy", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--write", path, "--trace", path])
        #expect(try await program.exitStatus() == 64)
        #expect(program.errors.contains("are the same file") && files.bytes("a") == [1, 2, 3], "\(program.errors)")
    }

    @Test func theDemonstrationRefusesItToo() async throws {
        let path = try files.write([1, 2, 3], to: "a")
        let program = try Program("frametap", ["demo", "line", "--as", "none", "--write", path, "--trace", path])
        #expect(try await program.exitStatus() == 64)
        #expect(program.errors.contains("are the same file") && files.bytes("a") == [1, 2, 3], "\(program.errors)")
    }

    @Test(arguments: [
        ["decode", "\u{1b}[31mx"], ["proxy", "--listen", "\u{1b}[31mx"], ["decode", "x", "--\u{1b}[31m"],
    ])
    func noEscapeSequenceReachesATerminal(_ arguments: [String]) async throws {
        let program = try Program("frametap", arguments)
        #expect(try await program.exitStatus() != 0)
        #expect(!program.errors.contains("\u{1b}") && program.errors.contains("␛"), "\(program.errors)")
    }

    @Test func linesOfAMessageArePartOfIt() {
        #expect(printable("no a\nframetap: all is well\n  sudo b") == "no a\n  frametap: all is well\n  sudo b")
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("::1", true), ("::ffff:127.0.0.1", true), ("::ffff:7f00:1", true),
        ("0:0:0:0:0:0:0:1", true),
        ("localhost", true), ("::ffff:192.0.2.1", false), ("0.0.0.0", false), ("::", false), ("127.example.com", false),
    ]) func whatOnlyThisMachineReaches(_ host: String, _ isLoopback: Bool) {
        #expect(HostPort(host: host, port: 1).isLoopback == isLoopback)
    }

    @Test func aPortWithoutAServerIsNamedInWords() async throws {
        let trace = try #require(
            Bundle.main.executableURL.map { _ in
                URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                    .deletingLastPathComponent().appendingPathComponent("fixtures/fixed/conversation.ndjson").path
            })
        let program = try Program("frametap", ["connect", "--replay", trace, "--to", "127.0.0.1:1"])
        let cause = try await program.match(/frametap: cannot talk to 127\.0\.0\.1:1: (.*)\n/, inErrors: true)
        #expect(cause == "Connection refused")
        #expect(try await program.exitStatus() == 2)
    }
}
