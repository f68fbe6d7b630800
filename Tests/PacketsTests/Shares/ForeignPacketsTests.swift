import Packets
import Streams
import TestSupport
import Testing

/// When packets of other shares are passed over, and when time advances meanwhile.
@Suite struct ForeignPacketsTests {
    /// Logs how far time advances, and what arrives.
    private final class Log: StreamReceiver, ConnectionReceiver {
        let quietUntil: Timestamp
        var entries: [String] = []

        init(quietUntil: Int64) { self.quietUntil = Timestamp(nanoseconds: quietUntil * 1_000_000) }

        func open(_ opening: Opening) -> any ConnectionReceiver { self }
        func advance(to time: Timestamp) { entries.append("\(time.nanoseconds / 1_000_000)") }
        func received(_ bytes: RawSpan, from direction: Direction, at time: Timestamp, packet: Int) {
            entries.append("packet \(packet)")
        }
        func missing(_ byteCount: Int, from direction: Direction, at time: Timestamp) {}
        func noticed(_ notice: StreamNotice, from direction: Direction, at time: Timestamp, packet: Int) {}
        func finished(_ ending: Ending, from direction: Direction, at time: Timestamp) {}
        func closed(_ closing: Closing) { entries.append("closed") }
        func learned(keyLog: RawSpan) { entries.append("secrets") }
    }

    private let share = CaptureShare(0, of: 2)

    /// A host whose connections with the server are in the share, or are not.
    private func host(isOurs: Bool) -> Int {
        (1...200).first { share.contains(IPAddress(v4: UInt32($0)), IPAddress(v4: 0)) == isOurs } ?? 0
    }

    /// A SYN, or a byte of a stream after the ones that a SYN begins.
    private func packet(isOurs: Bool, place: Int? = nil) -> [UInt8] {
        let segment =
            place.map { Headers.tcp([65], sequence: UInt32(2 + $0)) } ?? Headers.tcp(sequence: 1, flags: .syn)
        return Headers.ethernet(Headers.ipv4(segment, from: host(isOurs: isOurs), to: 0))
    }

    private func log(_ packets: [(Int, [UInt8])], quietUntil: Int64) -> (entries: [String], counters: CaptureCounters) {
        var file = PcapFile()
        for (milliseconds, packet) in packets { file.add(packet, at: 1_000 * milliseconds) }
        return log(file.bytes, quietUntil: quietUntil)
    }

    private func log(_ file: [UInt8], quietUntil: Int64) -> (entries: [String], counters: CaptureCounters) {
        let log = Log(quietUntil: quietUntil)
        var decoder = CaptureDecoder(options: ReassemblyOptions().taking(share), receiver: log)
        var reader = CaptureReader(PieceSource(file, sizes: [1 << 20]))
        _ = try? reader.read(to: &decoder)
        decoder.captured(until: Timestamp(nanoseconds: 0))
        return (log.entries, decoder.counters)
    }

    /// Their times are passed on in one step, up to the latest of them.
    @Test func timeAdvancesAtOnce() {
        let foreign = packet(isOurs: false, place: 0)
        let packets =
            [(0, packet(isOurs: true))] + [10, 30, 20].map { ($0, foreign) } + [(25, packet(isOurs: true, place: 0))]
            + [40, 50].map { ($0, foreign) }
        let (entries, counters) = log(packets, quietUntil: 1_000_000)
        #expect(entries == ["0", "30", "packet 5", "50"])
        #expect(counters.packets == 7 && counters.segments == 7)
        #expect(counters.bytes == packets.reduce(0) { $0 + $1.1.count })
    }

    /// From the receiver's next deadline on, it is notified of each.
    @Test(arguments: [15, 20, 21] as [Int64]) func theReceiversDeadline(deadline: Int64) {
        let foreign = packet(isOurs: false, place: 0)
        let (entries, _) = log([10, 14, 20, 21].map { ($0, foreign) }, quietUntil: deadline)
        #expect(entries == (deadline == 21 ? ["21"] : ["20", "21"]))
    }

    /// A second after an RST, its connection is over.
    @Test func theReassemblersDeadline() {
        let foreign = packet(isOurs: false, place: 0)
        let reset = Headers.ipv4(Headers.tcp(sequence: 2, flags: .rst), from: host(isOurs: true), to: 0)
        let packets =
            [(0, packet(isOurs: true)), (50, foreign), (100, Headers.ethernet(reset))]
            + [200, 900, 1_200, 1_300].map { ($0, foreign) }
        let (entries, _) = log(packets, quietUntil: 1_000_000)
        #expect(entries == ["0", "100", "100", "closed", "1200", "1300"])
    }

    /// What else a pcapng file has comes after the packets before it.
    @Test func otherBlocks() {
        let foreign = packet(isOurs: false, place: 0)
        var file = PcapngFile()
        file.interface()
        func add(_ bytes: [UInt8], at milliseconds: Int...) {
            for time in milliseconds { file.packet(bytes, at: 1_000 * time) }
        }
        add(packet(isOurs: true), at: 0)
        add(foreign, at: 10, 20)
        file.block(10) {
            $0.u32(0x544c_534b)
            $0.u32(0)
        }
        add(foreign, at: 30)
        file.simplePacket(foreign, original: foreign.count)
        add(foreign, at: 40, 35)
        file.statistics(end: 50_000)
        let (entries, counters) = log(file.file.bytes, quietUntil: 1_000_000)
        #expect(entries == ["0", "20", "secrets", "30", "40", "50"])
        #expect(counters.packets == 7 && counters.segments == 7)
    }

