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

    /// Counts the packets that a decoder takes on the fast path.
    private struct Counted: PacketReceiver, ~Copyable {
        var decoder: CaptureDecoder
        var taken = 0

        mutating func receive(_ packet: PacketInfo, bytes: RawSpan, options: RawSpan) -> Reception {
            decoder.receive(packet, bytes: bytes, options: options)
        }
        mutating func receiveCommon(
            _ window: RawSpan, from at: inout Int, after number: Int, record: (_ at: Int) -> PassedPackets.Record?
        ) -> Int {
            let count = decoder.receiveCommon(window, from: &at, after: number, record: record)
            taken += count
            return count
        }
        mutating func captured(until time: Timestamp) { decoder.captured(until: time) }
    }

    /// Long connections, in files whose packets follow one another: the fast path takes many of them.
    @Test func longConnectionsAreTheSame() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for round in 0..<12 {
            var (plain, tagged, later) = (PcapFile(), PcapFile(), PcapngFile())
            later.interface()
            var (sequences, count, time) = ([UInt32](repeating: 1, count: 4), 0, 1_000_000)
            func add(_ datagram: [UInt8], cut: Int = 0) {
                count += 1
                plain.add(Array(Headers.ethernet(datagram).dropLast(cut)), at: time, original: datagram.count + 14)
                later.packet(Array(Headers.ethernet(datagram).dropLast(cut)), at: time, original: datagram.count + 14)
                tagged.add(
                    Array(Headers.ethernet([0, 5, 8, 0] + datagram, type: 0x8100).dropLast(cut)), at: time,
                    original: datagram.count + 18)
            }
            func send(_ side: Int, _ payload: [UInt8] = [], _ flags: TCPFlags = .ack, cut: Int = 0) {
                let isClient = side.isMultiple(of: 2)
                let (client, server) = (Headers.client + side / 2, Headers.server)
                let segment = Headers.tcp(
                    payload, from: isClient ? 40_000 : 80, to: isClient ? 80 : 40_000, sequence: sequences[side],
                    acknowledgment: sequences[side ^ 1], flags: flags,
                    options: [1, 1, 8, 10] + big(time / 1_000, 4) + big(1, 4))
                sequences[side] &+= UInt32(payload.count + (flags.contains(.syn) ? 1 : 0))
                guard Int.random(in: 0..<200, using: &generator) > 0 || flags != .ack else { return }
                add(
                    Headers.ipv4(
                        segment, from: isClient ? client : server, to: isClient ? server : client,
                        identification: Int(sequences[side] & 0x7fff)), cut: cut)
            }
            for side in 0..<4 { send(side, [], side.isMultiple(of: 2) ? .syn : [.syn, .ack]) }
            for _ in 0..<1_600 {
                time +=
                    round % 3 == 1 && Int.random(in: 0..<200, using: &generator) == 0
                    ? 80_000 : Int.random(in: 0...2_500, using: &generator)
                // One byte each: the identifications count the packets.
                send(
                    .random(in: 0..<4, using: &generator), generator.bytes(1),
                    cut: round % 5 == 0 && time % 50 == 0 ? 1 : 0)
                if time % 97 == 0 { add([0x60]) }
            }
            var options = ReassemblyOptions()
            options.gapGrace = Interval(nanoseconds: 2_000_000)
            let expected = events(of: tagged.bytes, options: options)
            let (quick, inBlocks) = (
                events(of: plain.bytes, options: options), events(of: later.file.bytes, options: options)
            )
            #expect(quick.log.events == expected.log.events, "seed \(seed), round \(round)")
            #expect(inBlocks.log.events == expected.log.events, "seed \(seed), round \(round)")
            #expect(quick.counters.bytes == expected.counters.bytes - 4 * count)
            for counters in [quick.counters, inBlocks.counters] {
                #expect(counters.packets == count && counters.segments == expected.counters.segments)
                #expect(counters.skipped == expected.counters.skipped)
            }
            var reader = CaptureReader(PieceSource(plain.bytes, sizes: [1 << 20]))
            var counted = Counted(decoder: CaptureDecoder(options: options, receiver: StreamEventLog()))
            try reader.read(to: &counted)
            #expect(counted.taken > count / 4, "seed \(seed), round \(round)")
            options.verifiesChecksums = true
            #expect(
                events(of: plain.bytes, options: options).log.events.isEmpty,
                "without correct checksums, no event is expected")
        }
    }

    /// Where it goes among shards is where it would go by all layers.
    @Test func itsEndsAreThoseOfAllLayers() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var common = 0
        for round in 0..<3_000 {
            let payload = generator.bytes(.random(in: 0...40, using: &generator))
            var frame = Headers.ethernet(Headers.ipv4(Headers.tcp(payload, sequence: 1)))
            // Headers that are damaged or unusual, addresses and ports in any order, and bytes after the datagram.
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                frame[.random(in: 0..<54, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            frame += [UInt8](repeating: 0, count: .random(in: 0...8, using: &generator))
            let original = frame.count
            if Bool.random(using: &generator) { frame.removeLast(.random(in: 0...frame.count, using: &generator)) }
            let packet = PacketInfo(
                number: 1, time: Timestamp(nanoseconds: 0),
                linkType: round & 7 == 0 ? LinkType(rawValue: 101) : .ethernet,
                capturedLength: frame.count, originalLength: original)
            var (quick, thorough) = (FlowFinder(), FlowFinder())
            guard let ends = quick.commonEnds(packet, frame.span.bytes) else { continue }
            common += 1
            #expect(thorough.find(packet, frame.span.bytes).ends == ends, "seed \(seed): \(frame)")
        }
        #expect(common > 300, "seed \(seed)")
    }
}
