import Packets
import Streams
import TestSupport
import Testing

/// The fast path of the most common packets (Ethernet, IPv4, TCP) gives the same result as the path through all layers.
@Suite struct CommonPacketTests {
    /// An Ethernet capture of packets: unchanged, or with a VLAN tag, which leads through all layers.
    private func file(_ datagrams: [(bytes: [UInt8], original: Int)], isTagged: Bool) -> [UInt8] {
        var file = PcapFile()
        for (index, datagram) in datagrams.enumerated() {
            let frame =
                isTagged
                ? Headers.ethernet([0, 5, 8, 0] + datagram.bytes, type: 0x8100) : Headers.ethernet(datagram.bytes)
            let cut = datagram.original - datagram.bytes.count
            file.add(frame, at: 1_000 * index, original: frame.count + cut)
        }
        return file.bytes
    }

    @Test func itIsTheWayThroughAllLayers() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var taken = 0
        for round in 0..<400 {
            var datagrams: [(bytes: [UInt8], original: Int)] = []
            for number in 0..<Int.random(in: 1...6, using: &generator) {
                let payload = generator.bytes(.random(in: 0...40, using: &generator))
                var datagram = Headers.ipv4(Headers.tcp(payload, sequence: UInt32(1 + 40 * number)))
                // Headers that are damaged or unusual, and bytes after the datagram.
                for _ in 0..<Int.random(in: 0...2, using: &generator) {
                    datagram[.random(in: 0..<40, using: &generator)] = .random(in: 0...255, using: &generator)
                }
                datagram += [UInt8](repeating: 0, count: .random(in: 0...8, using: &generator))
                let cut = Bool.random(using: &generator) ? 0 : Int.random(in: 0...datagram.count, using: &generator)
                datagrams.append((Array(datagram.dropLast(cut)), datagram.count))
            }
            let plain = events(of: file(datagrams, isTagged: false))
            let tagged = events(of: file(datagrams, isTagged: true))
            #expect(plain.log.events == tagged.log.events, "seed \(seed), round \(round): \(datagrams)")
            #expect(
                plain.counters.skipped == tagged.counters.skipped, "seed \(seed), round \(round): \(datagrams)")
            taken += plain.log.events.count
        }
        #expect(taken > 400, "seed \(seed)")
    }
}
