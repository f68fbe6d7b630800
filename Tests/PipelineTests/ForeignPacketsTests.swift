import Dispatch
import Foundation
import Framing
import Packets
import Pipeline
import Streams
import Synchronization
import TestSupport
import Testing
import Trace

/// A thread passes over the packets of other threads' connections: it finds what it finds if it receives each of them, whether it reads
/// the capture alone or with the other threads.
@Suite struct ForeignPacketsTests {
    private static let fixtures = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "fixtures")

    /// Captures of Ethernet with heartbeats, gaps, lost segments and silence, with times in microseconds.
    static let captures: [String] = {
        let all = FileManager.default.enumerator(atPath: fixtures.path)?.compactMap { $0 as? String } ?? []
        return all.filter { $0.hasSuffix(".pcap") && ($0.hasPrefix("blame/") || $0.hasSuffix("conversation.pcap")) }
            .filter { !$0.contains("router/") }.sorted()
    }()

    @Test func thereAreCaptures() { #expect(Self.captures.count > 30) }

    @Test(arguments: captures) func nothingElseIsFound(capture: String) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var packets = Copies(pairs: 8, using: &generator)
        var reader = CaptureReader(
            CaptureBytes([UInt8](try Data(contentsOf: Self.fixtures.appending(path: capture)))), chunk: 1 << 14)
        try reader.read(to: &packets)
        for file in [packets.pcap, packets.pcapng] {
            let shared = try foundTogether(file, shares: 3)
            for index in 0..<3 {
                let options = ReassemblyOptions().taking(CaptureShare(index, of: 3))
                let (expected, none) = try found(file, options, passes: false)
                let (actual, passed) = try found(file, options, passes: true)
                #expect(actual == expected, "seed \(seed), share \(index)")
                #expect(shared[index] == expected, "seed \(seed), share \(index), together")
                #expect(none == 0)
                #expect(passed > packets.count / 10, "seed \(seed), share \(index)")
            }
        }
    }

    /// What a thread finds in a capture.
    private struct Findings: Equatable {
        var trace = ""
        var counters = CaptureCounters()
        var summary = Summary()
        var packets = 0

        init() {}

        init(_ decoder: Decoder, _ output: MemoryOutput, _ counters: CaptureCounters, _ packets: Int) {
            decoder.finish()
            decoder.flush()
            trace = output.text
            self.counters = counters
            summary = decoder.summary
            self.packets = packets
        }
    }

    /// What one thread that reads the capture alone finds, and how many packets it passed over.
    private func found(_ file: [UInt8], _ options: ReassemblyOptions, passes: Bool) throws -> (Findings, Int) {
        let (decoder, output) = try Self.decoder()
        var packets = Passing(receiver: CaptureDecoder(options: options, receiver: decoder), passes: passes)
        var reader = CaptureReader(CaptureBytes(file), chunk: 1 << 12)
        try reader.read(to: &packets)
        packets.receiver.finish()
        return (Findings(decoder, output, packets.receiver.counters, reader.packetCount), packets.passed)
    }

    /// What each of several threads that share the capture finds.
    private func foundTogether(_ file: [UInt8], shares count: Int) throws -> [Findings] {
        let capture = SharedCapture(CaptureBytes(file), for: count, chunk: 1 << 12)
        let found = Mutex([Findings](repeating: Findings(), count: count))
        let group = DispatchGroup()
        for share in 0..<count {
            DispatchQueue(label: "share \(share)").async(group: group) {
                defer { capture.leave(share) }
                guard let (decoder, output) = try? Self.decoder() else { return }
                var packets = CaptureDecoder(
                    options: ReassemblyOptions().taking(CaptureShare(share, of: count)), receiver: decoder)
                var reader = SharedCaptureReader(capture, share: share)
                while (try? reader.step(to: &packets)) == .more {}
                packets.finish()
                let findings = Findings(decoder, output, packets.counters, reader.packetCount)
                found.withLock { $0[share] = findings }
            }
        }
        group.wait()
        return found.withLock { $0 }
    }

    private static func decoder() throws -> (Decoder, MemoryOutput) {
        let output = MemoryOutput()
        let decoder = Decoder(
            DecodingOptions(.automatic(try BuiltInFormats.allWithVariants())),
            sinks: [NDJSONWriter(to: output, source: "", tool: "")])
        return (decoder, output)
    }
}

