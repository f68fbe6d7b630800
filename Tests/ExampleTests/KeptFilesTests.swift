import Foundation
import TestSupport
import Testing

/// Files that are there stay as they are if a command cannot do its work, or reads them.
@Suite struct KeptFilesTests {
    private static let chat = "\(Example.root)/fixtures/im-json/chat.pcap"

    private func text(_ file: TemporaryFile) throws -> String { try String(contentsOfFile: file.path, encoding: .utf8) }

    /// 192.0.2.1 is nobody's address (RFC 5737).
    @Test(arguments: ["--control", "--web"]) func aProxyThatCannotListenWritesNothing(option: String) throws {
        let record = try TemporaryFile(Array("kept".utf8))
        let socket = FileManager.default.temporaryDirectory.appendingPathComponent("ft-\(UUID()).sock").path
        defer { try? FileManager.default.removeItem(atPath: socket) }
        let result = try Program.run(
            "frametap",
            [
                "proxy", "--listen", "unix:\(socket)", "--to", "127.0.0.1:1", "--write", record.path, option,
                "192.0.2.1:1",
            ])
        #expect(result.status == 2 && result.errors.contains("cannot listen on 192.0.2.1:1"), "\(result.errors)")
        #expect(try text(record) == "kept")
        #expect(!FileManager.default.fileExists(atPath: socket))
    }

    /// Each is read by an option; `FILE` stands for it.
    @Test(arguments: [
        ["decode", chat, "--format", "FILE"], ["decode", chat, "--format", "8088=FILE"],
        ["decode", chat, "--format", "FILE:size=8"], ["decode", chat, "--key", "im-json=file:FILE"],
        ["decode", chat, "--key-log", "FILE"], ["decode", chat, "--descriptor-set", "FILE"],
        ["report", chat, "--key-log", "FILE"], ["report", chat, "--format", "FILE"],
        ["send", "{}", "--to", "127.0.0.1:1", "--format", "FILE"],
        ["proxy", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--rules", "FILE"],
        [
            "proxy", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--tls", "client", "--server-ca", "FILE",
        ],
        ["demo", "line", "--key", "line=file:FILE"],
    ]) func whatIsReadIsNotOverwritten(_ arguments: [String]) throws {
        let file = try TemporaryFile(Array("kept".utf8), name: "file.yaml")
        let result = try Program.run(
            "frametap", arguments.map { $0.replacing("FILE", with: file.path) } + ["--output", file.path])
        #expect(result.status == 64 && result.errors.contains("would overwrite a file that is read"), "\(result)")
        #expect(try text(file) == "kept")
    }

    @Test func standardInputIsNotOverwritten() throws {
        let bytes = Array(try Data(contentsOf: URL(filePath: Self.chat)))
        let file = try TemporaryFile(bytes, name: "chat.pcap")
        let script = #"exec "$0" "$1" - --output "$2" <"$2""#
        for command in ["decode", "report"] {
            let result = try Program.run("sh", ["-c", script, try Program.find("frametap").path, command, file.path])
            #expect(result.status == 64 && result.errors.contains("(standard input)"), "\(result.errors)")
            #expect(Array(try Data(contentsOf: URL(filePath: file.path))) == bytes)
        }
    }

    @Test(arguments: ["decode", "report"]) func withoutInputNothingIsWritten(command: String) throws {
        let file = try TemporaryFile(Array("kept".utf8))
        let result = try Program.run("frametap", [command, "\(file.path)-none", "--output", file.path])
        #expect(result.status == 2 && result.errors.contains("cannot open \(file.path)-none: "), "\(result.errors)")
        #expect(try text(file) == "kept")
    }
}
