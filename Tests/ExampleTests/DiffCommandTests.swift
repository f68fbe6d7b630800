import Foundation
import TestSupport
import Testing

/// `frametap diff` as a shell sees it.
@Suite struct DiffCommandTests {
    private static let fixtures = "\(Example.root)/fixtures"

    private func diff(_ arguments: String...) throws -> Program.Result {
        try Program.run("frametap", ["diff"] + arguments)
    }

    /// The name of a file with these bytes, in a folder that is left for the system to remove.
    private func file(_ text: String, _ name: String = "actual.ndjson") throws -> String {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("frametap-diff-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appendingPathComponent(name).path
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    /// Every fixture with a golden trace: format, capture, trace.
    static let traces: [(format: String, name: String)] = [
        ("fixed", "conversation"), ("im-json", "chat"), ("im-magic", "conversation"), ("json-envelope", "conversation"),
        ("len16-id", "conversation"), ("line", "conversation"), ("marker", "conversation"),
        ("text-heartbeat", "conversation"), ("tlv32", "conversation"),
    ]

    @Test(arguments: traces) func aTraceIsThatOfItsCapture(format: String, name: String) throws {
        let path = "\(Self.fixtures)/\(format)/\(name)"
        let result = try diff("\(path).ndjson", "\(path).pcap", "--format", format)
        #expect(result.status == 0, "\(result.text)\(result.errors)")
        #expect(result.text.hasPrefix("same: "))
    }

    @Test(arguments: traces) func aTraceOfAnotherDayOnOtherPortsIsTheSame(format: String, name: String) throws {
        let path = "\(Self.fixtures)/\(format)/\(name).ndjson"
        let other = try text(path).replacing("2026-11-21T", with: "2027-01-02T").replacing(
            #/127\.0\.0\.1:/#, with: "10.0.0.9:4"
        )
        .replacing(#/"segments":\d+,"merged":(true|false)/#, with: "\"segments\":1,\"merged\":false")
        let result = try diff(path, try file(other))
        #expect(result.status == 0, "\(result.text)\(result.errors)")
    }

    @Test func aChangedWordIsAChangeOfItsFrame() throws {
        let path = "\(Self.fixtures)/line/conversation.ndjson"
        let other = try file(try text(path).replacing("And where?", with: "And when?"))
        let result = try diff(path, other, "--context", "0")
        #expect(result.status == 1)
        #expect(
            result.text.split(separator: "\n").dropFirst().map(String.init) == [
                "  … 1 frame alike",
                #"~    2  → line  {"end":"\r\n"}  And where?"#,
                #"        body.text  "And where?" → "And when?""#,
                "  … 5 frames alike",
                "different: 1 frame changed",
            ])
        #expect(try diff(path, other, "--ignore", "body.text").status == 0)
        #expect(try diff(path, other, "--as", "json").text.hasPrefix("{\"same\":false,\"counts\":{\"changed\":1}"))
        #expect(try diff(path, other, "--as", "junit").text.contains("failures=\"1\""))
    }

    @Test func whatIsNoTraceIsTroubleWithItsLine() throws {
        let path = "\(Self.fixtures)/line/conversation.ndjson"
        let whole = try text(path)
        let html = try file("<!DOCTYPE html>\n<html></html>\n")
        let cut = try file(String(whole.dropLast(40)))
        let newer = try file(whole.replacing("\"version\":2", with: "\"version\":9"))
        for (name, message) in [
            (html, ":1: this is no trace, it begins with \"<!DOCTYPE html>\"; expected the first line of a trace"),
            (cut, ":12: the line is cut off after"),
            (newer, ":1: this is version 9 of the trace format; expected version 1"),
            ("/nowhere/x.ndjson", "cannot open /nowhere/x.ndjson"),
        ] {
            let result = try diff(path, name)
            #expect(result.status == 2)
            #expect(result.output.isEmpty)
            #expect(result.errors.contains(message), "\(result.errors)")
        }
        #expect(try diff(path).status == 64)
        #expect(try diff(path, path, "--compare", "moon").status == 64)
    }

    /// A capture may be compressed, a trace may not; it is not taken for a capture.
    @Test func aCompressedTraceIsNamedAsOne() throws {
        let path = "\(Self.fixtures)/line/conversation"
        let trace = try TemporaryFile(
            Program.output("gzip", ["-c", "\(path).ndjson"]).output, name: "trace.ndjson.gz")
        for arguments in [[trace.path, "\(path).ndjson"], ["\(path).pcap", trace.path]] {
            let result = try Program.run("frametap", ["diff"] + arguments)
            #expect(result.status == 2 && result.output.isEmpty)
            #expect(
                result.errors
                    == "frametap: \(trace.path) is a compressed trace; expand it first: gzip -dc \(trace.path) > trace.ndjson\n"
            )
        }
        let capture = try TemporaryFile(Program.output("gzip", ["-c", "\(path).pcap"]).output, name: "capture.gz")
        #expect(try diff("\(path).ndjson", capture.path, "--format", "line").status == 0)
    }

    @Test func severalFilesMakeOneSide() throws {
        let path = "\(Self.fixtures)/line/conversation"
        let lines = try text("\(path).ndjson").split(separator: "\n").map { $0 + "\n" }
        let first = try file(lines.prefix(5).joined())
        let second = try file(lines[0] + lines.dropFirst(5).joined(), "second.ndjson")
        let result = try diff(first, second, "--against", "\(path).pcap")
        #expect(result.status == 0, "\(result.text)\(result.errors)")
    }

    @Test func rulesThatWereLearnedMakeRunsTheSame() throws {
        let path = "\(Self.fixtures)/marker/conversation.ndjson"
        let other = try file(
            try text(path).replacing(#/数据:(\d\d):(\d\d):\d\d/#) { "数据:\($0.1):\($0.2):33" })
        #expect(try diff(path, other).status == 1)
        let rules = try diff("--learn", path, other)
        #expect(rules.text.contains("path: body.text, like: 'Link-设备:iPhone1-客户端发送数据:«time»'"), "\(rules.text)")
        let result = try diff("--mask", try file(rules.text, "rules.yaml"), path, other)
        #expect(result.status == 0, "\(result.text)\(result.errors)")
    }
}
