import Foundation
import Synchronization
import Testing
import Trace
import TraceTesting

/// What `expectTrace` reports to a test.
@Suite struct ExpectTraceTests {
    private static let capture = "../../fixtures/line/conversation.pcap"

    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("frametap-testing-\(UUID())")

    private func golden(_ change: (String) -> String = { $0 }) throws -> String {
        let file = URL(filePath: #filePath).appending(path: "../../../fixtures/line/conversation.ndjson").standardized
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appendingPathComponent("golden.ndjson")
        try Data(change(try String(contentsOf: file, encoding: .utf8)).utf8).write(to: path)
        return path.path
    }

    @Test func aCaptureThatSaysWhatItsGoldenTraceSays() async throws {
        try await expectTrace(Self.capture, matches: "../../fixtures/line/conversation.ndjson")
        try await expectTrace("../../fixtures/line/conversation.ndjson", matches: try golden())
    }

    @Test func aDifferenceIsAnIssueThatShowsIt() async throws {
        let path = try golden { $0.replacing("And where?", with: "And when?") }
        let messages = Mutex<[String]>([])
        try await withKnownIssue {
            try await expectTrace(Self.capture, matches: path)
        } matching: { issue in
            messages.withLock { $0.append("\(issue)") }
            return true
        }
        let reported = messages.withLock { $0 }
        #expect(reported.count == 1)
        #expect(reported.first?.contains(#"body.text  "And when?" → "And where?""#) == true, "\(reported)")
    }

    /// The beginning of a pcapng file may be valid UTF-8.
    @Test func whatFrametapWritesIsACapture() throws {
        let file = URL(filePath: #filePath).appending(path: "../../../fixtures/tls/json-envelope.pcapng").standardized
        #expect(try !TestTrace(contentsOf: file).frames.isEmpty)
    }

    @Test func masksLeaveOut() async throws {
        let path = try golden { $0.replacing("And where?", with: "And when?") }
        try await expectTrace(Self.capture, matches: path, masking: [try .path("body.text"), .times])
    }

    @Test func aGoldenTraceThatIsNotThereIsRecordedAndTheTestFailsOnce() async throws {
        let path = folder.appendingPathComponent("new/first.ndjson").path
        try await withKnownIssue {
            try await expectTrace(Self.capture, matches: path)
        } matching: {
            "\($0)".contains("was not there, and is recorded now")
        }
        try await expectTrace(Self.capture, matches: path)
    }

    @Test func timesInTextsAreMasked() async throws {
        let marker = "../../fixtures/marker/conversation"
        let trace = try String(
            contentsOf: URL(filePath: #filePath).appending(path: "../\(marker).ndjson").standardized, encoding: .utf8)
        let other = try TestTrace(ndjson: trace.replacing(#/数据:\d\d:\d\d/#, with: "数据:01:02"))
        try await expectTrace(other, matches: "\(marker).ndjson", masking: [.times])
    }

    @Test func matchers() throws {
        let file = URL(filePath: #filePath).appending(path: "../../../fixtures/text-heartbeat/conversation.ndjson")
        let trace = try TestTrace(contentsOf: file.standardized)
        #expect(trace.frames(type: "text", from: .server).count == 5)
        #expect(trace.frames(type: "text", from: .server).first?.text == "收到 Hello")
        #expect(trace.heartbeats.count == 2)
        #expect(trace.keepsHeartbeatContract)
        #expect(trace.unframed.isEmpty && trace.missing.isEmpty)
    }

    /// Heartbeats that never began, or that stopped, break the contract as a gap does.
    @Test(arguments: [
        ("heartbeat-gap", false), ("heartbeat-never", false), ("heartbeat-stopped", false), ("late-heartbeat", true),
        ("heartbeat-resumed", true),
    ])
    func heartbeatContract(kind: String, isKept: Bool) throws {
        let file = URL(filePath: #filePath).appending(path: "../../../fixtures/text-heartbeat/conversation.ndjson")
        var lines = try String(contentsOf: file.standardized, encoding: .utf8).split(separator: "\n").map(String.init)
        lines.insert(
            """
            {"event":"finding","connection":1,"from":"client","time":"2026-11-21T08:00:00Z","kind":"\(kind)","severity":"warning","message":"","data":{}}
            """, at: lines.count - 1)
        let trace = try TestTrace(ndjson: lines.joined(separator: "\n") + "\n")
        #expect(trace.findings.contains { $0.kind == kind })
        #expect(trace.keepsHeartbeatContract == isKept)
    }
}
