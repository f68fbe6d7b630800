import Foundation
import Trace
import TraceDiff

/// Expects a trace to match a golden trace by the rules of `frametap diff`: times, ports and segmentation do not count.
///
/// If it does not, an issue is recorded that shows the difference, with both traces attached. A missing golden trace is recorded,
/// and the test fails this once. The environment variable `FRAMETAP_RECORD` changes this: `missing` (the default), `changed`
/// (also records those that differ), `all`, `never`.
///
/// - Parameters:
///   - file: the trace or capture, relative to the test's folder.
///   - golden: the golden trace, relative to the test's folder.
///   - masking: values that differ in each run.
///   - heartbeats: how heartbeats are compared.
///   - format: the format of a capture; nil: it is recognised.
///   - fileID: the test's file, as issues name it.
///   - filePath: the test's file: other paths are relative to its folder.
///   - line: the line to which issues belong.
///   - column: the column to which issues belong.
/// - Throws: if a file is not a trace.
public func expectTrace(
    _ file: String, matches golden: String, masking: [TraceMask] = [], heartbeats: HeartbeatComparison = .count,
    format: String? = nil, fileID: String = #fileID, filePath: StaticString = #filePath, line: UInt = #line,
    column: UInt = #column
) async throws {
    let place = TestPlace(fileID: fileID, filePath: filePath, line: line, column: column)
    let trace = try TestTrace(contentsOf: place.file(file), format: format)
    try GoldenTrace(file: place.file(golden), name: golden, place: place).check(trace, masking, heartbeats)
}

/// Expects a trace, such as the result of `recordTrace`, to match a golden trace.
///
/// - Parameters:
///   - trace: the trace.
///   - golden: the golden trace, relative to the test's folder.
///   - masking: values that differ in each run.
///   - heartbeats: how heartbeats are compared.
///   - fileID: the test's file, as issues name it.
///   - filePath: the test's file: other paths are relative to its folder.
///   - line: the line to which issues belong.
///   - column: the column to which issues belong.
/// - Throws: if the golden file is not a trace.
public func expectTrace(
    _ trace: TestTrace, matches golden: String, masking: [TraceMask] = [], heartbeats: HeartbeatComparison = .count,
    fileID: String = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
) async throws {
    let place = TestPlace(fileID: fileID, filePath: filePath, line: line, column: column)
    try GoldenTrace(file: place.file(golden), name: golden, place: place).check(trace, masking, heartbeats)
}

/// A trace to which others are compared.
struct GoldenTrace {
    let file: URL
    let name: String
    let place: TestPlace

    func check(_ actual: TestTrace, _ masking: [TraceMask], _ heartbeats: HeartbeatComparison) throws {
        let mode = try RecordingMode.current()
        guard FileManager.default.fileExists(atPath: file.path) else {
            let attachment = [(name: "actual.ndjson", text: actual.ndjson)]
            if mode == .never {
                return fail("there is no \(name), and FRAMETAP_RECORD is never", attachment)
            }
            try record(actual)
            return fail("\(name) was not there, and is recorded now: read it, and run the test again", attachment)
        }
        if mode == .all {
            try record(actual)
            return fail("\(name) is recorded anew, since FRAMETAP_RECORD is all", [])
        }
        let expected = try TestTrace(contentsOf: file)
        var comparison = Comparison()
        comparison.heartbeats = heartbeats
        for mask in masking { comparison.rules.add(mask.rules) }
        let difference = TraceComparison.compare(expected: expected.trace, actual: actual.trace, comparison)
        if difference.isEmpty { return }
        if mode == .changed { try record(actual) }
        let note = mode == .changed ? "; it is recorded anew, since FRAMETAP_RECORD is changed" : ""
        fail(
            "the trace is not what \(name) says\(note)\n\(DiffText.of(difference))",
            [(name: "expected.ndjson", text: expected.ndjson), (name: "actual.ndjson", text: actual.ndjson)])
    }

    private func record(_ trace: TestTrace) throws {
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(trace.ndjson.utf8).write(to: file, options: .atomic)
    }

    private func fail(_ message: String, _ traces: [(name: String, text: String)]) {
        FailureReport.record(message, attaching: traces, at: place)
    }
}
