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

    /// Whichever of its files it is.
    @Test func ifOneFileCannotBeCreatedTheOthersStay() throws {
        let options = ["--write", "--trace", "--output", "--write-tls"]
        for broken in options {
            for command in [["proxy", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:1"], ["demo", "line"]] {
                let isProxy = command[0] == "proxy"
                if broken == "--write-tls", !isProxy { continue }
                let files = try options.map { (option: $0, file: try TemporaryFile(Array("kept".utf8))) }
                let others = files.filter { $0.option != broken && (isProxy || $0.option != "--write-tls") }
                let result = try Program.run(
                    "frametap",
                    command + (isProxy ? ["--tls", "client", "--insecure-server"] : [])
                        + others.flatMap { [$0.option, $0.file.path] } + [broken, "/nonexistent/file"])
                #expect(result.status == 2, "\(command[0]) \(broken): \(result.errors)")
                #expect(result.errors.contains("cannot create /nonexistent/file: No such file"), "\(result.errors)")
                for (option, file) in others { #expect(try text(file) == "kept", "\(command[0]) \(broken): \(option)") }
            }
        }
    }

    @Test func recordsReplaceAllOfTheirFiles() throws {
        let options = ["--write", "--trace", "--output"]
        let files = try options.map {
            (option: $0, file: try TemporaryFile([UInt8](repeating: UInt8(ascii: "k"), count: 1 << 20)))
        }
        _ = try Program.output("frametap", ["demo", "line"] + files.flatMap { [$0.option, $0.file.path] })
        for (option, file) in files {
            let bytes = try Data(contentsOf: URL(filePath: file.path))
            #expect(bytes.count > 100 && bytes.range(of: Data("kkkkkkkk".utf8)) == nil, "\(option)")
        }
        #expect(try text(files[1].file).hasPrefix(#"{"event":"trace""#))
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

    @Test(arguments: [
        ["decode"], ["decode", "--as", "ndjson"], ["decode", "--as", "ndjson", "--threads", "1"],
        ["decode", "--as", "summary"], ["decode", "--as", "junit"], ["decode", "--as", "none"], ["report"],
        ["report", "--as", "json"],
    ]) func whatIsNoCaptureEmptiesNothing(arguments: [String]) throws {
        let words = Array("This is no capture.\n".utf8)
        let (input, file) = (try TemporaryFile(words), try TemporaryFile(Array("kept".utf8)))
        for inputs in [[input.path], [input.path, input.path], ["-"]] {
            let result = try Program.run("frametap", arguments + inputs + ["--output", file.path], input: words)
            #expect(result.status == 2 && result.errors.contains("expected a pcap"), "\(inputs): \(result.errors)")
            #expect(try text(file) == "kept")
        }
    }

    /// A pipe is followed: what there is to show is written at once, even before it is known that it has no capture.
    @Test func aPipeWithoutACaptureEmptiesNothing() throws {
        let file = try TemporaryFile(Array("kept".utf8))
        let script =
            #"{ printf Th; sleep 0.3; printf "is is no capture."; } | "$0" decode - --as ndjson --output "$1""#
        let result = try Program.run("sh", ["-c", script, try Program.find("frametap").path, file.path])
        #expect(result.status == 2 && result.errors.contains("expected a pcap"), "\(result.errors)")
        #expect(try text(file) == "kept")
    }

    @Test func aFolderHasNoBytes() throws {
        let file = try TemporaryFile(Array("kept".utf8))
        let result = try Program.run(
            "frametap", ["decode", "--raw", "--format", "line", Example.root, "--output", file.path])
        #expect(result.status == 2 && result.errors.contains("is a folder"), "\(result.errors)")
        #expect(try text(file) == "kept")
    }

    @Test(arguments: [
        ["decode", chat], ["decode", chat, "--as", "ndjson"], ["decode", chat, "--as", "summary"],
        ["decode", chat, "--as", "junit"], ["decode", chat, "--as", "none"], ["report", chat],
        ["decode", chat, chat, "--as", "ndjson"], ["decode", chat, "--raw", "--format", "line"],
    ]) func whatIsReadReplacesAllOfTheOutput(arguments: [String]) throws {
        let file = try TemporaryFile([UInt8](repeating: UInt8(ascii: "k"), count: 1 << 20))
        let shown = try Program.output("frametap", arguments).text
        _ = try Program.output("frametap", arguments + ["--output", file.path])
        #expect(try text(file) == shown)
    }

    /// Nobody listens at port 1.
    @Test(arguments: [
        ["--to", "127.0.0.1:1"],
        ["--control", "127.0.0.1:1", "--token", "t", "--listener", "chat", "--connection", "1"],
    ]) func withoutAServerNothingIsEmptied(place: [String]) throws {
        let file = try TemporaryFile(Array("kept".utf8))
        let result = try Program.run(
            "frametap",
            ["send", "--format", "line", #"{"body":{"text":"Hi"}}"#, "--as", "ndjson", "--output", file.path] + place)
        #expect(result.status == 2 && result.errors.contains("Connection refused"), "\(result.errors)")
        #expect(try text(file) == "kept")
    }
}
