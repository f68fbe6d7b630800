import Analysis
import Control
import Framing
import NIOHTTP1
import Packets
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

@testable import Page

/// The page has the report of captures, and TCP's round trips.
@Suite struct ReportTests {
    private static let fixtures = ["im-json/chat.pcap", "examples/stomp.pcap", "blame/answered-unanswered.pcap"].map {
        Fixture(path: $0)
    }

    /// The report of the same decoding without a page.
    private func report(of fixture: Fixture) throws -> [UInt8] {
        let collector = ReportCollector()
        let decoder = Decoder(
            try fixture.options(), analyses: Decoder.allAnalyses(replacing: collector.measurements { _ in }),
            sinks: [collector])
        var capture = CaptureDecoder(receiver: decoder)
        var reader = CaptureReader(CaptureBytes(try fixture.bytes()), chunk: 1 << 14)
        try reader.read(to: &capture)
        capture.finish()
        decoder.finish()
        return ReportJSON.bytes(collector.report(source: "tests"), tool: "tests")
    }

    @Test(arguments: fixtures) func thePageHasTheReport(_ fixture: Fixture) async throws {
        let shown = try await ShownTrace(fixture.bytes(), fixture.options(), makesReport: true)
        let response = try await shown.router.response("/api/v1/page/report")
        let expected = try report(of: fixture)
        #expect(String(decoding: response.body, as: UTF8.self) == String(decoding: expected, as: UTF8.self))
        // It has pairs all the same.
        let plain = try await ShownTrace(fixture)
        let (own, others) = (try await shown.router.get("roundtrips"), try await plain.router.get("roundtrips"))
        #expect(own == others)
        shown.page.end()
    }

    @Test func aTraceHasNone() async throws {
        let shown = try await MadeUp.trace([MadeUp.opened(1)])
        let response = try await shown.router.response("/api/v1/page/report")
        #expect(response.status == .notFound)
    }

    @Test(arguments: fixtures) func roundTripsOfTCPAreThoseOfAllConnections(_ fixture: Fixture) async throws {
        let shown = try await ShownTrace(fixture)
        let answer = try await shown.router.get("roundtrips")
        let all = try #require(answer["tcp"])
        let text = try report(of: fixture)
        let report = try JSONValue(parsing: text.span.bytes)
        for key in ["handshake", "acknowledgedByServer", "acknowledgedByClient"] {
            var (count, longest) = (0, 0.0)
            for row in report["connections"].items {
                let number = try #require(row["connection"]?.integer)
                let answer = try await shown.router.get("roundtrips", [("connection", "\(number)")])
                let own = answer["tcp"]?[key]
                // Which side acknowledged is what the report says, too.
                if key != "handshake" { #expect(own?["count"] == row["tcp"]?[key]?["count"], "\(key) of \(number)") }
                count += own?["count"]?.integer ?? 0
                longest = max(longest, own?["max"]?.plainText.flatMap { Double($0) } ?? 0)
            }
            #expect(all[key]?["count"]?.integer == count && (count > 0 || key != "handshake"))
            #expect(all[key]?["max"]?.plainText.flatMap { Double($0) } == longest)
        }
    }
}