/// Counts the packets that are passed over, or has none passed over.
private struct Passing: PacketReceiver, ~Copyable {
    var receiver: CaptureDecoder
    let passes: Bool
    var passed = 0

    init(receiver: consuming CaptureDecoder, passes: Bool) {
        self.receiver = receiver
        self.passes = passes
    }

    var passesOver: Bool { passes && receiver.passesOver }

    mutating func passOver(
        _ window: RawSpan, from at: inout Int, position: Int, runs: inout ForeignRuns?,
        record: (_ at: Int) -> PassedPackets.Record?
    ) -> Int {
        let count = receiver.passOver(window, from: &at, position: position, runs: &runs, record: record)
        passed += count
        return count
    }

    mutating func receive(_ packet: PacketInfo, bytes: RawSpan, options: RawSpan) -> Reception {
        receiver.receive(packet, bytes: bytes, options: options)
    }

    mutating func captured(until time: Timestamp) { receiver.captured(until: time) }
}

/// The packets of a capture between several pairs of hosts, each with other times; here and there, times go back.
private struct Copies: PacketReceiver {
    private var packets: [(time: Int64, bytes: [UInt8])] = []
    private let delays: [Int64]
    private var generator: SeededGenerator

    init(pairs: Int, using generator: inout SeededGenerator) {
        delays = (0..<pairs).map { _ in .random(in: 0...20_000_000_000, using: &generator) }
        self.generator = generator
    }

    var count: Int { packets.count }

    mutating func receive(_ packet: PacketInfo, bytes: RawSpan, options: RawSpan) -> Reception {
        for (pair, delay) in delays.enumerated() {
            var copy = bytes.copied()
            // The third byte of both IPv4 addresses.
            if copy.count >= 34 { (copy[28], copy[32]) = (UInt8(pair), UInt8(pair)) }
            packets.append((packet.time.nanoseconds + delay, copy))
        }
        return .taken
    }

    mutating func captured(until time: Timestamp) {}

    /// The packets in the order of their times, but for some that are a little late.
    private var inOrder: [(time: Int64, bytes: [UInt8])] {
        var generator = generator
        return packets.map { packet in
            let isLate = Int.random(in: 0..<50, using: &generator) == 0
            return (packet.time + (isLate ? .random(in: 0...3_000_000, using: &generator) : 0), packet)
        }.sorted { $0.0 < $1.0 }.map(\.1)
    }

    var pcap: [UInt8] {
        var file: [UInt8] = []
        func append(_ numbers: UInt32...) {
            for number in numbers { withUnsafeBytes(of: number.littleEndian) { file.append(contentsOf: $0) } }
        }
        append(0xa1b2_3c4d, 4 << 16 | 2, 0, 0, 262_144, 1)
        for (time, bytes) in inOrder {
            append(UInt32(time / 1_000_000_000), UInt32(time % 1_000_000_000), UInt32(bytes.count), UInt32(bytes.count))
            file += bytes
        }
        return file
    }

    var pcapng: [UInt8] {
        var file: [UInt8] = []
        var writer = PcapngWriter()
        writer.appendSectionHeader(application: "tests", to: &file)
        let interface = writer.appendInterface(name: "eth0", linkType: 1, to: &file)
        for (time, bytes) in inOrder {
            writer.appendPacket(
                bytes.span.bytes, at: Timestamp(nanoseconds: time), interface: interface, to: &file)
        }
        return file
    }
}
