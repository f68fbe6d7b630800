import Expressions
import Framing
import Packets
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

@testable import Analysis
@testable import Page

/// A condition selects the frames that `decode --filter` selects.
@Suite struct FilterTests {
    static let conditions = [
        "heartbeat", "not heartbeat", "from == client", "length > 100 and from == server", "index % 2 == 0",
        "segments > 1", "merged", "type exists", "not (type exists)", "type matches \"^[a-m]\"",
        "type == \"txt\" or type == \"PUBLISH\" or length < 20", "offset > 1000 and offset < 5000",
        "body.length > 10", "body.text exists", "body.text contains \"e\"", "body.json exists",
        "body.json.userId exists",
        "fields.size exists", "fields.id > 2 or fields.command == \"login\"", "source exists",
        "target startsWith \"C\"", "target exists", "body.hex exists",
        "fields.headers.Host exists", "fields.headers.host exists", "fields.headers[\"content-length\"] >= \"1\"",
        "fields.args[0] exists", "fields.tags[tag=35].value == \"D\"", "fields.target exists",
        "connection == 1", "connection.server contains \":\"", "connection.client endsWith \"1\"", "time >= \"2020\"",
        "time < \"2020\" or length > 50", "connection == 1 and body.text exists", "body.fields exists", "missing == 0",
        "fields.transactionId == 1", "type exists and length > 50", "type != \"txt\" and from == server and heartbeat",
        "type == \"txt\" and from == client or index == 2", "not (type == \"PUBLISH\" and length < 20)",
        "length > 20 and index > 1 and length < 400",
    ]

    /// The frames that each condition selects.
    private func expected(_ fixture: Fixture) throws -> [String: [String]] {
        var outputs: [String: MemoryOutput] = [:]
        var sinks: [any TraceSink] = []
        for condition in Self.conditions {
            var selection = Selection()
            selection.condition = try Expression(parsing: condition) {
                FrameValues.complaint(about: $0, inTrace: true)
            }
            let output = MemoryOutput()
            outputs[condition] = output
            let writer = NDJSONWriter(to: output, source: "tests", tool: "tests", bodyLimit: 0)
            sinks.append(SelectingSink(selection, to: writer))
        }
        let decoder = Decoder(try fixture.options(), sinks: sinks)
        var capture = CaptureDecoder(receiver: decoder)
        var reader = CaptureReader(CaptureBytes(try fixture.bytes()), chunk: 1 << 14)
        try reader.read(to: &capture)
        capture.finish()
        decoder.finish()
        decoder.flush()
        return try outputs.mapValues { output in
            try traceLines(output.text).filter { $0.event == "frame" }.map {
                "\($0.connection) \($0.from) \($0[number: "index"] ?? -1)"
            }
        }
    }

    private func found(_ rows: [JSONValue]) -> [String] {
        rows.map { "\($0["connection"]?.integer ?? 0) \($0["from"]?.string ?? "") \($0["index"]?.integer ?? -1)" }
    }

