import Control
import Framing
import NIOHTTP1
import Streams
import Testing
import Trace

@testable import Page

/// Traces may have any values: nothing overflows, and what is remembered of them is bounded.
@Suite struct HostileTests {
    /// About 1716 and 2223: the time between them has more than 63 bits.
    private static let times: (first: Int64, last: Int64) = (-8_000_000_000_000_000_000, 8_000_000_000_000_000_000)

    @Test func timesThatAreFarApartDoNotOverflow() async throws {
        let (first, last) = Self.times
        let shown = try await MadeUp.trace([
            MadeUp.opened(1, at: first), MadeUp.frame(1, at: first), MadeUp.opened(2, at: last),
            MadeUp.frame(1, at: last, index: 1), MadeUp.closed(1, at: last), MadeUp.frame(2, at: last),
        ])
        let whole = try await shown.router.get("timeline", [("bins", "10")])
        let cells = (whole["lanes"].items[0]["bins"]?["client"]).items.map { Optional($0).items.compactMap(\.integer) }
        #expect(cells.map { $0[0] } == [0, 9] && cells.map { $0[1] } == [1, 1])
        let all = [("from", "\(Int64.min)"), ("to", "\(Int64.max)")]
        let timeline = try await shown.router.get("timeline", all + [("bins", "2000")])
        #expect(timeline["total"]?.integer == 2)
        for order in ["up", "down"] {
            let rows = try await shown.router.rows("connections", [("sort", "duration"), ("order", order)])
            #expect(rows.compactMap { $0["connection"]?.integer } == (order == "up" ? [2, 1] : [1, 2]))
        }
        #expect(try await shown.saved("as=trace&from=\(Int64.min)&to=\(Int64.max)").contains("\"frame\""))
        // Two frames that are a pair.
        var records = shown.page.store.records(0..<shown.page.store.count)
        records[2].pair = 5
        let (_, took) = Pairs.of(records[2], in: shown.page.store)
        #expect(took ?? 0 > 9e9)
    }

    @Test func sumsOfLengthsDoNotOverflow() async throws {
        let gap = MadeUp.missing(1, length: 1 << 53)
        let shown = try await MadeUp.trace([MadeUp.opened(1)] + [String](repeating: gap, count: 1_100))
        let row = try #require(try await shown.router.rows("connections").first)
        #expect(row["sides"]?["client"]?["missing"]?.integer == .max)
        _ = try await shown.router.rows("connections", [("sort", "bytes")])
        // Traces refuse a negative length; a value may have one.
        var frame = FrameEvent(
            connection: 1, from: .fromClient, index: 0, time: Timestamp(nanoseconds: 0),
            started: Timestamp(nanoseconds: 0), offset: 0, length: .min, segments: 1, merged: false, type: nil,
            isHeartbeat: false, fields: .object([]), body: .object([]))
        #expect(PageItem(.event(.frame(frame))).cost > 0)
        frame.length = .max
        #expect(PageItem(.event(.frame(frame))).cost > 0)
    }

    @Test func longestTimesHavePercentiles() {
        var histogram = TimeHistogram()
        histogram.add(.max)
        #expect(histogram.percentile(50) == .max)
        var both = TimeHistogram()
        both.add(5)
        both.add(histogram)
        #expect(both.count == 2 && both.minimum == 5 && both.maximum == .max)
    }

    /// An event without a time, such as the format, is not one of 1970.
    @Test func onlyEventsWithATimeHaveOne() async throws {
        let time: Int64 = 1_700_000_000_000_000_000
        let shown = try await MadeUp.trace([
            MadeUp.format(1, "chat"), MadeUp.frame(1, at: time), MadeUp.format(1, "chat"),
            MadeUp.frame(1, at: time + 5, index: 1),
        ])
        let state = try await shown.router.get("state")
        #expect(state["earliest"]?.string == "\(time)" && state["latest"]?.string == "\(time + 5)")
        let row = try #require(try await shown.router.rows("connections").first)
        #expect(row["opened"]?.string == "\(time)" && row["rates"]?["start"]?.string == "\(time)")
    }

    @Test func whatIsRememberedOfAConnectionIsBounded() async throws {
        let long = String(repeating: "m", count: 5_000)
        let gaps = (0..<100).flatMap { place in
            [
                MadeUp.finding(1, at: Int64(2 * place), kind: "heartbeat-gap", message: long),
                MadeUp.finding(1, at: Int64(2 * place + 1), kind: "heartbeat-resumed", message: long),
            ]
        }
        let shown = try await MadeUp.trace([MadeUp.opened(1, client: long), MadeUp.format(1, long)] + gaps)
        let connection = try #require(shown.page.store.read { $0.connection(1) })
        #expect(connection.gaps.all.count == 32 && connection.gaps.all.allSatisfy { $0.message.count == 256 })
        #expect(connection.client.count == 128 && connection.format?.format.count == 256)
        // The others are marks of their own.
        let timeline = try await shown.router.get("timeline")
        let marks = timeline["lanes"].items[0]["marks"].items
        #expect(marks.count { $0["kind"]?.string == "heartbeat-gap" } == 32)
        #expect(marks.count { $0["kind"]?.string == "finding" } == 136)
    }

