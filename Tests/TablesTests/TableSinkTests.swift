import Foundation
import Framing
import Packets
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

@testable import Tables

/// The rows of a capture: each once, in the files that they belong to.
@Suite struct TableSinkTests {
    /// Files and rows that wait, in memory.
    final class Memory: RowStore {
        var files: [String: MemoryOutput] = [:]
        var stored: [UInt8] = []
        var reads = 0

        func append(_ bytes: [UInt8]) -> Range<Int> {
            stored += bytes
            return stored.count - bytes.count..<stored.count
        }

        func read(_ place: Range<Int>) -> [UInt8] {
            reads += 1
            return Array(stored[place])
        }

        func create(_ path: String) -> any ByteOutput {
            let output = MemoryOutput()
            files[path] = output
            return output
        }

        /// The rows of all files of a table, by the files' names.
        func rows(_ table: Table) throws -> [String: [[String: ParquetReader.Value]]] {
            var rows: [String: [[String: ParquetReader.Value]]] = [:]
            for (path, output) in files where path.hasPrefix("\(table.name)/") {
                let reader = try ParquetReader(output.bytes)
                #expect(reader.names == table.stored.map(\.name))
                rows[String(path.split(separator: "/").last ?? "")] = reader.rows.map { row in
                    Dictionary(
                        uniqueKeysWithValues: zip(reader.names, row).compactMap { name, value in
                            value.map { (name, $0) }
                        })
                }
            }
            return rows
        }
    }

