import Foundation
import TestSupport
import Testing

/// What frametap says to continuous integration.
@Suite struct ChecksTests {
    private static let fixtures = "\(Example.root)/fixtures"
    private static let stomp = "\(fixtures)/examples/stomp.pcap"

    /// A folder that the system removes.
    private func folder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("frametap-checks-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    private func decode(_ options: [String]) throws -> Program.Result {
        try Program.run("frametap", ["decode", Self.stomp, "--format", "example:stomp"] + options)
    }

    @Test func faultsAreTestCases() throws {
        let result = try decode(["--as", "junit", "--fail-on", "unanswered"])
        #expect(result.status == 1)
        #expect(
            result.text.hasPrefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"8\" failures=\"1\">")
        )
        #expect(result.text.components(separatedBy: "<testcase ").count == 9)
        #expect(result.text.contains("<failure type=\"unanswered\" message=\"unanswered: ACK 1"), "\(result.text)")
        #expect(!result.text.contains("reconnect-storm"), "only what --fail-on names")
        let clean = try decode(["--as", "junit", "--fail-on", "missing"])
        #expect(clean.status == 0 && clean.text.contains("failures=\"0\""))
    }

    @Test func faultsAreAnnotations() throws {
        let summary = try folder().appendingPathComponent("summary.md")
        try Data("before\n".utf8).write(to: summary)
        let result = try Program.run(
            "env",
            ["GITHUB_STEP_SUMMARY=\(summary.path)", Program.find("frametap").path, "decode", Self.stomp]
                + ["--format", "example:stomp", "--as", "github", "--fail-on", "unanswered"])
        #expect(result.status == 1)
        let lines = result.text.split(separator: "\n")
        #expect(lines.count == 2 && lines[1].hasSuffix("8 connections, 1 with faults"), "\(result.text)")
        #expect(
            lines.first?.hasPrefix("::warning file=\(Self.stomp),title=frametap%3A unanswered::connection 8") == true)
        let text = try String(contentsOf: summary, encoding: .utf8)
        #expect(text.hasPrefix("before\n### frametap: ") && text.contains("unanswered: ACK 1"), "\(text)")
    }

    /// A capture of 4.7 MB, which several threads could count: connections with a whole len16-id frame each (pcap, link
    /// type RAW), the last one with bytes that are no frame.
    private static func large() -> [UInt8] {
        func little(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        var bytes: [UInt8] = [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0]
        bytes += little(0) + little(0) + little(65_535) + little(101)
        // A Protobuf message of one field, 976 bytes long.
        let frame: [UInt8] = [0x03, 0xd6, 0, 3, 0, 0x0a, 0xd0, 0x07] + [UInt8](repeating: 0x61, count: 976)
        let junk = [UInt8](repeating: 0xff, count: frame.count)
        let count = 40 + frame.count
        for index in 0..<4_500 {
            bytes += little(1_700_000_000) + little(3 * index) + little(count) + little(count)
            bytes += [0x45, 0, UInt8(count >> 8), UInt8(count & 255), 0, 0, 0, 0, 64, 6, 0, 0]
            bytes += [10, 0, UInt8(index >> 8 & 255), UInt8(index & 255), 10, 200, 0, 1]
            bytes += [0x9c, 0x40, 0x1f, 0x98, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, 0x18, 0xff, 0xff, 0, 0, 0, 0]
            bytes += index == 4_499 ? junk : frame
        }
        return bytes
    }

    @Test(arguments: ["junit", "github"]) func severalThreadsFindTheSameFaults(form: String) throws {
        let capture = try TemporaryFile(Self.large(), name: "large.pcap")
        func decode(_ threads: [String]) throws -> Program.Result {
            try Program.run(
                "frametap",
                ["decode", capture.path, "--format", "len16-id", "--as", form, "--fail-on", "unframed"] + threads)
        }
        let alone = try decode(["--threads", "1"])
        #expect(alone.status == 1 && alone.text.contains("984 bytes unframed"), "\(alone.text.suffix(400))")
        for threads in [[], ["--threads", "4"]] {
            let result = try decode(threads)
            #expect(result.status == 1 && result.text == alone.text, "\(result.text.suffix(400))")
        }
    }

    /// It would always pass.
    @Test(arguments: [
        ["decode", stomp], ["report", stomp], ["proxy", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:1"],
        ["capture", "lo"], ["demo", "line"],
    ]) func hazardsAreLookedFor(command: [String]) throws {
        let result = try Program.run("frametap", command + ["--fail-on", "unframed,hazard"])
        #expect(result.status == 64 && result.errors.contains("--hazards"), "\(result)")
    }

    @Test func aDifferenceIsAnnotatedAtItsLine() throws {
        let golden = "\(Self.fixtures)/im-json/chat.ndjson"
        let folder = try folder()
        let lines = try String(contentsOfFile: golden, encoding: .utf8).split(separator: "\n")
        let place = try #require(lines.lastIndex { $0.contains("\"type\":\"txt\"") })
        var changed = lines.map(String.init)
        changed[place] = changed[place].replacing("\"type\":\"txt\"", with: "\"type\":\"text\"")
        let other = folder.appendingPathComponent("other.ndjson")
        try Data((changed.joined(separator: "\n") + "\n").utf8).write(to: other)
        let summary = folder.appendingPathComponent("summary.md")
        let result = try Program.run(
            "env",
            ["GITHUB_STEP_SUMMARY=\(summary.path)", Program.find("frametap").path, "diff", "--as", "github"]
                + [golden, other.path])
        #expect(result.status == 1)
        #expect(
            result.text.hasPrefix("::error file=\(golden),line=\(place + 1),title=frametap diff::"), "\(result.text)")
        #expect(result.text.split(separator: "\n").count { $0.hasPrefix("::error") } == 1)
        let text = try String(contentsOf: summary, encoding: .utf8)
        #expect(text.contains("```diff\n") && text.contains("different"), "\(text)")
        let same = try Program.run("frametap", ["diff", "--as", "github", golden, golden])
        #expect(same.status == 0 && same.text.hasPrefix("same: "), "\(same.text)")
    }
}
