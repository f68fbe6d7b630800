import Foundation
import TestSupport
import Testing

/// `frametap report`, and `--fail-on`, as commands.
@Suite struct ReportCommandTests {
    private static let capture = "\(Example.root)/fixtures/im-json/chat.pcap"
    /// Much stricter than the format: then there are gaps.
    private static let strict = ["--heartbeat", "every: 100 ms, gap: 300 ms"]

    /// A browser, under whichever of its names it is installed.
    private func browser() throws -> String {
        try InstalledPrograms.find(
            "chromium", "chromium-browser", "google-chrome",
            "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
            "/Applications/Chromium.app/Contents/MacOS/Chromium"
        ).path
    }

    /// A browser's rendering of the page matches the report; the picture stays in .build-screenshots for review.
    @Test func aBrowserShowsThePage() throws {
        let page = try Program.output("frametap", ["report", Self.capture, "--as", "html"] + Self.strict).output
        let json = try Program.output("frametap", ["report", Self.capture, "--as", "json"] + Self.strict).output
        let report = try #require(try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any])
        let connections = try #require(report["connections"] as? [[String: Any]])
        let findings = try #require(report["findings"] as? [[String: Any]])
        let gaps = connections.reduce(0) { $0 + (($1["gaps"] as? [Any])?.count ?? 0) }
        #expect(gaps > 0 && !findings.isEmpty)

        let folder = "\(Example.root)/.build-screenshots"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let (file, picture) = ("\(folder)/report.html", "\(folder)/report.png")
        try Data(page).write(to: URL(filePath: file))
        try? FileManager.default.removeItem(atPath: picture)
        let options = [
            "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1200,1600",
            "--virtual-time-budget=5000",
        ]
        let dump = try Program.output(try browser(), options + ["--dump-dom", "file://\(file)"]).text
        // What the script has made of its data, without script and data.
        let shown = dump.components(separatedBy: "<script").map { part in
            part.components(separatedBy: "</script>").last ?? ""
        }.joined()
        // The timeline is a picture, and a table for those who cannot see it.
        #expect(shown.contains("<canvas"))
        for kind in Set(findings.compactMap { $0["kind"] as? String }) {
            #expect(shown.contains(kind), "the page lacks \(kind)")
        }
        for connection in connections {
            let client = try #require(connection["client"] as? String)
            #expect(shown.contains(client), "the page lacks connection \(connection["connection"] ?? 0)")
        }
        _ = try Program.output(try browser(), options + ["--screenshot=\(picture)", "file://\(file)"])
        let size = try FileManager.default.attributesOfItem(atPath: picture)[.size] as? Int ?? 0
        #expect(size > 10_000, "a page with pictures is not \(size) bytes")
    }

    @Test(arguments: ["decode", "report"]) func anyFindingMakesACommandACheck(command: String) throws {
        func status(_ kinds: String, _ more: [String] = []) throws -> Int32 {
            let output = ["--output", "/dev/null", "--fail-on", kinds]
            return try Program.run("frametap", [command, Self.capture] + output + more).status
        }
        #expect(try status("heartbeat-gap,unframed") == 0)
        #expect(try status("heartbeat-gap,unframed", Self.strict) == 1)
        #expect(try status("heartbeat-gap", ["--heartbeat", "none"]) == 0)
        #expect(try status("heartbeat-gap, unframed", Self.strict) == 1)
        #expect(try status("heartbeat-gap", Self.strict + ["--fail-on", "unframed"]) == 1)
        #expect(try status("unframed", Self.strict + ["--fail-on", "missing"]) == 0)
        #expect(try status("heartbeat-gaps") == 64)
        #expect(try status("heartbeat-gap", ["--heartbeat", "evry: 1 s"]) == 64)
    }

    /// Formats that are only looked for do not keep a contract from being overridden in the one that is there.
    @Test func aContractNeedNotFitEveryFormat() throws {
        let options = ["--heartbeat", "gap: 5 s", "--as", "summary"]
        let looked = try Program.run("frametap", ["decode", Self.capture] + options)
        let asked = try Program.run("frametap", ["decode", Self.capture, "--format", "im-json"] + options)
        #expect(looked.status == 0 && asked.status == 0 && asked.errors == "", "\(looked.errors)\(asked.errors)")
        #expect(
            looked.errors.hasPrefix(
                "frametap: --heartbeat 'gap: 5 s' does not fit formats that keep their own contracts: ")
                && looked.errors.contains("len16-id") && !looked.errors.contains("im-json"), "\(looked.errors)")
        let wrong = try Program.run("frametap", ["decode", Self.capture, "--format", "len16-id"] + options)
        #expect(
            wrong.status == 64 && wrong.errors.contains("the format len16-id: heartbeat.gap is shorter than every"),
            "\(wrong.errors)")
        let none = try Program.run("frametap", ["decode", Self.capture, "--heartbeat", "gap: 1 ms"])
        #expect(none.status == 64 && none.errors.contains("heartbeat.gap is shorter than every"), "\(none.errors)")
    }

    @Test func theSummaryIsTheSameWhateverIsPrinted() throws {
        for capture in [Self.capture, "\(Example.root)/fixtures/tlv32/conversation.pcap"] {
            let whole = try Program.output("frametap", ["decode", capture] + Self.strict).text
            let summary = try Program.output("frametap", ["decode", capture, "--as", "summary"] + Self.strict).text
            #expect(whole.hasSuffix(summary), "\(summary)")
        }
    }
}
