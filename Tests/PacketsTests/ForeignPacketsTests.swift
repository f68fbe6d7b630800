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
        let log = Log(quietUntil: quietUntil)
        var decoder = CaptureDecoder(options: ReassemblyOptions().taking(share), receiver: log)
        var reader = CaptureReader(PieceSource(file.bytes, sizes: [1 << 20]))
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

    /// Whatever is not the most common kind of packet is received.
    @Test func othersAreReceived() {
        let tagged = Headers.ethernet([0, 5, 8, 0] + packet(isOurs: false, place: 0).dropFirst(14), type: 0x8100)
        let (entries, counters) = log([(10, tagged), (20, tagged)], quietUntil: 1_000_000)
        #expect(entries == ["10", "20"])
        #expect(counters.packets == 2 && counters.segments == 2)
    }
}
