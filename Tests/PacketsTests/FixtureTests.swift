import Foundation
import Packets
import Streams
import Testing

/// The streams of captures in `fixtures/packets`, whose packets have to be read in their own way.
@Suite struct FixtureTests {
    private static func run(_ byte: Character, _ count: Int) -> [UInt8] {
        Array(String(repeating: byte, count: count).utf8)
    }

    private func read(_ name: String, _ options: ReassemblyOptions = ReassemblyOptions()) throws -> (
        log: StreamEventLog, counters: CaptureCounters
    ) {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let file = root.appendingPathComponent("fixtures/packets/\(name).pcap")
        return events(of: Array(try Data(contentsOf: file)), options: options)
    }

    private func connections(_ log: StreamEventLog) -> Int {
        log.events.count { event in if case .opened = event { true } else { false } }
    }

    private func missing(_ log: StreamEventLog) -> Int {
        log.events.reduce(0) { sum, event in
            guard case .missing(_, _, let count, _) = event else { return sum }
            return sum + count
        }
    }

    /// A second copy of a datagram's last fragment does not wait for the next datagram with the same identification.
    @Test func aRepeatedFragmentIsOfTheDatagramBefore() throws {
        let (log, _) = try read("repeated-fragment")
        let expected = Self.run("A", 2_000) + Self.run("B", 2_000) + Self.run("C", 10)
        #expect(log.bytes(of: 1, from: .fromClient) == expected)
    }

    @Test func whatIsCutOffALastFragmentIsMissing() throws {
        let (log, _) = try read("cut-off-fragment")
        #expect(log.bytes(of: 1, from: .fromClient).count == 1_526 && missing(log) == 474)
    }

    /// The two ends are the same on the way and at its end.
    @Test(arguments: ["routing-header", "source-route"]) func routesLeadToTheLastDestination(name: String) throws {
        let (log, _) = try read(name)
        #expect(connections(log) == 1 && missing(log) == 0)
        #expect(log.bytes(of: 1, from: .fromClient) == Array("hello".utf8))
    }

    @Test func checksumsAreThoseOfTheLastDestination() throws {
        var options = ReassemblyOptions()
        options.verifiesChecksums = true
        let (log, counters) = try read("routing-header-checksums", options)
        #expect(log.bytes(of: 1, from: .fromClient) == Array("hello".utf8) && counters.skippedByKind.isEmpty)
    }

    @Test(arguments: ["radiotap-padding", "aggregate"]) func wirelessFramesAreReadWhole(name: String) throws {
        let (log, counters) = try read(name)
        #expect(log.bytes(of: 1, from: .fromClient) == Array("first second third".utf8))
        #expect(missing(log) == 0 && counters.skippedByKind.isEmpty, "\(counters.skippedByKind)")
    }

    /// What is compressed in a way that is not read is called by its name.
    @Test(
        arguments: [
            ([0x28, 0xb5, 0x2f, 0xfd], CaptureCompression.zstd), ([0xfd, 0x37, 0x7a, 0x58], .xz),
            ([0x42, 0x5a, 0x68, 0x39], .bzip2), ([0x04, 0x22, 0x4d, 0x18], .lz4),
        ] as [([UInt8], CaptureCompression)]) func compressionsHaveNames(magic: [UInt8], name: CaptureCompression)
    {
        let (_, error) = PacketsTests.read(magic + [UInt8](repeating: 0, count: 100))
        #expect(error?.compression == name)
    }
}
