import Dispatch
import Foundation
import Packets
import Streams
import Synchronization
import TestSupport
import Testing

/// Threads that share a capture: each finds what it would find if it read the capture alone.
@Suite struct SharedCaptureTests {
    /// What a thread has found: what was received, how far time went, the error, and all counts.
    private struct Outcome: Equatable {
        var entries: [String] = []
        var failure = ""
        var counters = CaptureCounters()
        var packets = 0
    }

    /// Logs what arrives, and when time advances from the deadline on: before, it may advance in fewer steps.
    private final class Log: StreamReceiver, ConnectionReceiver {
        var entries: [String] = []
        let quietUntil: Timestamp

        init(quietUntil: Timestamp) { self.quietUntil = quietUntil }

        func open(_ opening: Opening) -> any ConnectionReceiver {
            entries.append("\(opening.client)")
            return self
        }
        func advance(to time: Timestamp) {
            if time >= quietUntil { entries.append("\(time.nanoseconds)") }
        }
        func received(_ bytes: RawSpan, from direction: Direction, at time: Timestamp, packet: Int) {
            entries.append("packet \(packet), \(bytes.byteCount) bytes at \(time.nanoseconds)")
        }
        func missing(_ byteCount: Int, from direction: Direction, at time: Timestamp) {}
        func noticed(_ notice: StreamNotice, from direction: Direction, at time: Timestamp, packet: Int) {}
        func finished(_ ending: Ending, from direction: Direction, at time: Timestamp) {}
        func closed(_ closing: Closing) { entries.append("closed \(closing.time.nanoseconds)") }
        func learned(keyLog: RawSpan) { entries.append("secrets") }
    }

    /// Reads a share to its end.
    private static func outcome<Reader: SteppingReader>(
        _ reader: Reader, of share: CaptureShare, quietUntil: Timestamp
    ) -> Outcome {
        var reader = reader
        let log = Log(quietUntil: quietUntil)
        var decoder = CaptureDecoder(options: ReassemblyOptions().taking(share), receiver: log)
        var outcome = Outcome()
        do {
            while try reader.step(to: &decoder) != .end {}
        } catch {
            switch error {
            case .damaged(let damage): outcome.failure = "\(damage)"
            case .unreadable(let error): outcome.failure = "\(error)"
            }
        }
        decoder.finish()
        outcome.entries = log.entries
        outcome.counters = decoder.counters
        outcome.packets = reader.packetCount
        return outcome
    }

    /// What threads find that share a capture.
    private static func shared(
        _ source: some ByteSource & Sendable, _ shares: [CaptureShare], chunk: Int, quietUntil: Timestamp
    ) -> [Outcome] {
        let capture = SharedCapture(source, for: shares.count, chunk: chunk)
        let outcomes = Mutex([Outcome](repeating: Outcome(), count: shares.count))
        let group = DispatchGroup()
        for (index, share) in shares.enumerated() {
            // Each on a thread of its own, since they wait for one another.
            DispatchQueue(label: "share \(index)").async(group: group) {
                let found = outcome(SharedCaptureReader(capture, share: index), of: share, quietUntil: quietUntil)
                capture.leave(index)
                outcomes.withLock { $0[index] = found }
            }
        }
        group.wait()
        return outcomes.withLock { $0 }
    }

    /// A file of connections between many hosts: packets of several kinds and interfaces, now and then a late one, other blocks between.
    private static func file(isPcapng: Bool, using random: inout SeededGenerator) -> [UInt8] {
        var (pcap, pcapng) = (PcapFile(), PcapngFile())
        pcapng.interface()
        pcapng.interface(options: [(9, [9])])
        var time = 0
        let isOrdered = Bool.random(using: &random)
        var sent = [Int](repeating: 0, count: 12)
        // The fast path begins with a connection's 32nd packet.
        let most = [150, 150, 600].randomElement(using: &random) ?? 150
        for _ in 0..<Int.random(in: 1...most, using: &random) {
            let host = Bool.random(using: &random) ? 0 : Int.random(in: 0..<sent.count, using: &random)
            let isFirst = sent[host] == 0 && Bool.random(using: &random)
            let bytes = [UInt8](repeating: 65, count: isFirst ? 0 : Int.random(in: 0...40, using: &random))
            let segment = Headers.tcp(
                bytes, sequence: UInt32(isFirst ? 0 : 1 + sent[host]), flags: isFirst ? .syn : .ack)
            var packet = Headers.ipv4(segment, from: host + 1, to: 0)
            sent[host] += bytes.count
            switch Int.random(in: 0..<20, using: &random) {
            case 0: packet = Headers.ethernet([0, 5, 8, 0] + packet, type: 0x8100)
            case 1: packet = Headers.ethernet(Headers.ipv6(Headers.udp([1], to: 53)), type: 0x86dd)
            default: packet = Headers.ethernet(packet)
            }
            time += Int.random(in: 0...3_000, using: &random)
            let late = isOrdered || Int.random(in: 0..<30, using: &random) > 0 ? time : max(0, time - 5_000)
            pcap.add(packet, at: late)
            guard isPcapng else { continue }
            switch Int.random(in: 0..<12, using: &random) {
            case 0: pcapng.simplePacket(packet, original: packet.count)
            case 1: pcapng.obsoletePacket(packet, at: late)
            case 2...4: pcapng.packet(packet, at: 1_000 * late, interface: 1)
            default: pcapng.packet(packet, at: late, comments: Bool.random(using: &random) ? [] : ["a comment"])
            }
            switch Int.random(in: 0..<15, using: &random) {
            case 0: pcapng.block(0x0bad) { $0.bytes += [UInt8](repeating: 7, count: 90) }
            case 1: pcapng.statistics(end: late)
            case 3:
                pcapng.block(10) {
                    $0.u32(0x544c_534b)
                    $0.u32(0)
                }
            case 2: pcapng.section(isBigEndian: false); pcapng.interface(); pcapng.interface(options: [(9, [9])])
            default: break
            }
        }
        return isPcapng ? pcapng.file.bytes : pcap.bytes
    }

