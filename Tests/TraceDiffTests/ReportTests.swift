import Framing
import Streams
import Testing
import Trace
import TraceDiff

/// The report of a difference, for people and programs.
@Suite struct ReportTests {
    private let old = [
        Traces.frame(.fromClient, "login", "ann", fields: ["token": .text("t1")]),
        Traces.frame(.fromServer, "ok"),
        Traces.frame(.fromClient, "txt", "Hello"),
        Traces.frame(.fromServer, "ok"),
        Traces.frame(.fromClient, "txt", "\u{1b}[2J"),
        Traces.frame(.fromClient, "bye"),
    ]

    private var new: [FrameEvent] {
        var new = old
        new[2] = Traces.frame(.fromClient, "txt", "Hallo")
        new[5].body = .object([.init("length", .number("0")), .init("hex", .text("00ff"))])
        new.remove(at: 3)
        return new
    }

    private func difference() -> TraceDifference {
        TraceComparison.compare(expected: Traces.trace([old]), actual: Traces.trace([new]))
    }

    @Test func text() {
        var options = DiffTextOptions()
        options.context = 1
        #expect(
            DiffText.of(difference(), options) == """
                #1 = #1  im-json  127.0.0.1:40000 → 127.0.0.1:8088
                  … 1 frame alike
                     2  ← ok
                ~    3  → txt  Hello
                        body.text  "Hello" → "Hallo"
                -    4  ← ok
                     5  → txt  ␛[2J
                ~    6  → bye
                        body.text  "" → nothing
                        body.hex   nothing → "00ff"
                different: 2 frames changed, 1 frame removed

                """)
    }

    @Test func sideBySide() {
        var options = DiffTextOptions()
        options.context = 0
        options.sideBySide = true
        options.columns = 60
        let lines = DiffText.of(difference(), options).split(separator: "\n")
        #expect(lines[2] == "~    3  → txt  Hello             │ → txt  Hallo")
        #expect(lines[4] == "-    4  ← ok                     │ ")
    }

    @Test func bytesShowWhatDiffersOfBothSides() {
        func frame(_ hex: String) -> FrameEvent {
            var frame = Traces.frame(.fromClient, "img")
            frame.body = .object([.init("length", .number("1")), .init("hex", .text(hex))])
            return frame
        }
        let same = String(repeating: "41", count: 8)
        let difference = TraceComparison.compare(
            expected: Traces.trace([[frame(same + "0102")]]), actual: Traces.trace([[frame(same + "010342")]]))
        let text = DiffText.of(difference)
        #expect(text.contains("        body.hex  10 bytes → 11 bytes\n"))
        #expect(
            text.contains(
                "          00000008  01 02                   ··        │  01 03 42                ··B     \n"))
        #expect(!text.contains("00000000"))
    }

    @Test func theSameIsSaidInOneLine() {
        let trace = Traces.trace([old])
        let difference = TraceComparison.compare(expected: trace, actual: trace)
        #expect(DiffText.of(difference) == "same: 1 connection, 6 frames compared\n")
    }

    @Test func json() throws {
        let value = try JSONValue(parsing: Array(DiffJSON.of(difference()).utf8).span.bytes)
        #expect(value["same"] == .boolean(false))
        #expect(value["counts"] == .object([.init("changed", .number("2")), .init("removed", .number("1"))]))
        guard case .array(let connections)? = value["connections"],
            case .array(let rows)? = connections[0]["differences"]
        else {
            Issue.record("no differences")
            return
        }
        #expect(rows.map { $0["kind"]?.string } == ["changed", "removed", "changed"])
    }

    /// What is left of a masked number is no number of JSON.
    @Test func maskedNumbersAreText() throws {
        func trace(_ id: String) -> RecordedTrace {
            Traces.trace([[Traces.frame(.fromClient, "a", fields: ["id": .number(id)])]])
        }
        var comparison = Comparison()
        comparison.rules = try RulesYAML.rules(in: "mask: [{ path: fields.id, pattern: '^12' }]", file: "r.yaml")
        let difference = TraceComparison.compare(expected: trace("1234"), actual: trace("5678"), comparison)
        let text = DiffJSON.of(difference)
        let value = try JSONValue(parsing: Array(text.utf8).span.bytes)
        #expect(value["same"] == .boolean(false))
        #expect(text.contains(#""old":"«any»34","new":5678"#), "\(text)")
    }

    @Test func junit() {
        let text = DiffJUnit.of(difference(), name: "a & b")
        #expect(
            text.contains(
                "<testsuite name=\"a &amp; b\" tests=\"1\" failures=\"1\" errors=\"0\" skipped=\"0\" time=\"0.00"))
        #expect(text.contains("timestamp=\"2026-11-21T"))
        #expect(text.contains("name=\"connection 1: im-json to 127.0.0.1:8088, begins with "))
        #expect(text.contains("message=\"different: 2 frames changed, 1 frame removed: "), "and what differs first")
        #expect(!text.contains("\u{1b}"))
    }
}
