import Control
import Framing
import NIOHTTP1
import Streams
import TestSupport
import Testing
import Trace

@testable import Page

/// Every query agrees with the trace's lines.
@Suite struct QueryTests {
    @Test(arguments: Fixture.all) func totalsAreThoseOfTheTrace(_ fixture: Fixture) async throws {
        let shown = try await ShownTrace(fixture)
        let state = try await shown.router.get("state")
        func count(_ event: String) -> Int { shown.lines.count { $0.event == event } }
        #expect(state["events"]?.integer == shown.lines.count)
        #expect(state["frames"]?.integer == count("frame"))
        #expect(state["connections"]?.integer == count("opened"))
        #expect(state["findings"]?.integer == count("finding"))
        #expect(state["missed"]?.integer == 0 && state["finished"]?.boolean == true)
        #expect(state["actions"]?.boolean == false && state["live"]?.boolean == false)

        let summary = try await shown.router.get("summary")
        let last = try #require(shown.lines.last)
        for key in ["connections", "frames", "bytes", "framed", "unframed", "padding", "missing", "heartbeats"] {
            #expect(summary[key]?.integer == last[number: key])
        }
        for side in ["client", "server"] {
            let types = shown.lines.filter { $0.event == "frame" && $0.from == side }.compactMap { $0["type"] }
            let counts = Dictionary(types.map { ($0, 1) }, uniquingKeysWith: +)
            let found = summary["types"]?[side].members.map { ($0.name, $0.value.integer ?? 0) } ?? []
            #expect(Dictionary(uniqueKeysWithValues: found) == counts)
            // The most frequent first; those that are as frequent in the order of their names.
            let ordered = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            #expect(found.map(\.0) == ordered.map(\.key))
        }
    }

