import Foundation
import Framing
import Streams
import TestSupport
import Testing
import Trace

/// Traces are read as they were written, and invalid ones are reported with their line.
@Suite struct TraceReaderTests {
    private static let fixture = URL(filePath: #filePath).appending(path: "../../../fixtures/line/conversation.ndjson")
        .standardized

    private func read(_ text: String, piece: Int = .max) throws -> RecordedTrace {
        var reader = TraceReader()
        try reader.begin("t.ndjson")
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: min(piece, max(1, bytes.count))) {
            try reader.read(bytes.span.bytes.extracting(start..<min(bytes.count, start + min(piece, bytes.count))))
        }
        return try reader.finish()
    }

    private func fault(_ text: String) -> String {
        do {
            _ = try read(text)
            return "none"
        } catch {
            return "\(error)"
        }
    }

    private var lines: [String] {
        get throws {
            try String(contentsOf: Self.fixture, encoding: .utf8).split(separator: "\n").map { $0 + "\n" }
        }
    }

    @Test func whatWasWritten() throws {
        let trace = try read(try lines.joined())
        #expect(trace.source == "conversation.pcap")
        let connection = try #require(trace.connections.first)
        #expect(connection.client == "127.0.0.1:38614")
        #expect(connection.format == "line")
        #expect(connection.frames.map(\.type) == [String?](repeating: "line", count: 6) + ["quit"])
        #expect(connection.frames[0].text == "How are you?")
        #expect(connection.frames[1].field("end") == .text("\r\n"))
        #expect(connection.frames[4].segments == 2)
        #expect(connection.closing?.reason == "fin")
        #expect(connection.closing?.by == .fromServer)
    }

