import Crypto
import Foundation
import TestSupport
import Testing

@testable import Page

/// The page with its data in one file.
@Suite struct PageFileTests {
    /// The parts of a file.
    private struct Parts {
        let text: String
        let script: String
        let styles: String
        let policy: String
        let trace: [[String: Any]]
        let report: [String: Any]

        init(_ bytes: [UInt8]) throws {
            let text = String(decoding: bytes, as: UTF8.self)
            self.text = text
            func between(_ start: String, _ end: String) throws -> String {
                let tail = try #require(text.components(separatedBy: start).dropFirst().first)
                return tail.components(separatedBy: end)[0]
            }
            script = try between("<script type=\"module\">", "</script>")
            styles = try between("<style>", "</style>")
            policy = try between("Content-Security-Policy\" content=\"", "\"")
            func json(_ name: String) throws -> Any {
                let text = try between("<script type=\"application/json\" id=\"\(name)\">", "</script>")
                return try JSONSerialization.jsonObject(with: Data(text.utf8))
            }
            trace = try #require(try json("trace") as? [[String: Any]])
            report = try #require(try json("report") as? [String: Any])
        }
    }

    private func parts(_ shown: ShownTrace, most: Int = 1 << 30) throws -> Parts {
        try Parts(PageFile.bytes(shown.page.store, report: Array(#"{"report":1}"#.utf8), most: most))
    }

    @Test func everyFileIsListed() throws {
        let folder = URL(filePath: #filePath).appending(path: "../../../Sources/Page/Web").standardized.path
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.contains(".") }
        #expect(StaticFiles.all.map { $0.path }.sorted() == files.sorted(), "run tools/page-files")
    }

    @Test func nothingIsLoadedAndOnlyItsOwnScriptRuns() async throws {
        let parts = try parts(try await ShownTrace(Fixture(path: "im-json/chat.pcap")))
        for outside in ["src=", "<link rel=\"stylesheet\"", "@import", "http:/", "https:/"] {
            let code = parts.text.components(separatedBy: "<script type=\"application/json\"")[0]
            #expect(!code.contains(outside), "\(outside)")
        }
        func digest(_ text: String) -> String {
            "'sha256-\(Data(SHA256.hash(data: Data(text.utf8))).base64EncodedString())'"
        }
        #expect(
            parts.policy.contains(
                "default-src 'none'; script-src \(digest(parts.script)); style-src \(digest(parts.styles));"))
        #expect(parts.text.components(separatedBy: "<script").count == 4)
        // Nothing that modules say to one another is left.
        for line in parts.script.split(separator: "\n") {
            #expect(!line.hasPrefix("import ") && !line.hasPrefix("export "), "\(line)")
        }
        #expect(parts.script.contains("class EmbeddedSource") && parts.script.hasSuffix("start();\n"))
    }

    /// Every line of the trace is there as it is, in its order.
    @Test(arguments: Fixture.all) func theTraceIsWhole(fixture: Fixture) async throws {
        let shown = try await ShownTrace(fixture)
        let parts = try parts(shown)
        #expect(parts.trace.count == shown.lines.count)
        var pairs = 0
        for (place, (event, line)) in zip(parts.trace, shown.lines).enumerated() {
            var event = event
            if line.event == "frame" { event["detail"] = nil }
            if let pair = event.removeValue(forKey: "pair") as? [String: Any], let other = pair["event"] as? Int {
                let back = (parts.trace[other]["pair"] as? [String: Any])?["event"] as? Int
                #expect(back == place || back != nil)
                pairs += 1
            }
            let plain = try JSONSerialization.jsonObject(with: Data(line.text.utf8)) as? NSDictionary
            #expect(NSDictionary(dictionary: event) == plain, "\(line.text.prefix(200))")
        }
        #expect(fixture.path != "examples/redis.pcap" || pairs > 0)
    }

    /// A file of bounded size says how much is not in it, and what is in it is consistent.
    @Test(arguments: [0, 2_000, 20_000]) func whatDoesNotFitIsCounted(most: Int) async throws {
        let shown = try await ShownTrace(Fixture(path: "examples/postgresql.pcap"))
        let parts = try parts(shown, most: most)
        let omitted = try #require(parts.trace[0]["omitted"] as? Int)
        #expect(omitted > 0 && parts.trace.count + omitted == shown.lines.count)
        for kind in ["opened", "closed", "summary", "format"] {
            #expect(parts.trace.count { $0["event"] as? String == kind } == shown.lines.count { $0.event == kind })
        }
        for event in parts.trace {
            guard let pair = event["pair"] as? [String: Any], let other = pair["event"] as? Int else { continue }
            #expect(parts.trace[other]["index"] as? Int == pair["index"] as? Int)
            #expect(parts.trace[other]["connection"] as? Int == event["connection"] as? Int)
        }
    }

    /// Nothing from the network ends the element that it is in.
    @Test func markupFromTheNetworkIsData() async throws {
        let hostile = "</script><script>alert(1)</script><!-- \u{2028}\u{2029}"
        let line = try JSONSerialization.data(withJSONObject: hostile, options: [.fragmentsAllowed])
        let text = String(decoding: line, as: UTF8.self)
        let shown = try await ShownTrace(
            lines: """
                {"event":"trace","version":2,"source":\(text),"tool":"tests"}
                {"event":"opened","connection":1,"time":"2026-11-21T08:00:00.000000000Z","transport":"tcp","client":"127.0.0.1:1","server":"127.0.0.1:2","handshake":true,"clientGuessed":false}
                {"event":"frame","connection":1,"from":"client","index":0,"time":"2026-11-21T08:00:00.000000000Z","started":"2026-11-21T08:00:00.000000000Z","offset":0,"length":5,"segments":1,"merged":false,"type":\(text),"heartbeat":false,"fields":{\(text):\(text)},"body":{"length":5,"text":\(text)}}

                """)
        let parts = try parts(shown)
        #expect(parts.text.components(separatedBy: "<script").count == 4)
        #expect(!parts.text.contains("<!-- \u{2028}") && !parts.text.contains("\u{2029}"))
        #expect(parts.trace[0]["source"] as? String == hostile && parts.trace[2]["type"] as? String == hostile)
    }
}