    /// A damaged file is read as far, and reported as it is, if every packet is received.
    @Test(arguments: [false, true]) func damage(isPcapng: Bool) {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let file = mixed(isPcapng: isPcapng)
        for _ in 0..<1_500 {
            var damaged = file
            let place = Int.random(in: 24..<file.count, using: &generator)
            damaged[place] = UInt8.random(in: 0...255, using: &generator)
            let size = [61, 500, 1 << 20].randomElement(using: &generator) ?? 61
            #expect(
                outcome(damaged, size, passes: true) == outcome(damaged, size, passes: false),
                "seed \(seed), byte \(place) is \(damaged[place])")
        }
    }

    /// A length that no packet may have is reported, although the file has that many bytes.
    @Test func anImpossibleLength() {
        var file = PcapFile()
        let foreign = packet(isOurs: false, place: 0)
        file.add(foreign, at: 0)
        file.add(foreign + [UInt8](repeating: 0, count: 262_145 - foreign.count), at: 10)
        let found = outcome(file.bytes, 1 << 20, passes: true)
        #expect(found.failure.contains("at most 262144"), "\(found.failure)")
        #expect(found == outcome(file.bytes, 1 << 20, passes: false))
    }

    /// A file with packets of both shares, of two interfaces if it has interfaces, with and without options.
    private func mixed(isPcapng: Bool) -> [UInt8] {
        let packets = (0..<24).map { packet(isOurs: $0 % 5 == 0, place: $0) }
        guard isPcapng else {
            var file = PcapFile()
            for (index, packet) in packets.enumerated() { file.add(packet, at: 1_000 * index) }
            return file.bytes
        }
        var file = PcapngFile()
        file.interface()
        file.interface(options: [(9, [9])])
        for (index, packet) in packets.enumerated() {
            let isNanoseconds = index % 7 == 3
            file.packet(
                packet, at: isNanoseconds ? 1_000_000 * index : 1_000 * index, interface: isNanoseconds ? 1 : 0,
                comments: index % 3 == 0 ? ["a comment"] : [])
        }
        file.statistics(end: 50_000)
        return file.file.bytes
    }

    /// What was received, the last time, the error, if any, and all counts.
    private struct Outcome: Equatable {
        var entries: [String] = []
        var last = ""
        var failure = ""
        var counters = CaptureCounters()
        var packets = 0
    }

    private func outcome(_ file: [UInt8], _ size: Int, passes: Bool) -> Outcome {
        let log = Log(quietUntil: 1_000_000)
        var packets = Received(
            decoder: CaptureDecoder(options: ReassemblyOptions().taking(share), receiver: log), passes: passes)
        var reader = CaptureReader(PieceSource(file, sizes: [size]))
        var outcome = Outcome()
        do {
            try reader.read(to: &packets)
        } catch {
            outcome.failure = "\(error)"
        }
        packets.decoder.finish()
        outcome.entries = log.entries.filter { Int($0) == nil }
        outcome.last = log.entries.last { Int($0) != nil } ?? ""
        outcome.counters = packets.decoder.counters
        outcome.packets = reader.packetCount
        return outcome
    }

    /// Lets a decoder pass over packets, or has it receive all.
    private struct Received: PacketReceiver, ~Copyable {
        var decoder: CaptureDecoder
        let passes: Bool

        init(decoder: consuming CaptureDecoder, passes: Bool) {
            self.decoder = decoder
            self.passes = passes
        }

        var passesOver: Bool { passes && decoder.passesOver }
        mutating func passOver(
            _ window: RawSpan, from at: inout Int, position: Int, runs: inout ForeignRuns?,
            record: (_ at: Int) -> PassedPackets.Record?
        ) -> Int { decoder.passOver(window, from: &at, position: position, runs: &runs, record: record) }
        mutating func receiveCommon(
            _ window: RawSpan, from at: inout Int, after number: Int, record: (_ at: Int) -> PassedPackets.Record?
        ) -> Int { passes ? decoder.receiveCommon(window, from: &at, after: number, record: record) : 0 }
        mutating func receive(_ packet: PacketInfo, bytes: RawSpan, options: RawSpan) -> Reception {
            decoder.receive(packet, bytes: bytes, options: options)
        }
        mutating func captured(until time: Timestamp) { decoder.captured(until: time) }
        mutating func learned(keyLog: RawSpan) { decoder.learned(keyLog: keyLog) }
        mutating func dropped(_ drops: CaptureDrops) { decoder.dropped(drops) }
    }

    /// Whatever is not the most common kind of packet is received.
    @Test func othersAreReceived() {
        let tagged = Headers.ethernet([0, 5, 8, 0] + packet(isOurs: false, place: 0).dropFirst(14), type: 0x8100)
        let (entries, counters) = log([(10, tagged), (20, tagged)], quietUntil: 1_000_000)
        #expect(entries == ["10", "20"])
        #expect(counters.packets == 2 && counters.segments == 2)
    }
}
