import FoundationEssentials
import Framing
import Packets
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

@testable import Proxy

/// The output of `--write`, as other programs see it.
@Suite struct RecordedCaptureTests {
    /// Conversations with large frames, resets and half-closes, and their trace.
    private func record() async throws -> (recording: RunningProxy.Recording, folder: Folder, port: Int) {
        let chat = try ChatBytes()
        var generator = SeededGenerator(seed: .random(in: 0...UInt64.max))
        let folder = try Folder()
        for number in 0..<6 {
            for direction in Direction.allCases {
                let bytes = try chat.stream(of: 300_000, longest: 150_000, from: direction, using: &generator)
                _ = try folder.write(bytes, to: "\(number)-\(direction.sender)")
            }
        }
        let ends = try await Ends("conversations", folder.url.path, "6")
        let proxy = try await RunningProxy(to: ends.server, options: DecodingOptions(.automatic([chat.format])))
        try ends.program.send("\(proxy.port)")
        _ = try await ends.result()
        let recording = try await proxy.stop()
        _ = try folder.write(recording.capture, to: "capture.pcapng")
        return (recording, folder, ends.server)
    }

    @Test func tsharkFindsNothingWrong() async throws {
        let (recording, folder, port) = try await record()
        let fields = [
            "_ws.malformed", "ip.checksum.status", "tcp.checksum.status", "tcp.analysis.flags", "tcp.len",
            "_ws.expert.severity", "_ws.expert.message",
        ]
        let checks = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE", "-d", "tcp.port==\(port),data"]
        let output = try await Program.run(
            "tshark",
            ["-n", "-r", folder.path("capture.pcapng"), "-T", "fields"] + checks + fields.flatMap { ["-e", $0] })
        let packets = output.split(separator: "\n").map { $0.split(separator: "\t", omittingEmptySubsequences: false) }
        #expect(packets.count > 40 && packets.allSatisfy { $0.count == fields.count })
        #expect(packets.filter { $0[0] != "" } == [], "malformed")
        #expect(packets.filter { $0[1] != "1" || $0[2] != "1" } == [], "checksums")
        // The system may give a client the port of one that has reset: that is real, and not an error.
        let unexpected = packets.filter { $0[3] != "" && !$0[6].contains("same ports as an earlier session") }
        #expect(unexpected == [], "tcp.analysis")
        let warning = 0x60_0000
        let warnings = packets.filter { $0[5].split(separator: ",").contains { (Int($0) ?? .max) >= warning } }
        #expect(warnings.allSatisfy { $0[6].contains("RST") }, "\(warnings)")
        let lengths = packets.compactMap { Int($0[4]) }
        #expect(lengths.reduce(0, +) == recording.summary.total.bytes.bytes)
        #expect(lengths.max() ?? 0 <= 65_495)
    }

    /// Reads comments, and the payload length of each packet.
    private struct Comments: PacketReceiver {
        var named: [String] = []
        var others: [String] = []

        mutating func receive(_ packet: PacketInfo, bytes: RawSpan, options: RawSpan) -> Reception {
            let text = packet.comments(in: options).joined(separator: "\n")
            // IPv4 without options, then TCP, whose header's length is in its 13th byte.
            let payload = bytes.byteCount - 20 - Int(bytes[byte: 32] >> 4) * 4
            if payload > 0 { named.append(text) } else if !text.isEmpty { others.append(text) }
            return .taken
        }

        mutating func captured(until time: Timestamp) {}
    }

    @Test func eachDataPacketsCommentNamesTheFramesThatEndInIt() async throws {
        let recording = try await record().recording
        var reader = CaptureReader(CaptureBytes(recording.capture))
        var comments = Comments()
        try reader.read(to: &comments)
        // A server may reset immediately, so that connecting fails: if so, the RST's comment says that.
        #expect(comments.others.allSatisfy { $0.hasPrefix("cannot reach") }, "\(comments.others)")
        let frame =
            #/im-json (client|server) #(\d+) (\w+), (\d+) bytes at (\d+)(, heartbeat)?(, split over \d+ segments)?/#
        var named: [String] = []
        var more = 0
        for line in comments.named.flatMap({ $0.split(separator: "\n") }) {
            if let match = line.wholeMatch(of: frame) {
                named.append("\(match.1) \(match.2) \(match.3) \(match.4) \(match.5) \(match.6 != nil)")
            } else {
                more += Int(try #require(line.wholeMatch(of: #/and (\d+) more/#), "\(line)").1) ?? 0
            }
        }
        // The comments name frames in the order of the trace; frames that are only counted are missing in between.
        let traced = try recording.lines().filter { $0.event == "frame" }.map { line in
            let (index, length) = (line[number: "index"] ?? -1, line[number: "length"] ?? -1)
            let isHeartbeat = line.text.contains("\"heartbeat\":true")
            return
                "\(line.from) \(index) \(line["type"] ?? "?") \(length) \(line[number: "offset"] ?? -1) \(isHeartbeat)"
        }
        #expect(named.count + more == traced.count)
        var rest = traced[...]
        for name in named {
            guard let place = rest.firstIndex(of: name) else {
                Issue.record("no frame \(name)")
                break
            }
            rest = rest[(place + 1)...]
        }
    }
}