    private static let fixtures = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "fixtures")

    /// What tables, and a trace, say of a capture.
    private struct Decoded {
        var memory: Memory
        var outcome: TableOutcome
        var events: [JSONValue]

        func events(_ kind: String) -> [JSONValue] { events.filter { $0["event"]?.string == kind } }
    }

    private func decode(
        _ capture: String, _ selection: TableSelection = TableSelection(), isSplit: Bool = false,
        mostWaiting: Int = TableSink.mostWaiting
    ) throws -> Decoded {
        let memory = Memory()
        let sink = TableSink(
            selection, name: FileName("t", isSplit: isSplit), application: "test", bodyLimit: 4_096, store: memory,
            mostWaiting: mostWaiting, create: memory.create)
        let bytes = [UInt8](try Data(contentsOf: Self.fixtures.appending(path: capture)))
        let options = DecodingOptions(.automatic(try BuiltInFormats.allWithVariants()))
        let decoded = DecodedCapture(bytes, options: options, sinks: [sink])
        let events = try decoded.ndjson.split(separator: "\n").map { line in
            let bytes = Array(line.utf8)
            return try JSONValue(parsing: bytes.span.bytes)
        }
        #expect(sink.outcome.late == 0)
        return Decoded(memory: memory, outcome: sink.outcome, events: events)
    }

    private static let captures = [
        "im-json/chat.pcap", "len16-id/conversation.pcap", "tlv32/conversation.pcap", "blame/network-gone.pcap",
        "text-heartbeat/conversation.pcap",
    ]

    private func text(_ value: ParquetReader.Value?) -> String {
        switch value {
        case nil: "null"
        case .text(let text): text
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .boolean(let truth): "\(truth)"
        }
    }

    /// A row as text, without its key.
    private func line(_ row: [String: ParquetReader.Value]) -> String {
        row.filter { $0.key != "connection" }.sorted { $0.key < $1.key }.map { "\($0.key)=\(text($0.value))" }
            .joined(separator: " ")
    }

    @Test(arguments: captures) func framesAreThoseOfTheTrace(capture: String) throws {
        let decoded = try decode(capture)
        let rows = try decoded.memory.rows(.frames).values.flatMap { $0 }
        // Of the gaps in heartbeats, only findings are of interest here.
        #expect(rows.isEmpty == capture.hasPrefix("blame/") && rows.count == decoded.outcome.frames)
        let found = rows.map { row in
            [
                "sender", "number", "time_ns", "started_ns", "stream_offset", "length", "segments", "merged", "type",
                "heartbeat", "fields", "body",
            ]
            .map { text(row[$0]) }.joined(separator: " ")
        }
        func nanoseconds(_ value: JSONValue?) -> String {
            (value?.string).flatMap { Timestamp(rfc3339: $0) }.map { "\($0.nanoseconds)" } ?? "null"
        }
        let expected = decoded.events("frame").map { frame in
            [
                frame["from"]?.string ?? "", frame["index"]?.compactText ?? "", nanoseconds(frame["time"]),
                nanoseconds(frame["started"]), frame["offset"]?.compactText ?? "", frame["length"]?.compactText ?? "",
                frame["segments"]?.compactText ?? "", frame["merged"]?.compactText ?? "",
                frame["type"]?.string ?? "null", frame["heartbeat"]?.compactText ?? "",
                frame["fields"]?.compactText ?? "", frame["body"]?.compactText ?? "",
            ].joined(separator: " ")
        }
        #expect(found.sorted() == expected.sorted())
        for row in rows {
            guard case .integer(let fine) = row["time_ns"], case .integer(let coarse) = row["time"] else {
                Issue.record("a frame without time")
                continue
            }
            #expect(coarse == fine / 1_000)
        }
    }

    @Test(arguments: captures) func connectionsAndFindingsAreThoseOfTheTrace(capture: String) throws {
        let decoded = try decode(capture)
        let connections = try decoded.memory.rows(.connections).values.flatMap { $0 }
        let closed = decoded.events("closed")
        #expect(connections.count == closed.count && decoded.outcome.connections == closed.count)
        let counts = { (row: [String: ParquetReader.Value], side: String) in
            ["bytes", "framed", "unframed", "padding", "missing", "frames"].map { self.text(row["\(side)_\($0)"]) }
        }
        for side in ["client", "server"] {
            let expected = closed.map { line in
                ["bytes", "framed", "unframed", "padding", "missing", "frames"].map {
                    line[side]?[$0]?.compactText ?? ""
                }
            }
            #expect(
                connections.map { counts($0, side).joined(separator: " ") }.sorted()
                    == expected.map { $0.joined(separator: " ") }.sorted())
        }
        #expect(Set(connections.map { text($0["connection"]) }).count == closed.count)
        let findings = try decoded.memory.rows(.findings).values.flatMap { $0 }
        let expected = ["finding", "missing", "unframed"].flatMap { decoded.events($0) }
        #expect(
            findings.map { text($0["kind"]) }.sorted()
                == expected.map { ($0["kind"] ?? $0["event"])?.string ?? "" }.sorted())
        #expect(findings.allSatisfy { !text($0["data"]).contains("acket\":") })
    }

    @Test(arguments: captures) func rowsThatWaitInAStoreAreTheSame(capture: String) throws {
        let (whole, stored) = (try decode(capture).memory, try decode(capture, mostWaiting: 300).memory)
        #expect(stored.reads > 0 && whole.reads == 0)
        for table in Table.allCases {
            let (left, right) = (try whole.rows(table), try stored.rows(table))
            #expect(left.mapValues { $0.map(line) } == right.mapValues { $0.map(line) }, "\(table)")
        }
    }

    /// What connections that are over took is free: of many, one after the other, no rows ever wait for too long.
    @Test func rowsOfConnectionsThatAreOverDoNotWait() throws {
        let memory = Memory()
        let sink = TableSink(
            TableSelection(), name: FileName("t", isSplit: false), application: "test", bodyLimit: 1, store: memory,
            mostWaiting: 16 << 10, create: memory.create)
        let counts = PerDirection(fromClient: ByteCounts(), fromServer: ByteCounts())
        for number in 1...200 {
            let time = Timestamp(nanoseconds: Int64(number))
            let connection = TracedConnection(
                Opening(
                    number: number, time: time, client: Endpoint(IPAddress(v4: 1), UInt16(number)),
                    server: Endpoint(IPAddress(v4: 2), 2)))
            sink.opened(connection)
            for place in 0..<20 {
                sink.missing(Gap(direction: .fromClient, offset: place, byteCount: 1, time: time), on: connection)
            }
            sink.closed(Closing(reason: .fin, by: .fromServer, time: time), counts: counts, on: connection)
        }
        sink.summary(Summary())
        #expect(memory.stored.isEmpty)
        #expect(try memory.rows(.findings).values.map(\.count) == [4_000])
    }

    /// The place of a connection that is over is another's.
    @Test func placesOfConnections() {
        var connections = PendingConnections()
        connections.add(PendingConnection(alike: 1), number: 7)
        let place = connections.place(of: 7)
        #expect(place != nil && connections.place(of: 8) == nil)
        #expect(connections.remove(7)?.alike == 1 && connections.remove(7) == nil)
        #expect(connections.place(of: 7) == nil && !connections.contains(7))
        connections.add(PendingConnection(alike: 2), number: 8)
        #expect(connections.place(of: 8) == place && connections.place(of: 7) == nil)
        #expect(connections.numbers == [8])
    }

    @Test func finalRowsAreThoseOfConnectionsThatEndedBefore() throws {
        let capture = "im-json/chat.pcap"
        let whole = try decode(capture)
        let ends = whole.events("closed").compactMap { $0["time"]?.string }.compactMap { Timestamp(rfc3339: $0) }
            .sorted()
        var selection = TableSelection()
        selection.finalBefore = ends[ends.count / 2]
        let split = try decode(capture, selection, isSplit: true)
        for table in Table.allCases {
            let files = try split.memory.rows(table)
            #expect(Set(files.keys).isSubset(of: ["t-final.parquet", "t-live.parquet"]))
            #expect(
                files.values.flatMap { $0 }.map(line).sorted()
                    == (try whole.memory.rows(table)).values.flatMap { $0 }.map(line).sorted())
        }
        let connections = try split.memory.rows(.connections)
        let limit = Int64(ends[ends.count / 2].nanoseconds)
        func isOver(_ row: [String: ParquetReader.Value]) -> Bool {
            guard case .integer(let closed) = row["closed_ns"] else { return false }
            return closed < limit && row["reason"] != .text("end-of-input")
        }
        let (final, live) = (connections["t-final.parquet"] ?? [], connections["t-live.parquet"] ?? [])
        #expect(final.allSatisfy(isOver) && !live.contains(where: isOver) && !live.isEmpty)
        #expect(split.outcome.live.count == live.count)
        // What was final is left out of the next run, and what that replaces is the rest.
        selection.writtenBefore = selection.finalBefore
        let next = try decode(capture, selection, isSplit: true)
        for table in Table.allCases {
            let (left, before) = (try next.memory.rows(table), try split.memory.rows(table))
            #expect((left["t-live.parquet"] ?? []).map(line) == (before["t-live.parquet"] ?? []).map(line))
            #expect(left["t-final.parquet"] == nil)
        }
    }

    @Test func whatIsStillOpenIsNeverFinal() {
        let (early, late) = (Timestamp(nanoseconds: 1), Timestamp(nanoseconds: 9))
        func fate(_ reasons: [(CloseReason, Timestamp)], _ final: Timestamp?, written: Timestamp? = nil)
            -> TableSelection.Fate
        {
            var selection = TableSelection()
            (selection.finalBefore, selection.writtenBefore) = (final, written)
            return selection.fate(of: reasons.map { Closing(reason: $0, by: nil, time: $1) })
        }
        #expect(fate([(.fin, early)], late) == .final && fate([(.fin, late)], late) == .live)
        #expect(fate([(.endOfInput, early)], late) == .live && fate([(.evicted, early)], late) == .live)
        #expect(fate([(.fin, early), (.endOfInput, early)], late) == .live)
        #expect(fate([(.endOfInput, late)], nil) == .final)
        #expect(fate([(.fin, early)], late, written: late) == .leftOut)
        #expect(fate([(.fin, early), (.reset, late)], late, written: late) == .live)
        #expect(fate([(.endOfInput, early)], late, written: late) == .live)
    }

    /// A client that reconnects again and again is found when the last of its connections may be over already.
    @Test func findingsAfterAConnectionsEndAreKept() throws {
        let decoded = try decode("blame/storm.pcap")
        let findings = try decoded.memory.rows(.findings).values.flatMap { $0 }
        let storms = findings.filter { $0["kind"] == .text("reconnect-storm") }
        let expected = decoded.events("finding").count { $0["kind"]?.string == "reconnect-storm" }
        #expect(storms.count == expected && expected > 0)
        let keys = Set(try decoded.memory.rows(.connections).values.flatMap { $0 }.map { text($0["connection"]) })
        #expect(storms.allSatisfy { keys.contains(text($0["connection"])) && !text($0["data"]).contains("first") })
        var selection = TableSelection()
        selection.isShard = true
        let shard = try decode("blame/storm.pcap", selection).memory.rows(.findings).values.flatMap { $0 }
        #expect(!shard.contains { $0["kind"] == .text("reconnect-storm") })
        #expect(shard.count == findings.count - storms.count)
    }

    /// A query over a table that is not there would fail.
    @Test func tablesWithoutRowsHaveAFile() throws {
        var empty = 0
        for capture in Self.captures {
            let whole = try decode(capture)
            #expect(Set(whole.outcome.files.map(\.table)) == Set(Table.allCases))
            for file in whole.outcome.files where file.rows == 0 {
                empty += 1
                #expect(try whole.memory.rows(file.table) == ["t.parquet": []])
            }
            var selection = TableSelection()
            selection.isShard = true
            let shard = try decode(capture, selection)
            #expect(shard.outcome.files.map(\.path) == whole.outcome.files.filter { $0.rows > 0 }.map(\.path))
        }
        #expect(empty > 0)
    }

    /// What is found on them is not late: it is not wanted.
    @Test(arguments: captures) func namedConnectionsAreLeftOut(capture: String) throws {
        let opened = try decode(capture).events("opened")
        let ends = opened.map { ($0["client"]?.string ?? "", $0["server"]?.string ?? "") }
        var selection = TableSelection()
        selection.except = Set(ends.map { $0 < $1 ? "\($0)-\($1)" : "\($1)-\($0)" })
        let none = try decode(capture, selection)
        #expect(none.memory.files.isEmpty && none.outcome.connections == 0)
    }

    @Test func keysTellOfTimeAndEnds() {
        let time = Timestamp(seconds: 1_795_248_000, nanoseconds: 12_345)
        let ends = ConnectionTexts(client: "10.0.0.1:1000", server: "10.0.0.2:80")
        // md5 of "10.0.0.1:1000 10.0.0.2:80 1", and of the same with 2.
        func key(_ alike: Int) -> String {
            String(decoding: ConnectionKeys.key(time, ends, alike: alike), as: UTF8.self)
        }
        #expect(key(1) == "2026-11-21T08:00:00.000012345Z-75524db084009887")
        #expect(key(2) == "2026-11-21T08:00:00.000012345Z-e080374c4dc65abd")
        var keys = ConnectionKeys()
        var opening = Opening(
            number: 1, time: time, client: Endpoint(IPAddress(v4: 0x0a00_0001), 1_000),
            server: Endpoint(IPAddress(v4: 0x0a00_0002), 80))
        #expect(ConnectionTexts(opening) == ends)
        #expect((1...3).map { _ in keys.count(opening) } == [1, 2, 3])
        // Others of the same time do not make it forget, and those of another time do.
        for port in 2_000..<12_000 {
            let other = Opening(
                number: 1, time: time, client: Endpoint(IPAddress(v4: 1), UInt16(port)), server: opening.server)
            #expect(keys.count(other) == 1)
        }
        #expect(keys.count(opening) == 4)
        opening.time = time + Interval(nanoseconds: 1)
        #expect(keys.count(opening) == 1)
    }

    @Test func daysAreThoseOfUTC() {
        #expect(Day(of: Timestamp(nanoseconds: -1)).text == "1969-12-31")
        #expect(Day(of: Timestamp(nanoseconds: .min)).text == "1677-09-21")
        #expect(Day(of: Timestamp(nanoseconds: .max)).text == "2262-04-11")
        #expect(Day(of: Timestamp(nanoseconds: 0)).text == "1970-01-01")
        #expect(Day(of: Timestamp(seconds: 1_795_305_599, nanoseconds: 999_999_999)).text == "2026-11-21")
        #expect(Day(of: Timestamp(seconds: 1_795_305_600, nanoseconds: 0)).text == "2026-11-22")
    }

    /// docs/tables.md lists every column, those of both sides and both units once.
    @Test(arguments: Table.allCases) func columnsAreDocumented(table: Table) throws {
        let page = Self.fixtures.deletingLastPathComponent().appending(path: "docs/tables.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let start = try #require(text.range(of: "| `\(table.name)` | |"))
        let section = text[start.upperBound...].prefix { $0 != "#" }.components(separatedBy: "\n\n")[0]
        for column in table.stored {
            let isOther = column.name.hasPrefix("server_") && section.contains("`server_…`")
            #expect(section.contains("`\(column.name)`") || isOther, "\(column.name)")
        }
    }

    /// Both legs of a connection have the format that one of them is known by.
    @Test func timesAreRoundedDownAndFormatsShared() throws {
        let output = MemoryOutput()
        let file = TableFile(.connections, path: "f", application: "test", PageCompression(), to: output)
        let opening = Opening(
            number: 1, time: Timestamp(nanoseconds: -1), client: Endpoint(IPAddress(v4: 1), 1),
            server: Endpoint(IPAddress(v4: 2), 2))
        var pending = PendingConnection(connection: TracedConnection(opening), alike: 1, isWanted: true)
        let counts = PerDirection(fromClient: ByteCounts(), fromServer: ByteCounts())
        let closing = Closing(reason: .fin, by: .fromServer, time: Timestamp(nanoseconds: 1_999))
        pending.endings = [
            PendingConnection.LegEnding(leg: .in, closing: closing, counts: counts),
            PendingConnection.LegEnding(leg: .out, closing: closing, counts: counts, format: ("chat", "content")),
        ]
        var rows = RowBuffer()
        for ending in pending.endings {
            rows.append(.connections, at: opening.time) {
                $0.connection(opening, ConnectionTexts(opening), pending, ending)
            }
        }
        RowBuffer.forEach(of: .connections, in: rows.bytes.span.bytes) { day, values in
            #expect(day.text == "1969-12-31")
            file.append(values, of: Array("key".utf8), 1)
        }
        file.finish()
        let reader = try ParquetReader(output.bytes)
        let written = reader.rows.map { Dictionary(uniqueKeysWithValues: zip(reader.names, $0)) }
        #expect(written.map { $0["opened"] } == [.integer(-1), .integer(-1)])
        #expect(written.map { $0["closed"] } == [.integer(1), .integer(1)])
        #expect(written.map { $0["format"] } == [.text("chat"), .text("chat")])
        #expect(written.map { $0["leg"] } == [.text("in"), .text("out")])
    }

    /// Rows have the names that traces have.
    @Test func legsAndSenders() {
        for leg in Leg.allCases { #expect("\(RowBuffer.name(of: leg))" == leg.rawValue) }
        for direction in Direction.allCases { #expect("\(RowBuffer.name(of: direction))" == direction.sender) }
    }

    /// Of many days, no file keeps its rows for long, and none is lost.
    @Test func rowsOfManyDaysAreWritten() throws {
        let memory = Memory()
        let files = TableFiles(FileName("t", isSplit: false), application: "test", create: memory.create)
        let text = String(repeating: "x", count: 30_000)
        for round in 0..<4 {
            for day in 0..<300 {
                var rows = RowBuffer()
                rows.append(.findings, at: Timestamp(seconds: Int64(day) * 86_400, nanoseconds: 0)) {
                    $0.finding(nil, .fromClient, Timestamp(nanoseconds: Int64(round)), "kind") { $0 += text.utf8 }
                }
                files.append(rows.bytes.span.bytes, isFinal: true, of: Array("key".utf8), 1)
                #expect(files.held <= 24 << 20)
            }
        }
        #expect(files.finish().map(\.rows) == Array(repeating: 4, count: 300))
        for output in memory.files.values.prefix(20) { #expect(try ParquetReader(output.bytes).rows.count == 4) }
    }

    @Test func groupsOfRowsAreBounded() throws {
        let output = MemoryOutput()
        let file = TableFile(.findings, path: "f", application: "test", PageCompression(), to: output)
        let long = String(repeating: "x", count: 3 << 20)
        for number in 0..<7 {
            var rows = RowBuffer()
            rows.append(.findings, at: Timestamp(nanoseconds: 0)) {
                $0.finding(nil, .fromClient, Timestamp(nanoseconds: Int64(number)), "kind") { $0 += long.utf8 }
            }
            file.append(rows, of: Array("key".utf8), 1)
            #expect(file.held < 4 << 20)
        }
        file.finish()
        let reader = try ParquetReader(output.bytes)
        #expect(reader.rows.count == 7 && reader.groups == 7)
    }
}
