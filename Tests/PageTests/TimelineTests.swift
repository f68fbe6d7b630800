import Foundation
import Framing
import Platform
import Streams
import TestSupport
import Testing
import Trace

@testable import Page

/// What the time line shows, and where it begins to read.
@Suite struct TimelineTests {
    /// No entry at a time, or later, is in front of the place where reading begins, whatever the order.
    @Test(arguments: [0, 3, 5_000]) func readingBeginsBeforeAllThatIsAskedFor(disorder: Int64) throws {
        let file = try TemporaryFile()
        var (end, list, times) = (Int64(0), EventList(), [Int64]())
        var generator = SeededGenerator(seed: 7)
        for event in 0..<4_000 {
            var record = EventRecord()
            record.time = Int64(event) - Int64.random(in: 0...disorder, using: &generator)
            list.append(ListEntry(record, event: UInt32(event)), to: file, &end)
            times.append(record.time)
        }
        #expect(list.start(of: .min) == 0)
        for from in stride(from: Int64(-100), to: 4_100, by: 33) {
            let start = list.start(of: from)
            #expect(times[..<start].allSatisfy { $0 < from })
            // In order, at most two blocks are read in vain.
            if disorder == 0, from > 0 { #expect(start > min(Int(from), 4_000) - 2 * EventList.blockSize - 1) }
        }
    }

    /// A part of the time has the same frames, wherever it begins.
    @Test func aPartOfTheTimeHasItsFrames() async throws {
        let lines = (0..<1_000).map { MadeUp.frame(1, at: Int64($0), index: $0) }
        let shown = try await MadeUp.trace([MadeUp.opened(1)] + lines)
        for from in [0, 1, 63, 64, 500, 999] {
            let part = try await shown.router.get("timeline", [("from", "\(from)"), ("to", "999"), ("bins", "4")])
            let cells = (part["lanes"].items[0]["bins"]?["client"]).items
            #expect(cells.reduce(0) { $0 + (Optional($1).items[1].integer ?? 0) } == 1_000 - from)
        }
    }

    /// The page works the same out by itself, if the trace is part of it.
    @Test func thePageAndTheServerAgree() async throws {
        let path = "\(Fixture.root)/Tests/PageTests/browser/fixtures/parity.json"
        let parity = try JSONValue(parsing: Array(try Data(contentsOf: URL(filePath: path))).span.bytes)

        for test in parity["previews"].items {
            let line = try #require(test["line"]?.string)
            guard case .frame(let frame)? = try EventReader.event(of: Array(line.utf8)) else {
                Issue.record("this is no frame: \(line)")
                continue
            }
            #expect(FramePreview.of(frame) == test["preview"]?.string, "\(test["why"]?.string ?? "")")
        }

        func page(_ part: String) async throws -> ShownTrace {
            let lines = parity[part]?["lines"].items.compactMap(\.string) ?? []
            return try await ShownTrace(lines: lines.joined(separator: "\n") + "\n")
        }
        let timeline = try await page("timeline").router.get("timeline", [("bins", "10"), ("count", "100")])
        let lanes = parity["timeline"]?["lanes"].items ?? []
        #expect(!lanes.isEmpty && timeline["lanes"].items.count == lanes.count)
        for (lane, expected) in zip(timeline["lanes"].items, lanes) {
            #expect(lane["connection"] == expected["connection"])
            let (marks, others) = (lane["marks"].items, expected["marks"].items)
            #expect(marks.map(\.compactText) == others.map(\.compactText))
        }

        let named = try await page("completions")
        for test in parity["completions"]?["cases"].items ?? [] {
            let prefix = test["prefix"]?.string ?? ""
            let words = try await named.router.get("complete", [("prefix", prefix)])["words"].items.compactMap(\.string)
            #expect(words == test["words"].items.compactMap(\.string), "\(prefix)")
        }
    }

    /// A gap ends with its connection; one of a connection that is open goes on.
    @Test func gapsEndWithTheirConnection() async throws {
        let second: Int64 = 1_000_000_000
        let data = "{\"silentFor\":2,\"expectedEvery\":1}"
        let shown = try await MadeUp.trace([
            MadeUp.opened(1, at: 0), MadeUp.opened(2, at: 0),
            MadeUp.finding(1, at: 5 * second, kind: "heartbeat-never", data: "{\"expectedEvery\":1}"),
            MadeUp.finding(2, at: 5 * second, kind: "heartbeat-gap", data: data),
            MadeUp.finding(2, at: 6 * second, kind: "heartbeat-unanswered"), MadeUp.closed(1, at: 9 * second),
        ])
        let lanes = try await shown.router.get("timeline")["lanes"].items
        let (first, other) = (lanes[0]["marks"].items, lanes[1]["marks"].items)
        #expect(first.map { $0["at"]?.string } == ["\(4 * second)"] && first[0]["to"]?.string == "\(9 * second)")
        #expect(first[0]["kind"]?.string == "heartbeat-gap")
        #expect(other.map { $0["at"]?.string } == ["\(3 * second)", "\(6 * second)"] && other[0]["to"] == .null)
        #expect(other[1]["kind"]?.string == "unanswered")
    }
}
