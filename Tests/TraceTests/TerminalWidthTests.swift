import Streams
import Testing

@testable import Trace

/// Lines on a terminal with this many columns.
@Suite struct TerminalWidthTests {
    private func lines(columns: Int?, _ play: (Script) throws -> Void) throws -> [Substring] {
        var options = TextOptions()
        options.columns = columns
        return try text(options) { script, _ in
            script.open()
            try play(script)
        }
        .split(separator: "\n")
    }

    /// A body without a note takes the whole line, and not a column more, whatever it consists of.
    @Test(arguments: [80, 100, 200], ["abcdefghij", "心跳", "a心"])
    func bodyFillsTheLine(columns: Int, unit: String) throws {
        let lines = try lines(columns: columns) { try $0.text(String(repeating: unit, count: 100)) }
        let width = DisplayWidth.of(lines[1])
        // A wide character may not fit the last column.
        #expect(width == columns || (width == columns - 1 && unit != "abcdefghij"))
        #expect(lines[1].hasSuffix("…"))
    }

    /// Notes stay in their column: on 80 columns the body is truncated before it.
    @Test func noteKeepsItsColumn() throws {
        let lines = try lines(columns: 80) { try $0.text(String(repeating: "心", count: 50), .merged(1, of: 2)) }
        let note = try #require(lines[1].firstRange(of: "merged"))
        #expect(DisplayWidth.of(lines[1][..<note.lowerBound]) == 77)
        #expect(lines[1].contains("…"))
    }

    /// A body that fits is not truncated.
    @Test func shortBody() throws {
        for columns in [20, 80, 1_000] {
            let lines = try lines(columns: columns) { try $0.text("Hello") }
            #expect(lines[1].hasSuffix("5 B  Hello"))
        }
    }

    /// The columns of a pipe are not counted; bodies are still only previewed.
    @Test func pipe() throws {
        let lines = try lines(columns: nil) { try $0.text(String(repeating: "a", count: 10_000)) }
        #expect(lines[1].hasSuffix("10,000 B  \(String(repeating: "a", count: 119))…"))
    }
}