    @Test func eachRunHasANameOfItsOwn() async throws {
        let (shown, other) = (try await ShownTrace(try #require(Fixture.all.first)), try Page(isLive: false))
        defer { other.end() }
        let run = try #require(try await shown.router.get("state")["run"]?.string)
        #expect(try await shown.router.get("state")["run"]?.string == run)
        #expect(other.run != run)
    }

    @Test(arguments: Fixture.all) func connectionsAddUp(_ fixture: Fixture) async throws {
        let shown = try await ShownTrace(fixture)
        let rows = try await shown.router.rows("connections")
        #expect(rows.count == shown.lines.count { $0.event == "opened" })
        for row in rows {
            let number = try #require(row["connection"]?.integer)
            let own = shown.lines.filter { $0.connection == number }
            let closed = try #require(own.last { $0.event == "closed" })
            #expect(row["client"]?.string == own.first { $0.event == "opened" }?["client"])
            #expect(row["format"]?.string == own.first { $0.event == "format" }?["format"])
            #expect(row["reason"]?.string == closed["reason"] && row["by"]?.string == closed["by"])
            for side in ["client", "server"] {
                let sums = try #require(row["sides"]?[side])
                for key in ["frames", "bytes", "unframed", "missing"] {
                    #expect(sums[key]?.integer == closed.number(key, of: side), "\(key) of the \(side) of #\(number)")
                }
                let rates = (row["rates"]?[side]).items.compactMap(\.integer)
                #expect(rates.reduce(0, +) == sums["frames"]?.integer && rates.count <= Rates.most)
            }
            let one = try await shown.router.get("connections", [("connection", "\(number)"), ("sort", "bytes")])
            #expect(one["total"]?.integer == 1 && one["rows"].items == [row])
            let findings = (row["findings"]).members.reduce(0) { $0 + ($1.value.integer ?? 0) }
            #expect(findings == own.count { $0.event == "finding" })
        }
    }

    @Test(arguments: ["number", "client", "server", "format", "frames", "bytes", "opened", "duration", "findings"])
    func connectionsAreSorted(by sort: String) async throws {
        let shown = try await ShownTrace(Fixture(path: "examples/stomp.pcap"))
        let up = try await shown.router.rows("connections", [("sort", sort)])
        let down = try await shown.router.rows("connections", [("sort", sort), ("order", "down")], page: 2)
        #expect(up.reversed() == down)
        func key(_ row: JSONValue) -> Int {
            let sides = ["client", "server"].compactMap { row["sides"]?[$0] }
            return switch sort {
            case "number": row["connection"]?.integer ?? 0
            case "frames", "bytes": sides.reduce(0) { $0 + ($1[sort]?.integer ?? 0) }
            case "opened": Int(row["opened"]?.string ?? "") ?? 0
            case "findings": row["findings"].members.reduce(0) { $0 + ($1.value.integer ?? 0) }
            default: 0
            }
        }
        #expect(zip(up, up.dropFirst()).allSatisfy { key($0) <= key($1) })
        let one = try #require(up.first?["client"]?.string)
        let found = try await shown.router.rows("connections", [("search", one.uppercased())])
        #expect(found.count == up.count { $0["client"]?.string?.contains(one) == true })
        let none = try await shown.router.get("connections", [("search", "no such name")])
        #expect(none["total"]?.integer == 0)
    }

    @Test(arguments: Fixture.all) func pagesAddUp(_ fixture: Fixture) async throws {
        let shown = try await ShownTrace(fixture)
        let lists: [(query: String, parameters: [(String, String)], kinds: Set<String>)] = [
            ("frames", [], ["frame"]),
            ("frames", [("kinds", "frame,finding,closed")], ["frame", "finding", "closed"]),
            ("frames", [("connection", "1")], ["frame"]),
            (
                "conversation", [("connection", "1")],
                ["frame", "finding", "action", "missing", "unframed", "dropped", "closed"]
            ),
        ]
        for list in lists {
            let whole = try await shown.router.rows(list.query, list.parameters)
            let parts = try await shown.router.rows(list.query, list.parameters, page: 7)
            #expect(whole == parts)
            let isOfOne = !list.parameters.isEmpty && list.parameters[0].0 == "connection"
            let expected = shown.lines.enumerated().filter {
                list.kinds.contains($0.element.event) && (!isOfOne || $0.element.connection == 1)
            }.map(\.offset)
            #expect(whole.compactMap { $0["event"]?.integer } == expected)
            guard list.query == "frames" else { continue }
            for event in stride(from: 0, through: shown.lines.count, by: max(1, shown.lines.count / 50)) {
                let place = try await shown.router.get("place", list.parameters + [("event", "\(event)")])
                #expect(place["row"]?.integer == expected.firstIndex { $0 >= event } ?? expected.count)
                #expect(place["event"]?.integer == expected.first { $0 >= event })
            }
        }
    }

    @Test(arguments: Fixture.all) func anEventHasItsLineAndItsNeighbours(_ fixture: Fixture) async throws {
        let shown = try await ShownTrace(fixture)
        for (number, line) in shown.lines.enumerated() {
            let event = try await shown.router.get("event/\(number)")
            #expect(
                event["line"]?.compactText == (try JSONValue(parsing: Array(line.text.utf8).span.bytes)).compactText)
            guard line.event == "frame" else { continue }
            func isNeighbour(_ other: TraceLine) -> Bool {
                other.event == "frame" && other.connection == line.connection && other.from == line.from
            }
            let next = shown.lines[(number + 1)...].firstIndex(where: isNeighbour)
            let previous = shown.lines[..<number].lastIndex(where: isNeighbour)
            #expect(event["next"]?.integer == next && event["previous"]?.integer == previous)
            let detail = try #require(event["detail"])
            let size = (detail["hex"]?.string?.utf8.count ?? 0) / 2
            for part in detail["parts"].members + detail["fields"].members
            where detail["hidden"]?.boolean == false && detail["truncated"]?.boolean == false {
                let range = Optional(part.value).items.compactMap(\.integer)
                #expect(range.count == 2 && range[0] >= 0 && range[1] >= 0 && range[0] + range[1] <= size)
            }
        }
        let none = try await shown.router.response("/api/v1/page/event/\(shown.lines.count)")
        #expect(none.status == .notFound)
    }

    @Test(arguments: Fixture.all) func pairsGoBothWays(_ fixture: Fixture) async throws {
        let shown = try await ShownTrace(fixture)
        var answers = 0
        for row in try await shown.router.rows("frames") {
            let number = try #require(row["event"]?.integer)
            let event = try await shown.router.get("event/\(number)")
            guard let pair = event["pair"], pair != .null else { continue }
            let other = try await shown.router.get("event/\(try #require(pair["event"]?.integer))")
            #expect(other["pair"]?["event"]?.integer == number || other["pair"]?["event"] != nil)
            #expect(other["line"]?["from"] != event["line"]?["from"])
            #expect(other["line"]?["connection"] == event["line"]?["connection"])
            #expect(other["line"]?["index"] == pair["index"])
            if pair["role"]?.string == "answer" { answers += 1 }
        }
        let trips = try await shown.router.get("roundtrips")
        let counted = trips["pairs"].items.reduce(0) { $0 + ($1["count"]?.integer ?? 0) }
        // A frame that is both keeps one of its pairs.
        #expect(answers <= counted && (answers > 0) == (counted > 0))
        for pair in trips["pairs"].items {
            let sum = pair["histogram"].items.reduce(0) { $0 + (Optional($1).items.last?.integer ?? 0) }
            #expect(sum == pair["count"]?.integer)
        }
    }

    @Test(arguments: Fixture.all) func theTimelineCountsEveryFrame(_ fixture: Fixture) async throws {
        let shown = try await ShownTrace(fixture)
        for bins in [1, 3, 100, 1_999] {
            let timeline = try await shown.router.get("timeline", [("bins", "\(bins)"), ("count", "200")])
            let lanes = timeline["lanes"].items
            // Names that no bin refers to are not sent.
            let used = lanes.flatMap { lane in
                ["client", "server"].flatMap { (lane["bins"]?[$0]).items.compactMap { Optional($0).items[3].integer } }
            }
            #expect(timeline["types"].items.count == (used.max() ?? -1) + 1)
            #expect(timeline["total"]?.integer == shown.lines.count { $0.event == "opened" })
            for lane in lanes {
                for side in ["client", "server"] {
                    let own = shown.lines.filter {
                        $0.event == "frame" && $0.connection == lane["connection"]?.integer && $0.from == side
                    }
                    let cells = (lane["bins"]?[side]).items.map { Optional($0).items.compactMap(\.integer) }
                    #expect(cells.reduce(0) { $0 + $1[1] } == own.count)
                    #expect(cells.allSatisfy { $0[0] < bins && $0[1] >= $0[2] })
                    #expect(zip(cells, cells.dropFirst()).allSatisfy { $0[0] < $1[0] })
                    if bins == 1, let cell = cells.first {
                        let types = timeline["types"].items.compactMap(\.string)
                        let counts = Dictionary(own.map { ($0["type"] ?? "", 1) }, uniquingKeysWith: +)
                        #expect(counts[cell[3] < 0 ? "" : types[cell[3]]] == counts.values.max())
                    }
                }
                let gaps = lane["marks"].items.filter { $0["kind"]?.string == "heartbeat-gap" }
                let found = shown.lines.filter {
                    $0.event == "finding" && ["heartbeat-gap", "heartbeat-never"].contains($0["kind"] ?? "")
                        && $0.connection == lane["connection"]?.integer
                }
                #expect(gaps.count == min(found.count, HeartbeatGaps.most.gaps))
            }
        }
        // A part of the time, in two halves.
        let state = try await shown.router.get("state")
        let earliest = try #require(state["earliest"]?.string.flatMap { Int($0) })
        let latest = try #require(state["latest"]?.string.flatMap { Int($0) })
        let middle = (earliest + latest) / 2
        var count = 0
        for (from, to) in [(earliest, middle), (middle + 1, latest)] {
            let part = try await shown.router.get(
                "timeline", [("from", "\(from)"), ("to", "\(to)"), ("bins", "10"), ("count", "200")])
            for lane in part["lanes"].items {
                for side in ["client", "server"] {
                    count += (lane["bins"]?[side]).items.reduce(0) { $0 + (Optional($1).items[1].integer ?? 0) }
                }
            }
        }
        #expect(count == shown.lines.count { $0.event == "frame" })
    }

    @Test(arguments: Fixture.all) func findingsAreGrouped(_ fixture: Fixture) async throws {
        let shown = try await ShownTrace(fixture)
        let groups = try await shown.router.get("findings")["groups"].items
        let kinds = shown.lines.filter { $0.event == "finding" }.compactMap { $0["kind"] }
        let counts = Dictionary(kinds.map { ($0, 1) }, uniquingKeysWith: +)
        let found = groups.map { ($0["kind"]?.string ?? "", $0["count"]?.integer ?? 0) }
        #expect(Dictionary(uniqueKeysWithValues: found) == counts)
        for (kind, count) in counts {
            let rows = try await shown.router.rows("findings", [("kind", kind)], page: 3)
            #expect(rows.count == count && rows.allSatisfy { $0["findingKind"]?.string == kind })
            #expect(groups.first { $0["kind"]?.string == kind }?["first"] == rows.first?["event"])
        }
    }

    @Test func aFindingThatStandsForOthersCountsAsMany() async throws {
        let shown = try await MadeUp.trace([
            MadeUp.opened(1), MadeUp.finding(1, kind: "late-answer"),
            MadeUp.finding(1, at: 1, kind: "late-answer", data: "{\"count\":5}"),
        ])
        #expect(try await shown.router.get("state")["findings"]?.integer == 6)
        let groups = try await shown.router.get("findings")["groups"].items
        #expect(groups.first?["count"]?.integer == 6)
        let rows = try await shown.router.rows("connections")
        #expect(rows.first?["findings"]?["warning"]?.integer == 6)
    }

    @Test func aGroupHasTheHighestSeverityOfItsFindings() async throws {
        let shown = try await MadeUp.trace([
            MadeUp.opened(1), MadeUp.finding(1, kind: "other"),
            MadeUp.finding(1, kind: "mixed", severity: "info"), MadeUp.finding(1, kind: "mixed", severity: "error"),
            MadeUp.finding(1, kind: "mixed", severity: "warning"),
        ])
        let groups = try await shown.router.get("findings")["groups"].items
        #expect(groups.map { $0["kind"]?.string } == ["mixed", "other"])
        #expect(groups.map { $0["severity"]?.string } == ["error", "warning"])
    }

    @Test func wordsComplete() async throws {
        let shown = try await ShownTrace(Fixture(path: "im-json/chat.pcap"))
        func words(_ prefix: String) async throws -> [String] {
            try await shown.router.get("complete", [("prefix", prefix)])["words"].items.compactMap(\.string)
        }
        #expect(try await words("ty").contains("type"))
        #expect(try await words("type == \"t") == ["\"txt\""])
        #expect(try await words("length > 1 and fields.target") == ["fields.targetID"])
        #expect(try await words("length > 1 and ").isEmpty)
    }

    @Test(arguments: Fixture.all) func aSavedTraceIsTheTrace(_ fixture: Fixture) async throws {
        let shown = try await ShownTrace(fixture)
        let whole = try await shown.saved("as=trace")
        #expect(whole.split(separator: "\n").dropFirst() == shown.text.split(separator: "\n").dropFirst())
        let one = try await shown.saved("as=golden&connection=1")
        let expected = shown.lines.filter { $0.connection == 1 }.map(\.text)
        #expect(one.split(separator: "\n").dropFirst().map(String.init) == expected)
        // It can be read again.
        let again = try await ShownTrace(lines: one)
        #expect(
            try await again.router.rows("frames").count
                == shown.lines.count { $0.event == "frame" && $0.connection == 1 })
        let script = try await shown.saved("as=torture&connection=1")
        #expect(script.hasPrefix("#!/bin/sh\n") && script.contains("\nframetap torture --server \"$server\""))
        let capture = try await shown.router.response("/api/v1/page/save?as=capture")
        #expect(capture.status == .notImplemented)
    }

