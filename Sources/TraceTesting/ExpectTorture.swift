import Foundation
import FrametapCore
import Framing
import Packets
import Pipeline
import Proxy
import Replay
import Torture
import Trace
import TraceDiff

/// Expects a server to answer a recorded conversation in the same way however its clients' frames are segmented, as `frametap
/// torture` finds out.
///
/// If it does not, an issue is recorded for each thing that breaks, with the least segmentation that shows it.
///
///     try await expectTorture(server: "127.0.0.1:8088", replaying: "chat.pcapng")
///
/// - Parameters:
///   - server: the server's `host:port`.
///   - recording: the trace or capture, relative to the test's folder.
///   - format: a built-in format's name, or a format file's path; nil or `auto`: that of the recording.
///   - masking: values of the answers that differ in each run, beyond those that two runs show.
///   - seed: decides random cuts.
///   - fileID: the test's file, as issues name it.
///   - filePath: the test's file: other paths are relative to its folder.
///   - line: the line to which issues belong.
///   - column: the column to which issues belong.
/// - Throws: if the recording cannot be replayed, or the server does not answer it without any torture.
public func expectTorture(
    server: String, replaying recording: String, format: String? = nil, masking: [TraceMask] = [], seed: UInt64 = 1,
    fileID: String = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
) async throws {
    guard let address = HostPort(server) else {
        throw TraceTestingError(description: "\(server) is no address; expected host:port, such as 127.0.0.1:8088")
    }
    let place = TestPlace(fileID: fileID, filePath: filePath, line: line, column: column)
    let trace = try traceToPlay(place.file(recording), format: format)
    let name = try format.flatMap { $0 == "auto" ? nil : $0 } ?? Recording.format(of: trace)
    guard case .fixed(let known) = try CaptureDecoding(format: name).options.choice else {
        throw TraceTestingError(description: "\(name) is no format; expected a format's name, or the path of its file")
    }
    var comparison = Comparison()
    for mask in masking { comparison.rules.add(mask.rules) }
    let report = try await ServerTorture.run(
        Recording(trace, format: known.name, rules: comparison.rules), host: address.host, port: address.port,
        TortureOptions(known, comparison, seed: seed))
    for issue in report.issues(of: server) { FailureReport.record(issue, attaching: [], at: place) }
}

/// A recording. Of a capture, it has the bytes of the clients' frames: these are played as they were, secrets included.
private func traceToPlay(_ file: URL, format: String?) throws -> RecordedTrace {
    let bytes = [UInt8](try Data(contentsOf: file))
    guard CaptureMagic.begins(bytes) else {
        return try TestTrace(ndjson: String(decoding: bytes, as: UTF8.self), source: file.lastPathComponent).trace
    }
    let reading = TraceReading(of: file.lastPathComponent)
    let sink = reading.sink(tool: "frametap TraceTesting", bodyLimit: .max, keptSide: .fromClient)
    try CaptureDecoding(format: format).read(bytes, name: file.lastPathComponent, to: [sink])
    return reading.trace
}