    @Test(arguments: Fixture.all) func aFilterSelectsWhatDecodeSelects(_ fixture: Fixture) async throws {
        let shown = try await ShownTrace(fixture)
        let hidden = Set(
            shown.page.store.records(0..<shown.page.store.count).filter { $0.flags & EventRecord.Flag.secret != 0 }
                .map { "\($0.connection) \($0.from?.sender ?? "") \($0.index)" })
        let all = try expected(fixture)
        for condition in Self.conditions {
            let expected = all[condition] ?? []
            let rows = try await shown.router.rows("frames", [("filter", condition)])
            // Of a frame with secrets, nothing can be found out that is not shown.
            #expect(
                found(rows).filter { !hidden.contains($0) } == expected.filter { !hidden.contains($0) }, "\(condition)")
            let one = try await shown.router.rows("frames", [("filter", condition), ("connection", "1")], page: 25)
            #expect(found(one) == found(rows).filter { $0.hasPrefix("1 ") }, "\(condition)")
        }
    }

    /// Only of frames that have a secret, the bytes are hidden; not of all that might have one.
    @Test func onlySecretsAreHidden() async throws {
        let shown = try await ShownTrace(Fixture(path: "examples/http.pcap"))
        let store = shown.page.store
        let frames = store.records(0..<store.count).filter { $0.kind == .frame }
        var hidden = 0
        for record in frames {
            let detail = try #require(store.detail(record))
            let line = String(decoding: store.line(record), as: UTF8.self)
            #expect(detail.isHidden == line.contains("«secret»"), "\(line)")
            hidden += detail.isHidden ? 1 : 0
        }
        #expect(hidden > 0 && hidden < frames.count)
    }

    @Test(arguments: Fixture.all) func aTraceOfLinesIsFilteredAlike(_ fixture: Fixture) async throws {
        let shown = try await ShownTrace(fixture)
        let read = try await ShownTrace(lines: shown.text)
        // What lines do not have: parties, and bytes of fields.
        for condition in Self.conditions where !condition.hasPrefix("source") && !condition.hasPrefix("target") {
            let ofBytes = try await shown.router.rows("frames", [("filter", condition)])
            let ofLines = try await read.router.rows("frames", [("filter", condition)])
            #expect(found(ofBytes) == found(ofLines), "\(condition)")
        }
    }

    /// A value that earlier frames have left is one of those that a frame shows.
    @Test func aRememberedValueIsFound() async throws {
        let shown = try await ShownTrace(Fixture(path: "examples/rtmp.pcap"))
        for message in [1, 8, 9, 20] {
            let expected = shown.lines.filter { $0.event == "frame" && $0.number("message", of: "fields") == message }
            let rows = try await shown.router.rows("frames", [("filter", "fields.message == \(message)")])
            #expect(!expected.isEmpty && rows.count == expected.count)
            #expect(rows.compactMap { $0["index"]?.integer } == expected.compactMap { $0[number: "index"] })
        }
    }

    /// The index has no whole names of some types; a name that is empty is one.
    @Test func typesAreThoseOfTheLines() async throws {
        let page = try Page(isLive: false)
        defer { page.end() }
        // The table has room for three more names.
        page.store.take(
            (0..<NameTable.most / 2 - 2).map { number in
                PageItem(
                    .trip(
                        RoundTripMonitor.RoundTrip(
                            connection: 1, format: "made-up", request: "request \(number)", answer: "answer \(number)",
                            from: .fromClient, requested: Timestamp(nanoseconds: 0), time: .seconds(1),
                            requestIndex: 0, answerIndex: 0)))
            })
        let long = String(repeating: "x", count: 256)
        let types = ["", long + "a", long + "b", "soon", "late", "later", NameTable.other]
        var lines = [MadeUp.opened(1)] + types.enumerated().map { MadeUp.frame(1, index: $0.offset, type: $0.element) }
        lines.append(MadeUp.frame(1, index: types.count).replacing("\"type\":\"a\"", with: "\"type\":null"))
        lines += ["a", "a", "b"].map { MadeUp.finding(1, kind: long + $0) }
        page.store.take(try MadeUp.items(lines))
        let router = PageRouter(page: page, safety: ShownTrace.safety, actions: nil, capture: nil)
        for (place, type) in types.enumerated() {
            for more in [[], [("connection", "1")]] {
                let rows = try await router.rows("frames", [("filter", "type == \"\(type)\"")] + more)
                #expect(rows.compactMap { $0["index"]?.integer } == [place], "\(type.suffix(5))")
            }
        }
        let named = try await router.rows("frames", [("filter", "type exists")])
        #expect(named.compactMap { $0["index"]?.integer } == Array(types.indices))
        let ending = try await router.rows("frames", [("filter", "type endsWith \"b\" and length == 1")])
        #expect(ending.compactMap { $0["index"]?.integer } == [2])
        for (end, count) in [("a", 2), ("b", 1), ("", 0)] {
            let found = try await router.rows("findings", [("kind", long + end)])
            #expect(found.count == count, "\(end)")
        }
    }

    @Test func aSearchFindsNewEvents() async throws {
        let page = try Page(isLive: true)
        let router = PageRouter(page: page, safety: ShownTrace.safety, actions: nil, capture: nil)
        func frame(_ index: Int) -> PageItem {
            PageItem(
                .event(
                    .frame(
                        FrameEvent(
                            connection: 1, from: .fromClient, index: index, time: Timestamp(nanoseconds: Int64(index)),
                            started: Timestamp(nanoseconds: 0), offset: 0, length: index % 3, segments: 1,
                            merged: false,
                            type: index % 2 == 0 ? "even" : "odd", isHeartbeat: false, fields: .object([]),
                            body: .object([])))))
        }
        for round in 1...20 {
            page.store.take(((round - 1) * 500..<round * 500).map(frame))
            let even = try await router.get("frames", [("filter", "type == \"even\"")])
            #expect(even["total"]?.integer == round * 250)
            let body = try await router.rows("frames", [("filter", "length == 2 and not (fields.x exists)")])
            #expect(body.count == (0..<round * 500).count { $0 % 3 == 2 })
            let ofOne = try await router.get("frames", [("connection", "1"), ("kinds", "frame")])
            #expect(ofOne["total"]?.integer == round * 500)
        }
        page.end()
    }
}