    @Test func wrongQueriesAreRefused() async throws {
        let shown = try await ShownTrace(Fixture(path: "im-json/chat.pcap"))
        let wrong = [
            "frames?from=-1", "frames?count=x", "frames?kinds=nothing", "frames?leg=up", "frames?filter=type+%3D%3D",
            "timeline?from=now", "connections?sort=color", "conversation", "place", "event/x", "save?as=wav",
        ]
        for query in wrong {
            let response = try await shown.router.response("/api/v1/page/\(query)")
            #expect([400, 404].contains(response.status.code), "\(query)")
            #expect(try JSONValue(parsing: response.body.span.bytes)["error"]?.string?.isEmpty == false)
        }
        let bad = try await shown.router.response("/api/v1/page/frames?filter=type+%3D%3D+%28")
        #expect(try JSONValue(parsing: bad.body.span.bytes)["column"]?.integer != nil)
        let none = try await shown.router.response("/api/v1/page/nothing")
        #expect(none.status == .notFound)
        // What is expected is said, too.
        for (query, expected) in [
            ("connections?sort=color", "duration"), ("connections?order=left", "up or down"), ("nothing", "timeline"),
            ("frames?kinds=nothing", "frame, missing"), ("listeners/a", "nothing passes"),
        ] {
            let response = try await shown.router.response("/api/v1/page/\(query)")
            let text = try JSONValue(parsing: response.body.span.bytes)["error"]?.string ?? ""
            #expect(text.contains(expected), "\(query): \(text)")
        }
        let json = [("Content-Type", "application/json")]
        let write = try await shown.router.response("/api/v1/page/frames", method: .PUT, headers: json)
        #expect(String(decoding: write.body, as: UTF8.self).contains("PUT is not possible for frames; expected GET"))
    }
}

extension ShownTrace {
    /// What is saved.
    func saved(_ query: String) async throws -> String {
        let response = try await router.response("/api/v1/page/save?\(query)")
        let pieces = Pieces()
        if let follow = response.follow { try await follow { await pieces.add($0) } }
        return String(decoding: await pieces.bytes, as: UTF8.self)
    }

    private actor Pieces {
        var bytes: [UInt8] = []
        func add(_ more: [UInt8]) { bytes += more }
    }
}
