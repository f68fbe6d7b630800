import Foundation
import TestSupport
import Testing

/// Counting reads large captures on several threads; at a limit that all connections share, it starts over on one.
@Suite struct SharedReadingTests {
    /// A capture that is large enough, of connections picked up mid-stream, a whole len16-id frame each (pcap, link type RAW).
    private static func capture(_ connections: Int) -> [UInt8] {
        func little(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        var bytes = [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0] + little(0) + little(0) + little(65_535) + little(101)
        // A Protobuf message of one field, 976 bytes long.
        let frame: [UInt8] = [0x03, 0xd6, 0, 3, 0, 0x0a, 0xd0, 0x07] + [UInt8](repeating: 0x61, count: 976)
        for index in 0..<connections {
            let count = 40 + frame.count
            bytes += little(1_700_000_000) + little(3 * index) + little(count) + little(count)
            bytes += [0x45, 0, UInt8(count >> 8), UInt8(count & 255), 0, 0, 0, 0, 64, 6, 0, 0]
            bytes += [10, UInt8(index >> 16 & 255), UInt8(index >> 8 & 255), UInt8(index & 255), 10, 200, 0, 1]
            bytes += [0x9c, 0x40, 0x1f, 0x98, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, 0x18, 0xff, 0xff, 0, 0, 0, 0] + frame
        }
        return bytes
    }

    /// The same with other bytes in the messages, which gzip cannot make shorter.
    private static func varied(_ capture: [UInt8]) -> [UInt8] {
        var generator = SeededGenerator(seed: 1)
        // Files begin with 24 bytes. A record: its header (16), IPv4 and TCP (40), the frame (984), of which the last 900 bytes are text.
        let record = 16 + 40 + 984
        return capture.indices.map { index in
            let place = index < 24 ? 0 : (index - 24) % record
            return place < record - 900 ? capture[index] : UInt8.random(in: 0...255, using: &generator)
        }
    }

    @Test(arguments: [("1MiB", 1), ("256MiB", 1), ("1MiB", 2)])
    func countsAreThoseOfOneThread(limit: String, files: Int) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("shared-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let bytes = Self.capture(4_500)
        var paths: [String] = []
        for file in 0..<files {
            let path = folder.appendingPathComponent("\(file).pcap").path
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            paths.append(path)
        }
        let options = ["--as", "summary", "--format", "len16-id", "--memory-limit", limit]
        let shared = try Program.output("frametap", ["decode"] + paths + options).text
        #expect(shared.hasPrefix("len16-id: 4,500 connections, "), "\(shared)")
        // Showing frames takes one thread; the summary is its last line.
        let alone = try Program.output("frametap", ["decode"] + paths + options.dropFirst(2)).text
        #expect(alone.hasSuffix("\n" + shared), "\(alone.suffix(200)) instead of \(shared)")
        if files == 1 { #expect(shared.contains(" 4,500 frames"), "\(shared)") }
    }

    /// More threads than cores, too; lines are rendered by several of them, and written in order. A compressed capture is decompressed
    /// once for all of them.
    @Test(arguments: [("summary", false), ("ndjson", false), ("text", false), ("summary", true)])
    func threadsDoNotShow(form: String, isCompressed: Bool) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("threads-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("capture.pcap").path
        // Large enough when it is compressed, too: as it is, it would be tiny.
        let capture = Self.capture(4_500)
        try Data(isCompressed ? Program.output("gzip", ["-c", "-1"], input: Self.varied(capture)).output : capture)
            .write(to: URL(fileURLWithPath: path))
        func output(_ threads: [String]) throws -> String {
            try Program.output("frametap", ["decode", path, "--format", "len16-id", "--as", form] + threads).text
        }
        let alone = try output(["--threads", "1"])
        #expect(alone.contains(form == "ndjson" ? "\"index\":0" : " 4,500 frames"))
        for threads in [[], ["--threads", "2"], ["--threads", "5"]] {
            #expect(try output(threads) == alone, "\(threads)")
        }
        let refused = try Program.run("frametap", ["decode", path, "--threads", "0"])
        #expect(refused.status == 64 && refused.errors.contains("expected 1 to 1024"), "\(refused)")
    }
}
