import Analysis
import Foundation
import Framing
import Histogram
import Packets
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

/// A report's counts match the trace.
@Suite struct ReportTests {
    static let fixtures = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "fixtures")

    static let captures: [String] = {
        let all = FileManager.default.enumerator(atPath: fixtures.path)?.compactMap { $0 as? String } ?? []
        return all.filter { $0.hasSuffix(".pcap") }.sorted()
    }()

    private func decode(_ capture: String) throws -> (report: Report, lines: [TraceLine]) {
        let bytes = [UInt8](try Data(contentsOf: Self.fixtures.appending(path: capture)))
        let output = MemoryOutput()
        let collector = ReportCollector()
        let decoder = Decoder(
            DecodingOptions(.automatic(try BuiltInFormats.all())),
            analyses: Decoder.allAnalyses(replacing: collector.analyses()),
            sinks: [collector, NDJSONWriter(to: output, source: "", tool: "")])
        #expect(decoder.wantsPackets)
        var packets = CaptureDecoder(receiver: decoder)
        var reader = CaptureReader(CaptureBytes(bytes), chunk: 1 << 14)
        _ = try? reader.read(to: &packets)
        packets.finish()
        decoder.finish()
        decoder.flush()
        return (collector.report(source: capture), try traceLines(output.text))
    }

    @Test(arguments: captures) func itsCountsAreThoseOfTheTrace(capture: String) throws {
        let (report, lines) = try decode(capture)
        let frames = lines.filter { $0.event == "frame" }
        #expect(report.connections.count == lines.count { $0.event == "opened" })
        for connection in report.connections {
            for direction in Direction.allCases {
                let own = frames.filter {
                    $0.connection == connection.opening.number && $0.from == direction.sender
                }
                #expect(connection.counts[direction].frames == own.count)
                #expect(connection.types[direction].values.reduce(0, +) == own.count)
                #expect(connection.cuts[direction].frames.reduce(0, +) == own.count)
                #expect(
                    connection.cuts[direction].frames[0] == own.count { $0[number: "segments"] == 1 },
                    "in one segment")
                #expect(
                    connection.heartbeats[direction] == own.count { $0.text.contains(#""heartbeat":true"#) })
                let cells = connection.timeLine.cells[direction]
                #expect(cells.reduce(0) { $0 + $1.frames + $1.heartbeats } == own.count)
                #expect(cells.reduce(0) { $0 + $1.bytes } == own.reduce(0) { $0 + ($1[number: "length"] ?? 0) })
            }
        }
        let findings = lines.filter { $0.event == "finding" }
        #expect(report.findings.count == findings.count)
        for kind in Finding.Kind.allCases {
            let own = findings.filter { $0["kind"] == kind.rawValue }
            #expect(report.findings.count { $0.kind == kind } == own.count)
            let count = own.reduce(0) { $0 + ($1.number("count", of: "data") ?? 1) }
            #expect(report.summary.total.findings[kind, default: 0] == count)
        }
        let weights = report.findings.map { Finding.Severity.allCases.firstIndex(of: $0.severity) ?? 0 }
        #expect(weights == weights.sorted(by: >), "those of most weight first")
    }

    @Test func roundTripsAreThoseOfTheTrace() throws {
        let (report, lines) = try decode("tlv32/conversation.pcap")
        let answers = lines.filter { $0.event == "frame" && $0.from == "server" }
        #expect(report.roundTrips.reduce(0) { $0 + $1.times.count } == answers.count && !answers.isEmpty)
        for row in report.roundTrips {
            #expect(row.times.count == answers.count { $0["type"] == row.answer } && row.request == row.answer)
            #expect(row.times.buckets.reduce(0, +) == row.times.count)
            #expect(row.times.minimum <= row.times.percentile(50) && row.times.percentile(99) <= row.times.maximum)
        }
        let connection = try #require(report.connections.first)
        #expect(connection.roundTrips.reduce(0) { $0 + $1.times.count } == answers.count)
        #expect(connection.tcp?.handshake != nil && (connection.tcp?.acknowledgments.fromClient.count ?? 0) > 0)
    }

    @Test(arguments: captures) func allFormsAreWellFormed(capture: String) throws {
        let report = try decode(capture).report
        let json =
            try JSONSerialization.jsonObject(with: Data(ReportJSON.bytes(report, tool: "tests"))) as? [String: Any]
        #expect((json?["connections"] as? [Any])?.count == report.connections.count)
        #expect((json?["findings"] as? [Any])?.count == report.findings.count)
        let text = ReportText.lines(report, columns: 100)
        for connection in report.connections {
            #expect(text.contains { $0.hasPrefix("#\(connection.opening.number)  ") })
        }
    }

    @Test func namesFromTheNetworkAreShownNotSent() throws {
        let bytes = Array("<script>alert('1')</script>&\"\u{1b}[2J\u{202e}".utf8)
        let type = String(decoding: bytes, as: UTF8.self)
        let chat = try ChatBytes()
        let collector = ReportCollector()
        let decoder = Decoder(
            DecodingOptions(.fixed(chat.format)), analyses: Decoder.allAnalyses(replacing: collector.analyses()),
            sinks: [collector])
        let message = try chat.message("heart" + type, [1])
        let loopback = IPAddress(v4: 0x7f00_0001)
        let connection = decoder.open(
            Opening(
                number: 1, time: Timestamp(nanoseconds: 0), client: Endpoint(loopback, 1), server: Endpoint(loopback, 2)
            ))
        connection.received(message.span.bytes, from: .fromClient, at: Timestamp(nanoseconds: 0), packet: 0)
        decoder.advance(to: Timestamp(seconds: 10, nanoseconds: 0))
        connection.closed(Closing(reason: .endOfInput, by: nil, time: Timestamp(seconds: 10, nanoseconds: 0)))
        decoder.finish()
        let report = collector.report(source: type)
        #expect(report.findings.contains { $0.message.contains("<script>") })
        #expect(ReportText.lines(report).allSatisfy { !$0.contains("\u{1b}") && !$0.contains("\u{202e}") })
    }

    /// Times have no date, unless it is not that of the connection's opening.
    @Test func daysAreDistinguished() throws {
        let opened = Timestamp(nanoseconds: 0) + .seconds(86_390)
        let collector = ReportCollector()
        let ends = Endpoint(IPAddress(v4: 0x7f00_0001), 1)
        collector.opened(TracedConnection(Opening(number: 1, time: opened, client: ends, server: ends)))
        func lines() -> [String] { ReportText.lines(collector.report(source: "")) }
        func find(_ kind: Finding.Kind, at seconds: Double, silent: Double) {
            collector.finding(
                Finding(
                    kind: kind, severity: .warning, connection: 1, format: nil, from: .fromClient,
                    time: opened + .seconds(seconds), message: "", data: [Field("silentFor", .number(silent))]))
        }
        find(.heartbeatGap, at: 3, silent: 2)
        #expect(lines().first?.contains("  1970-01-01 23:59:50.000 for ") == true)
        #expect(lines().contains { $0.hasPrefix("  ⚠ 23:59:53.000  #1") })
        find(.heartbeatResumed, at: 86_400, silent: 86_399)
        #expect(lines().contains { $0.contains("from 23:59:51.000 to 1970-01-02 23:59:50.000") })
        #expect(lines().contains { $0.hasPrefix("  ⚠ 1970-01-01 23:59:53.000  #1") })
        #expect(lines().contains { $0.hasPrefix("  ⚠ 1970-01-02 23:59:50.000  #1") })
    }

    /// Both sides fall silent; each one's next heartbeat ends its own gap.
    @Test func gapsOfBothSidesEndBySide() throws {
        func time(_ seconds: Double) -> Timestamp { Timestamp(nanoseconds: 0) + .seconds(seconds) }
        func finding(_ kind: Finding.Kind, _ from: Direction, at seconds: Double, silent: Double) -> Finding {
            Finding(
                kind: kind, severity: .warning, connection: 1, format: nil, from: from, time: time(seconds),
                message: "",
                data: [Field("silentFor", .number(silent)), Field("blame", .text("\(from.sender) \(silent)"))])
        }
        let collector = ReportCollector()
        let loopback = Endpoint(IPAddress(v4: 0x7f00_0001), 1)
        collector.opened(TracedConnection(Opening(number: 1, time: time(0), client: loopback, server: loopback)))
        collector.finding(finding(.heartbeatGap, .fromClient, at: 3, silent: 2.5))
        collector.finding(finding(.heartbeatGap, .fromServer, at: 3.1, silent: 2.2))
        collector.finding(finding(.heartbeatGap, .fromServer, at: 5, silent: 1))
        collector.finding(finding(.heartbeatResumed, .fromClient, at: 10, silent: 9.5))
        collector.finding(finding(.heartbeatResumed, .fromServer, at: 11, silent: 7))
        let gaps = try #require(collector.report(source: "").connections.first?.gaps)
        #expect(gaps.map(\.end) == [time(10), nil, time(11)])
        #expect(gaps.map(\.blame) == ["client 9.5", "", "server 7.0"])
    }

    @Test func percentilesAreThoseOfTheSortedTimes() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var times = RoundTripTimes(digits: .three)
        var all: [Int64] = []
        for _ in 0..<10_000 {
            let nanoseconds =
                Int64.random(in: 0...10, using: &generator) * Int64.random(in: 1...100_000_000, using: &generator)
            times.add(Interval(nanoseconds: nanoseconds))
            all.append(nanoseconds)
        }
        all.sort()
        #expect(times.count == all.count && times.minimum.nanoseconds == all.first, "seed \(seed)")
        #expect(times.maximum.nanoseconds == all.last, "seed \(seed)")
        for percentile in [50.0, 90, 99] {
            let exact = Double(all[Int(percentile / 100 * Double(all.count)) - 1])
            let reported = Double(times.percentile(percentile).nanoseconds)
            #expect(abs(reported - exact) <= max(2, exact / 500), "p\(percentile), seed \(seed)")
        }
        #expect(
            times.buckets == [
                all.count { $0 <= 50_000_000 }, all.count { (50_000_001...100_000_000).contains($0) },
                all.count { (100_000_001...200_000_000).contains($0) }, all.count { $0 > 200_000_000 },
            ], "seed \(seed)")
    }
}