    /// Version 1 called packets that were skipped passed over; frames, fields and bodies are the same.
    @Test func versionOneIsRead() throws {
        let folder = URL(filePath: #filePath).appending(path: "../../../fixtures").standardized
        func lines(_ path: String) throws -> String {
            try String(contentsOf: folder.appending(path: path), encoding: .utf8)
        }
        let (old, new) = (try lines("traces/version-1.jsonl"), try lines("im-magic/conversation.ndjson"))
        #expect(old.hasPrefix(#"{"event":"trace","version":1,"#) && new.hasPrefix(#"{"event":"trace","version":2,"#))
        let (before, after) = (try read(old).connections, try read(new).connections)
        #expect(before.count == 3 && before.count == after.count)
        for (left, right) in zip(before, after) { #expect(left.items == right.items) }
        func skipped(_ version: Int, _ key: String) throws -> [String] {
            let text = """
                {"event":"trace","version":\(version),"source":"","tool":""}
                {"event":"summary","connections":0,"frames":0,"\(key)":{"udp":3,"arp":1}}

                """
            var reader = EventReader()
            try reader.begin("t.ndjson")
            let bytes = Array(text.utf8)
            for (event, _) in try reader.read(bytes.span.bytes) {
                if case .summary(let summary) = event { return summary.skipped.map { "\($0.count) \($0.kind)" } }
            }
            return []
        }
        #expect(try skipped(1, "passedOver") == ["3 udp", "1 arp"])
        #expect(try skipped(2, "skipped") == ["3 udp", "1 arp"])
    }

    @Test func cutAnywhere() throws {
        let text = try lines.joined()
        let whole = try read(text).frames
        for piece in [1, 7, 100, 4_096] { #expect(try read(text, piece: piece).frames == whole) }
    }

    /// Where a line cannot be read, the events before it are there.
    @Test func whatIsBeforeABadLineIsRead() throws {
        let lines = try lines
        for bad in 1..<lines.count {
            var reader = EventReader()
            try reader.begin("t.ndjson")
            let bytes = Array((lines[..<bad] + ["GARBAGE\n"] + lines[bad...]).joined().utf8)
            var events: [EventReader.Numbered] = []
            var fault: TraceReadError?
            do throws(TraceReadError) { try reader.read(bytes.span.bytes, into: &events) } catch { fault = error }
            #expect(fault?.line == bad + 1)
            #expect(events.map(\.line) == Array(1...bad))
        }
    }

    @Test func whatIsNoTrace() throws {
        let lines = try lines
        let all = lines.joined()
        let first = "expected the first line of a trace, {\"event\":\"trace\",\"version\":2,…}"
        #expect(fault("") == "t.ndjson:1: the file is empty; \(first)")
        #expect(
            fault("<!DOCTYPE html>\n<html>\n")
                == "t.ndjson:1: this is no trace, it begins with \"<!DOCTYPE html>\"; \(first)")
        #expect(
            fault("{\"event\":\"trace\",\"version\":3,\"source\":\"\",\"tool\":\"\"}\n")
                == "t.ndjson:1: this is version 3 of the trace format; expected version 1 to 2")
        #expect(fault(lines.dropFirst().joined()) == "t.ndjson:1: found \"event\":\"opened\"; \(first)")
        #expect(
            fault(String(all.dropLast(10))).hasPrefix("t.ndjson:\(lines.count): the line is cut off after"))
        #expect(
            fault(all + lines[1]).hasPrefix(
                "t.ndjson:\(lines.count + 1): found \"event\":\"opened\" after the summary"))
        #expect(
            fault(lines[0] + lines[1] + lines[3].replacing("\"index\":0", with: "\"index\":\"x\""))
                == "t.ndjson:3: \"index\" is \"x\"; expected a whole number from 0 to 2^53")
        #expect(fault(lines[0] + "{\"event\":}\n") == "t.ndjson:2: this is no JSON: expected a value at byte 9")
    }

    /// Lengths, offsets and counts are added up: none may be negative, or so large that sums overflow.
    @Test func numbersAreOfAReasonableSize() throws {
        let lines = try lines
        let head = lines[0] + lines[1]
        let expected = "expected a whole number from 0 to 2^53"
        for number in ["-1", "9007199254740993", "9223372036854775807", "-9223372036854775808", "1e300"] {
            let line = """
                {"event":"missing","connection":1,"from":"client","time":"2026-11-21T08:00:00Z","offset":0,"length":\(number)}

                """
            #expect(fault(head + line) == "t.ndjson:3: \"length\" is \(number); \(expected)")
            let closed = """
                {"event":"closed","connection":1,"time":"2026-11-21T08:00:00Z","reason":"fin","by":null,"client":{"framed":\(number)}}

                """
            #expect(fault(head + closed) == "t.ndjson:3: \"framed\" is \(number); \(expected)")
            let summary = """
                {"event":"summary","connections":1,"findings":{"hazard":\(number)}}

                """
            #expect(fault(head + summary) == "t.ndjson:3: \"hazard\" is \(number); \(expected)")
            let action = """
                {"event":"action","connection":1,"from":"client","time":"2026-11-21T08:00:00Z","rule":"x","action":"drop","index":0,"type":null,"offset":0,"length":\(number),"passed":0}

                """
            #expect(fault(head + action) == "t.ndjson:3: \"length\" is \(number); \(expected)")
        }
        // Times may be in front of 1970.
        let line = """
            {"event":"missing","connection":1,"from":"client","time":"1901-01-01T00:00:00Z","offset":9007199254740992,"length":0}

            """
        let trace = try read(head + line)
        #expect(trace.connections.first?.items.count == 1)
    }

    @Test func aTraceMayGoOnAfterWhatIsMissing() throws {
        let lines = try lines
        let whole = try read(lines.joined())
        // Ended by HUP, or by a crash between two lines.
        let ended = try read(lines.dropLast().joined())
        #expect(ended.frames == whole.frames)
        #expect(ended.notes.count == 1 && ended.notes[0].contains("the trace ends here without a summary"))
        // Started again in the same file.
        let resumed = try read((lines[..<5] + [lines[0]] + lines[5...]).joined())
        #expect(resumed.frames == whole.frames && resumed.notes == [])
        // Only the file that was started after HUP.
        let second = try read(([lines[0]] + lines[4...]).joined())
        #expect(second.frames == Array(whole.frames.dropFirst()))
        #expect(second.connections.count == 1 && second.notes[0].contains("connection 1 was opened before"))
        // Another run, appended to the file.
        let twice = try read(lines.joined() + lines.joined())
        #expect(twice.connections.count == 2 && twice.frames == whole.frames + whole.frames)
    }

    /// Each file of a run of its own is complete; connections have the numbers of their files.
    @Test func severalRunsInSeveralFiles() throws {
        let lines = try lines
        let whole = try read(lines.joined())
        var reader = TraceReader()
        for file in ["monday.ndjson", "tuesday.ndjson", "wednesday.ndjson"] {
            try reader.begin(file)
            // Of the last one, the beginning is missing: it does not continue an earlier run's connection.
            let text = file.hasPrefix("wed") ? lines[0] + lines[4...].joined() : lines.joined()
            let bytes = Array(text.utf8)
            try reader.read(bytes.span.bytes)
        }
        let all = try reader.finish()
        #expect(all.connections.map(\.number) == [1, 1, 1])
        #expect(all.connections.map(\.frames) == [whole.frames, whole.frames, Array(whole.frames.dropFirst())])
        #expect(all.notes.count == 1)
        #expect(all.notes.first?.hasPrefix("wednesday.ndjson:2: connection 1 was opened before") == true)
    }

    /// What was passed on is that of its connection, whenever it was opened; also if a later run has the same numbers.
    @Test func whatWasPassedOnReplacesWhatWasSent() throws {
        func run(_ name: String, after delay: Int) -> String {
            func line(_ event: String, _ number: Int, _ leg: String, _ nanoseconds: Int, _ rest: String) -> String {
                let digits = String(String(1_000_000_000 + nanoseconds).dropFirst())
                return """
                    {"event":"\(event)","connection":\(number),"leg":"\(leg)","time":"2026-11-21T08:00:00.\(digits)Z",\(rest)}

                    """
            }
            var text = "{\"event\":\"trace\",\"version\":2,\"source\":\"x\",\"tool\":\"y\"}\n"
            for number in [1, 2] {
                for leg in ["in", "out"] {
                    let opened = "\"transport\":\"tcp\",\"client\":\"\(leg)\",\"server\":\"\(name)\(number)\""
                    text += line("opened", number, leg, leg == "in" ? 0 : delay, opened)
                }
            }
            return text + "{\"event\":\"summary\",\"connections\":2,\"frames\":0}\n"
        }
        for delay in [0, 15_000, 999_999_999] {
            let trace = try read(run("a", after: delay) + run("b", after: delay))
            #expect(trace.connections.map(\.client) == ["in", "in", "in", "in"])
            let passedOn = trace.ofWhatWasPassedOn
            #expect(passedOn.connections.map(\.client) == ["out", "out", "out", "out"])
            #expect(passedOn.connections.map(\.server) == ["a1", "a2", "b1", "b2"])
        }
    }

    @Test func aLineThatWasCutByAFullDiskCostsNoOther() throws {
        let lines = try lines
        let whole = try read(lines.joined()).frames
        for cut in [1, 9, 40, lines[4].utf8.count - 2] {
            for end in ["", "\n"] {
                let text = lines[..<4].joined() + String(lines[4].prefix(cut)) + end + lines[5...].joined()
                let trace = try read(text)
                #expect(trace.frames == whole.filter { $0 != whole[1] }, "cut \(cut)")
                #expect(trace.notes.count == 1 && trace.notes[0].hasPrefix("t.ndjson:5: the line is cut off after"))
            }
        }
    }

    @Test func unknownEventsAreSkipped() throws {
        var lines = try lines
        lines.insert("{\"event\":\"news\",\"connection\":1}\n", at: 2)
        #expect(try read(lines.joined()).frames.count == 7)
    }
}