    @Test(arguments: [false, true]) func eachThreadFindsItsShare(isPcapng: Bool) {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        for round in 0..<150 {
            var file = Self.file(isPcapng: isPcapng, using: &random)
            if Int.random(in: 0..<3, using: &random) == 0 {
                file[Int.random(in: 24..<file.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if Int.random(in: 0..<8, using: &random) == 0 { file.removeLast(Int.random(in: 0...20, using: &random)) }
            if Int.random(in: 0..<4, using: &random) == 0 { file = gzip(file) }
            let shares = (0..<3).map { CaptureShare($0, of: 3) }
            let size = [7, 61, 500, 1 << 20].randomElement(using: &random) ?? 61
            let chunk = [64, 300, 4_000].randomElement(using: &random) ?? 64
            let quietUntil = Timestamp(nanoseconds: [.max, 100_000_000].randomElement(using: &random) ?? .max)
            let found = Self.shared(
                PieceSource(file, sizes: [size]), shares, chunk: chunk, quietUntil: quietUntil)
            for (share, found) in zip(shares, found) {
                let alone = Self.outcome(
                    CaptureReader(PieceSource(file, sizes: [size]), chunk: chunk), of: share, quietUntil: quietUntil)
                #expect(found == alone, "seed \(seed), round \(round), pieces of \(size), chunks of \(chunk)")
            }
        }
    }

    /// A source that cannot be read after some bytes.
    private struct FailingSource: ByteSource {
        struct Failure: Error {}

        var bytes: [UInt8]

        mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(Failure) -> Int {
            if bytes.isEmpty { throw Failure() }
            let count = min(buffer.count, bytes.count)
            buffer.copyBytes(from: bytes.prefix(count))
            bytes.removeFirst(count)
            return count
        }
    }

    @Test func everyThreadHasTheReadablePart() {
        var random = SeededGenerator(seed: 3)
        var file = PcapFile()
        for index in 0..<90 {
            file.add(
                Headers.ethernet(Headers.ipv4(Headers.tcp([65], sequence: UInt32(index + 1)), from: index, to: 0)),
                at: index)
        }
        for _ in 0..<20 {
            let chunk = Int.random(in: 64...900, using: &random)
            let found = Self.shared(
                FailingSource(bytes: file.bytes), (0..<2).map { CaptureShare($0, of: 2) }, chunk: chunk,
                quietUntil: Timestamp(nanoseconds: .max))
            #expect(found.allSatisfy { $0.failure.contains("Failure") && $0.packets == 90 }, "\(found)")
            #expect(found.reduce(0) { $0 + $1.entries.count { $0.hasPrefix("packet") } } == 90)
        }
    }

    /// The others need not wait for a thread that has left, however much there is to read.
    @Test func aThreadMayLeave() throws {
        var file = PcapFile()
        for index in 0..<3_000 {
            let segment = Headers.tcp([UInt8](repeating: 65, count: 1_400), sequence: UInt32(1 + 1_400 * index))
            file.add(Headers.ethernet(Headers.ipv4(segment, from: 1, to: 0)), at: index)
        }
        #expect(file.bytes.count > 4 << 20)
        let capture = SharedCapture(PieceSource(file.bytes, sizes: [1 << 20]), for: 3)
        let log = Log(quietUntil: Timestamp(nanoseconds: .max))
        var decoder = CaptureDecoder(options: ReassemblyOptions().taking(CaptureShare(0, of: 3)), receiver: log)
        var first = SharedCaptureReader(capture, share: 0)
        _ = try first.step(to: &decoder)
        let group = DispatchGroup()
        let found = Mutex<Outcome?>(nil)
        DispatchQueue(label: "share 2").async(group: group) {
            let outcome = Self.outcome(
                SharedCaptureReader(capture, share: 2), of: CaptureShare(2, of: 3),
                quietUntil: Timestamp(nanoseconds: .max))
            found.withLock { $0 = outcome }
        }
        // By then, it most likely waits for the others.
        Thread.sleep(forTimeInterval: 1)
        capture.leave(0)
        capture.leave(1)
        group.wait()
        #expect(found.withLock { $0 }?.packets == 3_000)
    }
}
