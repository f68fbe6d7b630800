import Foundation
import Framing
import Pipeline
import Streams
import TestSupport
import Testing

@testable import Trace

/// A trace as values: the events that a sink collects equal those read from NDJSON, and write the same lines.
@Suite struct TraceEventTests {
    private static let fixtures = URL(filePath: #filePath).appending(path: "../../../fixtures").standardized

    /// The captures that have golden traces, and the formats in their names.
    static var captures: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: fixtures.path)
                .filter {
                    FileManager.default.fileExists(atPath: fixtures.appending(path: "\($0)/conversation.pcap").path)
                }
                .sorted()
        }
    }

    private struct Both {
        var lines: String
        var events: [TraceEvent]
    }

    /// The results of both sinks for a capture.
    private func decode(_ name: String, bodyLimit: Int) throws -> Both {
        let file = Self.fixtures.appending(path: "\(name)/conversation.pcap")
        let bytes = [UInt8](try Data(contentsOf: file))
        var events: [TraceEvent] = []
        let sink = EventSink(source: "tests", tool: "tests", bodyLimit: bodyLimit) { events.append($0) }
        let options = DecodingOptions(.automatic(try BuiltInFormats.all()))
        let decoded = DecodedCapture(bytes, options: options, bodyLimit: bodyLimit, sinks: [sink])
        #expect(decoded.damage == nil)
        return Both(lines: decoded.ndjson, events: events)
    }

    @Test(arguments: try captures, [0, 20, 4_096]) func eventsAreWhatTheLinesSay(_ name: String, bodyLimit: Int) throws
    {
        let both = try decode(name, bodyLimit: bodyLimit)
        var reader = EventReader()
        try reader.begin(name)
        let read = try reader.read(Array(both.lines.utf8).span.bytes).map(\.event)
        #expect(read.count == both.events.count && read.count > 5)
        for (read, made) in zip(read, both.events) { #expect(read == made) }
    }

    /// A trace that is collected while it is decoded has what the lines say, without events in between.
    @Test(arguments: try captures, [0, 20, 4_096]) func theCollectedTraceSaysTheSame(_ name: String, bodyLimit: Int)
        throws
    {
        let file = Self.fixtures.appending(path: "\(name)/conversation.pcap")
        let reading = TraceReading(of: "tests")
        let decoded = DecodedCapture(
            [UInt8](try Data(contentsOf: file)), options: DecodingOptions(.automatic(try BuiltInFormats.all())),
            bodyLimit: bodyLimit, sinks: [reading.sink(tool: "tests", bodyLimit: bodyLimit)])
        var reader = TraceReader()
        try reader.begin(name)
        try reader.read(Array(decoded.ndjson.utf8).span.bytes)
        let (read, collected) = (try reader.finish().connections, reading.trace.connections)
        #expect(read.count == collected.count && !read.isEmpty)
        for (read, collected) in zip(read, collected) {
            #expect(read.items == collected.items && !read.items.isEmpty)
            #expect(read.findings == collected.findings && read.closing == collected.closing)
        }
    }

    /// What a rule did, with and without a frame: its line is read as the same event, and so is its annotation.
    @Test func actionsAreReadAsTheyWereWritten() throws {
        let time = Timestamp(nanoseconds: 1_795_000_000_123_456_789)
        let frame = ActionReport(
            rule: "a \"rule\"", action: "replace", direction: .fromServer, time: time, index: 3, type: "t\u{1b}\n",
            offset: 10, length: 20, passed: 30, detail: "d", before: [0, 255], after: [1])
        let bytes = ActionReport(
            rule: "r", action: "limit", direction: .fromClient, time: time, offset: 0, length: 0, passed: 0)
        let output = MemoryOutput()
        let writer = NDJSONWriter(to: output)
        let events = [frame, bytes].map { TraceEvent.action(ActionEvent(connection: 7, report: $0)) }
        for event in events { writer.write(event) }
        writer.flush()
        #expect(output.text.hasPrefix(#"{"event":"action","connection":7,"from":"server","time":"2026-11-18T"#))
        #expect(output.text.contains(#""index":null,"type":null,"offset":0,"length":0,"passed":0"#))
        var reader = EventReader()
        try reader.begin("test")
        let start = #"{"event":"trace","version":2,"source":"s","tool":"t"}"# + "\n"
        #expect(try reader.read(Array((start + output.text).utf8).span.bytes).map(\.event).dropFirst() == events[...])
        for report in [frame, bytes] { #expect(ActionReport.read(annotation: report.annotation) == report) }
        for text in ["", "{", "{}", "[1]"] { #expect(ActionReport.read(annotation: text) == nil) }
    }

    /// The bytes that a rule changed may be secret; while the format is not known, nobody can tell.
    @Test func bytesOfActionsAreKeptWhereNoneIsSecret() throws {
        func kept(_ format: Format?) -> [[UInt8]] {
            let end = Endpoint(IPAddress(v4: 0x7f00_0001), 1)
            let connection = TracedConnection(Opening(number: 7, time: start, client: end, server: end))
            if let format { connection.recognise(format, FormatChoice(by: .content, evidence: "")) }
            let report = ActionReport(
                rule: "r", action: "replace", direction: .fromClient, time: start, offset: 0, length: 2, passed: 2,
                before: [1, 2], after: [1, 3])
            let event = ActionEvent(report, on: connection)
            return [event.report.before, event.report.after]
        }
        var format = try FormatLoader.load("format: pairs\nframing: { rule: fixed, size: 2 }", file: "pairs.yaml")
        #expect(kept(nil) == [[], []])
        #expect(kept(format) == [[1, 2], [1, 3]])
        format.secrets = [Secret(path: ["body"])]
        #expect(kept(format) == [[], []])
    }

    @Test(arguments: try captures) func eventsAreWrittenAsTheLinesThatTheyAre(_ name: String) throws {
        let both = try decode(name, bodyLimit: 4_096)
        let output = MemoryOutput()
        let writer = NDJSONWriter(to: output)
        for event in both.events { writer.write(event) }
        writer.flush()
        for (line, written) in zip(both.lines.split(separator: "\n"), output.text.split(separator: "\n")) {
            #expect(line == written)
        }
        #expect(both.lines == output.text)
    }

    /// Names and messages may contain anything: they are escaped, whatever their origin.
    @Test func whatIsWrittenIsJSONWhateverItHolds() throws {
        let odd = "\"\\\u{1b}[2J\n\u{85}ä"
        let time = Timestamp(nanoseconds: 1)
        let run = RunEvent(
            connection: 1, from: .fromServer, time: time, offset: 1, length: 2, reason: odd, detail: odd, hex: odd)
        var incomplete = SummaryEvent()
        incomplete.unwritten = 7
        let events: [TraceEvent] = [
            .trace(TraceStart(version: 1, source: odd, tool: odd)),
            .trace(TraceStart(version: 1, source: odd, tool: odd, unwritten: 5)),
            .opened(OpenedEvent(connection: 1, time: time, transport: odd, client: odd, server: odd)),
            .format(FormatEvent(connection: 1, format: odd, by: odd, evidence: odd)),
            .unframed(run),
            .dropped(RunEvent(connection: 1, from: .fromClient, time: time, offset: 0, length: 1, reason: odd)),
            .missing(RunEvent(connection: 1, from: .fromClient, time: time, offset: 0, length: 1)),
            .finding(
                FindingEvent(
                    connection: 1, from: .fromClient, time: time, kind: odd, severity: odd, message: odd,
                    data: .object([JSONValue.Member(odd, .text(odd))]))),
            .frame(
                FrameEvent(
                    connection: 1, from: .fromClient, index: 0, time: time, started: time, offset: 0, length: 3,
                    segments: 2,
                    merged: true, type: odd, isHeartbeat: true, fields: .object([JSONValue.Member(odd, .null)]),
                    body: .object([JSONValue.Member("length", .number("3")), JSONValue.Member("text", .text(odd))]))),
            .closed(ClosedEvent(connection: 1, time: time, reason: odd, by: nil)),
            .summary(incomplete),
        ]
        let output = MemoryOutput()
        let writer = NDJSONWriter(to: output)
        for event in events { writer.write(event) }
        writer.flush()
        #expect(
            !output.text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" || (0x7f..<0xa0).contains($0.value) })
        var reader = EventReader()
        try reader.begin("t")
        #expect(try reader.read(Array(output.text.utf8).span.bytes).map(\.event) == events)
    }
}