    @Test func namesOfRoundTripsAreNumbersAndFrameTypesAreLookedAtOnlySoOften() {
        var names = NameTable()
        let long = String(repeating: "n", count: 5_000)
        let number = names.number(of: long)
        #expect(names.names[Int(number)].count == 256)
        var table = RoundTripTable(most: 8)
        for request in 0..<100 {
            let pair = RoundTripTable.Pair(format: "f", request: UInt32(request), answer: number, from: .fromClient)
            table.add(StoredTrip(connection: 1, pair: pair, time: 1))
        }
        #expect(table.pairs.count == 8)
        var seen = SeenNames()
        for type in 0..<5_000 {
            let frame = FrameEvent(
                connection: 1, from: .fromClient, index: 0, time: Timestamp(nanoseconds: 0),
                started: Timestamp(nanoseconds: 0), offset: 0, length: 1, segments: 1, merged: false, type: "\(type)",
                isHeartbeat: false, fields: .object([JSONValue.Member("field \(type)", .null)]), body: .object([]))
            seen.take(frame, of: "f", type: UInt32(type))
        }
        // Fields of types beyond those that are counted are not looked at.
        #expect(seen.formats["f"]?.fields.count == SeenNames.most.names)
        #expect(seen.formats["f"]?.lookedAt == SeenNames.most.names)
    }

    @Test func aFrameThatHasManyFieldsSaysWhereTheFirstAre() async throws {
        let members = (0..<5_000).map { "\"f\($0)\":\($0)" }.joined(separator: ",")
        let head = Array("{\(members)}".utf8)
        let yaml = try #require(BuiltInFormats.yaml(of: "im-json"))
        let format = try FormatLoader.load(yaml, file: "im-json")
        let page = try Page(isLive: false)
        var detail = FrameDetail()
        (detail.bytes, detail.shape) = (head, FrameShape(head: head.count, body: 0))
        let items = try MadeUp.items([MadeUp.opened(1), MadeUp.format(1, format.name), MadeUp.frame(1)])
        page.queue.put(items[0])
        page.queue.put(PageItem(.format(SharedFormat(format), of: ConnectionLeg(1))))
        page.queue.put(items[1])
        page.queue.put(PageItem(items[2].content, detail: detail))
        page.queue.put(PageItem(.end))
        try await page.waitUntilFinished()
        let router = PageRouter(page: page, safety: ShownTrace.safety, actions: nil, capture: nil)
        let event = try await router.get("event/2")
        let places = (event["detail"]?["fields"]).members
        #expect(!places.isEmpty && places.count <= 200)
        page.end()
    }

    /// A lost `break` would leave the frame unknown, and a lost `release` would leave it held for ever.
    @Test func actionsAreVital() throws {
        let line = """
            {"event":"action","connection":1,"from":"client","time":"2026-11-21T08:00:00Z","rule":"x","action":"break","index":0,"type":null,"offset":0,"length":1,"passed":1}
            """
        #expect(try MadeUp.items([line])[0].isVital)
        #expect(try !MadeUp.items([MadeUp.frame(1)])[0].isVital)
    }

    @Test func onlySomeHeldFramesAreShown() async throws {
        let page = try Page(isLive: true)
        let lines = (0..<150).map { index in
            """
            {"event":"action","connection":1,"from":"client","time":"2026-11-21T08:00:00Z","rule":"x","action":"break","index":\(index),"type":"a","offset":0,"length":1,"passed":1}
            """
        }
        page.store.take(try MadeUp.items(lines))
        let frames = page.store.read { $0.held.frames }
        #expect(frames.count == 150)
        let actions = PageActions(
            answer: { _, _ in HTTPResponse(.ok, text: "") }, listener: { _ in "a" }, holdTimeout: .seconds(90))
        let router = PageRouter(page: page, safety: ShownTrace.safety, actions: actions, capture: nil)
        let held = try await router.get("held")
        #expect(held["held"].items.count == HeldQuery.most && held["total"]?.integer == 150)
        #expect(held["held"].items.first?["deadline"]?.string == "2026-11-21T08:01:30.000000000Z")
        page.end()
    }
}
