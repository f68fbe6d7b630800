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
