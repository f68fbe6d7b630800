import Foundation
import Framing
import Packets
import Pipeline
import TestSupport
import Testing
import Trace

/// Conversations through a router that lost or held packets, recorded on one of its two sides: segments other than the heartbeats
/// reveal the cause of the gap (`fixtures/blame/router`).
@Suite struct RouterBlameTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "fixtures/blame/router")

    /// How the gap ended, and its cause.
    static let expected: [String: String] = [
        "acks-lost-at-client": "resumed network", "acks-lost-at-server": "resumed network",
        "blocked-at-client": "resumed sender", "blocked-at-server": "resumed sender",
        "clock-jump": "resumed capture",
        "gone-at-server": "stopped peer-gone",
        "halfway-at-server": "resumed network",
        "held-at-server": "resumed network", "held-both-at-client": "resumed network",
        "held-both-at-server": "resumed network",
        "hurried-at-server": "resumed sender",
        "one-lost-at-server": "resumed network",
        "outage-answered-at-server": "stopped peer-gone", "outage-at-client": "stopped network",
        "outage-at-server": "resumed network", "outage-busy-at-server": "resumed network",
        "silent-answered-at-server": "resumed sender", "silent-busy-at-server": "resumed sender",
        "tiny-window-at-server": "stopped receiver",
        "unheard-at-server": "resumed network",
    ]

    @Test func thereIsOneOfEach() throws {
        let captures = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
            .filter { $0.hasSuffix(".pcap") }.map { String($0.dropLast(5)) }
        #expect(Set(captures) == Set(Self.expected.keys))
        let readme = Self.folder.deletingLastPathComponent().appending(path: "README.md")
        let text = try String(contentsOf: readme, encoding: .utf8)
        #expect(captures.filter { !text.contains("`\($0)`") } == [], "not in README.md")
    }

    @Test(arguments: expected.keys.sorted()) func theSegmentsShowWhoseFaultItWas(name: String) throws {
        let path = Self.folder.appending(path: "ping.yaml").path
        let format = try FormatLoader.load(try String(contentsOfFile: path, encoding: .utf8), file: path)
        let capture = try Data(contentsOf: Self.folder.appending(path: "\(name).pcap"))
        let output = MemoryOutput()
        let decoder = Decoder(
            DecodingOptions(.fixed(format)), sinks: [NDJSONWriter(to: output, source: "tests", tool: "tests")])
        var reassembly = ReassemblyOptions()
        reassembly.notices = false
        var packets = CaptureDecoder(options: reassembly, receiver: decoder)
        var reader = CaptureReader(CaptureBytes(Array(capture)))
        try reader.read(to: &packets)
        packets.finish()
        decoder.finish()
        decoder.flush()
        let found = try traceLines(output.text).filter { $0.event == "finding" }
        #expect(found.count { $0["kind"] == "heartbeat-gap" } == 1)
        let ends = found.compactMap { line in line.text(of: "data", "blame").map { (line["kind"], $0) } }
        let expected = try #require(Self.expected[name]).split(separator: " ")
        #expect(ends.map { $0.0 } == ["heartbeat-\(expected[0])"])
        #expect(ends.map { $0.1 } == [String(expected[1])])
        let others = found.compactMap { $0["kind"] }.filter { !$0.hasPrefix("heartbeat-") }
        #expect(others == (name == "silent-busy-at-server" ? ["traffic-without-heartbeats"] : []))
    }
}
