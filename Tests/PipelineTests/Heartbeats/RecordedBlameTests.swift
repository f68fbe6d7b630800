import Foundation
import Framing
import Packets
import Pipeline
import TestSupport
import Testing
import Trace

/// The findings in conversations over the kernel's own TCP (`tools/record-blame`) whose events are known: all of them, and
/// nothing else. This holds for every recording of them.
@Suite struct RecordedBlameTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "fixtures/blame")

    /// A gap that another heartbeat ended.
    private static func gap(_ blame: String, _ others: String...) -> [String] {
        ["client heartbeat-gap", "client heartbeat-resumed \(blame)"] + others
    }

    /// A gap that the end of the connection ended.
    private static func stop(_ others: String...) -> [String] {
        ["client heartbeat-gap", "client heartbeat-stopped sender"] + others
    }

    private static let traffic = "client traffic-without-heartbeats"
    private static let late = "client late-heartbeat"
    private static let window = "client eviction-window"

    /// The findings of each: the side, the kind, and the cause or whether it matches.
    static let expected: [String: [String]] = [
        "sender-silent": gap("sender"),
        "sender-hurried": gap("sender"),
        "sender-busy": gap("sender", traffic),
        "sender-late": [late],
        "sender-soon": [],
        "sender-stops": stop(traffic),
        "sender-ends": [],
        "sender-never": ["client heartbeat-never", traffic],
        "sender-leaves": [],
        "sender-begins": [],

        "network-late": gap("network"),
        "network-late-at-client": gap("network"),
        "network-late-data": gap("sender"),
        "network-late-too-late": gap("unknown"),
        "network-cut-at-client": gap("network"),
        "network-cut": gap("network"),
        "network-held": gap("network"),
        "network-cut-back": gap("network"),
        "network-gone": ["client heartbeat-gap", "client heartbeat-stopped network"],
        "network-again": gap("sender"),

        "capture-lost": gap("capture"),
        "capture-lost-before": gap("sender"),
        "capture-lost-right-before": gap("sender"),
        "capture-lost-answers": gap("sender"),

        "receiver-stalled": gap("receiver", traffic),
        "receiver-slow": gap("receiver", traffic),
        "receiver-stalled-before": gap("sender"),
        "receiver-stalled-shortly": gap("sender", traffic),
        "receiver-stalled-other-side": gap("sender"),

        "answered": [],
        "answered-unanswered": ["server heartbeat-unanswered"],
        "answered-too-late": ["server heartbeat-unanswered", "server late-answer", late],

        "eviction-fits": stop(window, "client eviction-close true"),
        "eviction-fits-reset": [
            "client heartbeat-gap", "client heartbeat-stopped unknown", window, "client eviction-close true",
        ],
        "eviction-too-late": stop(window, "client eviction-overdue", "client eviction-close false"),
        "eviction-too-soon": stop(),
        "eviction-itself": stop(window, "client eviction-close false"),
        "eviction-heard": stop(),

        "storm": ["client reconnect-storm"],
        "storm-in-order": [],
        "storm-patient": [],
        "storm-refused": ["client reconnect-storm"],
    ]

    @Test func thereIsOneOfEach() throws {
        let captures = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
            .filter { $0.hasSuffix(".pcap") }.map { String($0.dropLast(5)) }
        #expect(Set(captures) == Set(Self.expected.keys))
        let readme = try String(contentsOf: Self.folder.appending(path: "README.md"), encoding: .utf8)
        #expect(captures.filter { !readme.contains("`\($0)`") } == [], "not in README.md")
    }

    @Test(arguments: expected.keys.sorted()) func tellsWhatHappenedAndNothingElse(name: String) throws {
        let findings = try findings(of: name).map { line in
            let fits = [true, false].first { line.text.contains("\"fits\":\($0)") }
            let judgement = line.text(of: "data", "blame") ?? fits.map { "\($0)" }
            return [line["from"], line["kind"], judgement].compactMap { $0 }.joined(separator: " ")
        }
        #expect(findings.sorted() == Self.expected[name]?.sorted())
    }

    @Test func whatIsKnownOnlyLaterToBeAHeartbeatIsNoGap() throws {
        let gaps = try findings(of: "capture-lost-right-before").filter { $0["kind"] == "heartbeat-gap" }
        // It arrived 0.4 s after the previous one, after a gap; then there was none for 1.2 s.
        #expect(gaps.count == 1)
        #expect(gaps.first?["message"]?.hasPrefix("heartbeat gap: 1.2 s") == false)
    }

    private func findings(of name: String) throws -> [TraceLine] {
        let format =
            name.hasPrefix("answered") ? "pulse-answered" : name.hasPrefix("eviction") ? "pulse-evicting" : "pulse"
        let path = Self.folder.appending(path: "\(format).yaml").path
        let loaded = try FormatLoader.load(try String(contentsOfFile: path, encoding: .utf8), file: path)
        let output = MemoryOutput()
        let decoder = Decoder(
            DecodingOptions(.fixed(loaded)), sinks: [NDJSONWriter(to: output, source: "tests", tool: "tests")])
        var reassembly = ReassemblyOptions()
        reassembly.notices = false
        var packets = CaptureDecoder(options: reassembly, receiver: decoder)
        let capture = try Data(contentsOf: Self.folder.appending(path: "\(name).pcap"))
        var reader = CaptureReader(CaptureBytes(Array(capture)))
        try reader.read(to: &packets)
        packets.finish()
        decoder.finish()
        decoder.flush()
        return try traceLines(output.text).filter { $0.event == "finding" }
    }
}
