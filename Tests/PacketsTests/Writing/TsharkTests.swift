import Foundation
import Streams
import TestSupport
import Testing

@testable import Packets

/// tshark's view of the files: nothing malformed, no bad checksum, no analysis flag except for the gaps of dropped data.
@Suite struct TsharkTests {
    /// One connection of each kind: frames of the file are 1 ms apart.
    private func recording() -> [UInt8] {
        var writer = PcapngWriter()
        var file: [UInt8] = []
        writer.appendSectionHeader(application: "frametap tests", to: &file)
        _ = writer.appendInterface(name: "proxy 心", to: &file)
        var time = Timestamp(seconds: 1_795_248_000, nanoseconds: 12_345)
        let start = time
        var count: UInt64 = 0
        let v4 = (Endpoint(IPAddress(v4: 0x0a00_0001), 40000), Endpoint(IPAddress(v4: 0x0a00_0002), 9000))
        let v6 = (SyntheticConnectionTests.v6.0, Endpoint(IPAddress(v6: 0x2001_0db8_0000_0000, 2), 9000))
        let mixed = (v4.0, v6.1)
        for (index, endpoints) in [v4, v6, mixed, v4, v6, v4, v4].enumerated() {
            let client = Endpoint(endpoints.0.address, UInt16(40000 + index))
            let nearWrap = PerDirection<UInt32>(fromClient: .max - 100_000, fromServer: .max - 3_000_000)
            var exchange = Exchange(client, endpoints.1, number: index, initialSequence: index == 3 ? nearWrap : nil)
            TsharkTests.play(index, &exchange)
            for (kind, packet) in zip(exchange.kinds, exchange.raw) {
                let comment = kind == .data ? "frames 1–2 of #\(index + 1) end here: 心跳" : nil
                writer.appendPacket(packet.span.bytes, at: time, comment: comment, to: &file)
                time = time + .milliseconds(1)
                count += 1
            }
        }
        writer.appendStatistics(start: start, end: time, received: count + 2, delivered: count, to: &file)
        return file
    }

    private static func play(_ index: Int, _ exchange: inout Exchange) {
        if index == 6 { return exchange.refused() }
        exchange.open()
        exchange.data(Array("hello".utf8), .fromClient)
        exchange.data(Array("good day, I'm the server".utf8), .fromServer)
        let chunk = [UInt8](repeating: UInt8(ascii: "x"), count: SyntheticConnection.chunkLimit)
        for _ in 0..<80 { exchange.data(chunk, .fromServer) }  // 5 MB one way
        exchange.data([1], .fromClient)
        exchange.data([2], .fromClient)
        if index == 4 {
            exchange.dropped(100_000, .fromClient)
            exchange.data(Array("after the gap".utf8), .fromClient)
            exchange.dropped(10, .fromServer)
        }
        if index == 5 { return exchange.reset(.fromServer) }
        exchange.finish(.fromClient)
        for _ in 0..<20 { exchange.data(chunk, .fromServer) }  // half closed
        exchange.finish(.fromServer)
    }

    private func run(_ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = try InstalledPrograms.find("tshark")
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return String(decoding: data, as: UTF8.self)
    }

    @Test func findsNothingWrong() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("synthetic-\(UUID()).pcapng")
        try Data(recording()).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        let checks = [
            "-r", url.path, "-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE", "-d",
            "tcp.port==9000,data",
        ]
        func lines(_ filter: String, _ fields: [String]) throws -> [String] {
            try run(checks + ["-Y", filter, "-T", "fields"] + fields.flatMap { ["-e", $0] })
                .split(separator: "\n").map(String.init)
        }
        #expect(
            try lines("_ws.malformed or ip.checksum.status == 0 or tcp.checksum.status == 0", ["frame.number"]) == [])
        #expect(try lines("tcp.checksum.status != 1", ["frame.number"]) == [])
        // The two gaps: an acknowledgment of unseen data, and the data after it.
        let flagged = try lines(
            "tcp.analysis.flags", ["tcp.stream", "tcp.analysis.ack_lost_segment", "tcp.analysis.lost_segment"])
        #expect(flagged.allSatisfy { $0.hasPrefix("4\t") && $0 != "4\t\t" }, "\(flagged)")
        #expect(!flagged.isEmpty)
        let complaints = try lines("_ws.expert.severity >= 0x600000", ["tcp.stream", "_ws.expert.message"])
        #expect(complaints.allSatisfy { $0.hasPrefix("4\t") || $0.contains("RST") }, "\(complaints)")
        let comments = try lines("frame.comment contains \"心跳\" and tcp.len == 5", ["tcp.stream", "tcp.payload"])
        #expect(comments == (0..<6).map { "\($0)\t68656c6c6f" })
        let bytes = try run(checks + ["-q", "-z", "conv,tcp"])
        #expect(bytes.contains("2001:db8::1:40001"))
        #expect(bytes.contains("::ffff:10.0.0.1:40002"))
        let times = try lines("frame.number == 2", ["frame.time_epoch", "frame.interface_name"])
        #expect(times == ["1795248000.001012345\tproxy 心"])
    }
}
