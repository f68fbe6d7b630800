import Streams
import Testing

@testable import Framing

/// Frames that are only counted: the same results as where each is passed on.
struct CountingTests {
    /// What a decoder keeps of frames: the tally, and the frames that it has to look at.
    private final class Sieving: FrameReceiver {
        let sieve: FrameSieve
        var tally = FrameSieve.Counts()
        var seen: [FrameInfo] = []
        var unframed: [UnframedRun] = []
        var missing: [Range<Int>] = []

        init(_ sieve: FrameSieve) { self.sieve = sieve }

        func framed(_ frames: FrameBatch, in bytes: RawSpan, from direction: Direction) {
            var picks: [FrameSieve.Pick] = []
            sieve.sift(frames, in: bytes, counts: &tally, picks: &picks)
            seen += picks.map { frames.info($0.index) }
        }

        func framed(_ frame: FrameInfo, bytes: RawSpan, from direction: Direction) {
            sieve.count(frame, &tally)
            if sieve.judge(bytes, frame.partsAtHand, counts: &tally, frame, isWhole: frame.missing == 0) != nil {
                seen.append(frame)
            }
        }

        func unframed(_ run: UnframedRun, from direction: Direction) { unframed.append(run) }

        func missing(offset: Int, byteCount: Int, from direction: Direction, at time: Timestamp) {
            missing.append(offset..<offset + byteCount)
        }
    }

    private static let formats: [(yaml: String, endian: Bool, width: Int, counts: Int)] = [
        (
            "header: [{ length: u16 }, { kind: u16 }, { flag: u8 }]\nframing: { rule: length-field, field: length, counts: rest }",
            true, 2, 3
        ),
        (
            "byteOrder: little\nheader: [{ length: u32 }, { kind: u16 }, { flag: u8 }]\nframing: { rule: length-field, field: length, counts: frame }",
            false, 4, 7
        ),
        (
            "header: [{ kind: u16 }, { length: u24 }]\nframing: { rule: length-field, field: length, counts: body, limit: 3000 }",
            true, 3, 0
        ),
        (
            "header: [{ magic: { type: u16, equals: 0xd5aa } }, { kind: u16 }, { length: u16 }]\nframing: { rule: length-field, field: length }",
            true, 2, 0
        ),
        (
            """
            header: [{ kind: u16 }, { length: u16 }, { id: u32 }, { version: { type: u8, equals: 3 } }, { magic: { type: u16, equals: 0x5a96 } }]
            framing: { rule: length-field, field: length, counts: rest }
            """, true, 2, 7
        ),
        (
            """
            byteOrder: little
            header: [{ magic: { type: u16, equals: 0xd5aa } }, { kind: u16 }, { length: u32 }, { end: { type: u16, equals: 0x5a96 } }]
            framing: { rule: length-field, field: length, counts: rest }
            """, false, 4, 2
        ),
    ]
    /// What their frames begin with, around the length.
    private static func head(_ number: Int, _ type: [UInt8], _ size: [UInt8]) -> [UInt8] {
        switch number {
        case 2: type + size
        case 3: [0xd5, 0xaa] + type + size
        case 4: type + size + [1, 2, 3, 4, 3, 0x5a, 0x96]
        case 5: [0xaa, 0xd5] + type + size + [0x96, 0x5a]
        default: size + type + [0]
        }
    }

    /// Heartbeats are kind 9, requests 1 and answers 2; all bodies should be Protobuf.
    private static func format(_ number: Int) throws -> Format {
        try FormatLoader.load(
            """
            format: counted
            \(formats[number].yaml)
            frame: { type: kind }
            body: protobuf
            heartbeat: { when: type == "9", from: client, every: 1 s, gap: 2 s }
            pairs: [{ request: type == "1", from: client, answer: type == "2" }]
            """, file: "counted.yaml")
    }

    /// A stream of frames, most of them ordinary, with bodies that are no messages and bytes that are no frames.
    private static func stream(_ number: Int, _ generator: inout SeededGenerator) -> [UInt8] {
        let format = formats[number]
        var stream: [UInt8] = []
        for _ in 0..<Int.random(in: 10...40, using: &generator) {
            if Int.random(in: 0..<400, using: &generator) == 0 { stream += [UInt8](repeating: 0xff, count: 9) }
            // Constants that are wrong, from the first byte on or later.
            if number > 2, Int.random(in: 0..<50, using: &generator) == 0 {
                var wrong = head(number, format.endian ? [0, 3] : [3, 0], format.endian ? [0, 7] : [2, 0, 0, 0])
                let places = [3: [0, 1], 4: [8, 9, 10], 5: [0, 1, 8, 9]][number] ?? []
                wrong[places.randomElement(using: &generator) ?? 0] ^= 1
                stream += wrong.prefix(Int.random(in: 1...wrong.count, using: &generator))
            }
            let kinds: [UInt8] = [3, 3, 3, 4, 5, 5, 7, 7, 1, 2, 9]
            let kind = kinds.randomElement(using: &generator) ?? 3
            var body: [UInt8] = []
            let length = [0, 3, 40, 40, 400].randomElement(using: &generator) ?? 0
            if length > 0 {
                let text = Int.random(in: 0...length, using: &generator)
                body = [0x0a] + (text < 128 ? [UInt8(text)] : [UInt8(text & 127) | 128, UInt8(text >> 7)])
                body += [UInt8](repeating: 0x61, count: text)
                if Int.random(in: 0..<6, using: &generator) == 0 { body.append(0x0f) }
            }
            let value = body.count + format.counts
            let bytes = (0..<format.width).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
            let size = format.endian ? bytes.reversed() : bytes
            let type = format.endian ? [0, kind] : [kind, 0]
            stream += head(number, type, size) + body
        }
        return stream
    }

    @Test(arguments: 0..<6, [FrameInterest.heartbeats, [.faultyBodies], [.heartbeats, .faultyBodies, .paired], []])
    func whatIsCountedIsWhatIsPassedOn(number: Int, wanted: FrameInterest) throws {
        let format = try Self.format(number)
        var alone = 0
        for _ in 0..<60 {
            let seed = UInt64.random(in: 0...UInt64.max)
            var generator = SeededGenerator(seed: seed)
            let bytes = Self.stream(number, &generator)
            let aligned = Int.random(in: 0..<4, using: &generator) > 0
            let kinds = FrameKinds(format, .fromClient)
            let (all, counted) = (
                Sieving(FrameSieve(kinds, format, wanted: wanted)), Sieving(FrameSieve(kinds, format, wanted: wanted))
            )
            #expect(counted.sieve.countsAlone)
            let rule = SharedRule.of(format.directions.fromClient.rule)
            var one = Framer(rule, direction: .fromClient, aligned: aligned)
            var other = Framer(rule, direction: .fromClient, aligned: aligned)
            let (scratch, otherScratch) = (FramingScratch(), FramingScratch())
            var (at, packet) = (0, 0)
            let longest = [1, 7, 60, 700, 5_000].randomElement(using: &generator) ?? 1
            while at < bytes.count {
                let end = min(bytes.count, at + Int.random(in: 1...longest, using: &generator))
                packet += 1
                let time = Timestamp(seconds: Int64(packet), nanoseconds: 0)
                if Int.random(in: 0..<400, using: &generator) == 0 {
                    one.missing(end - at, at: time, scratch: scratch, into: all)
                    other.missing(end - at, at: time, scratch: otherScratch, into: counted)
                } else {
                    let chunk = Array(bytes[at..<end])
                    one.receive(chunk.span.bytes, at: time, packet: packet, scratch: scratch, into: all)
                    let part = other.count(
                        chunk.span.bytes, at: time, packet: packet, by: counted.sieve, &counted.tally,
                        scratch: otherScratch)
                    alone += part.frames
                    if part.bytes < chunk.count {
                        _ = other.receive(
                            restOf: chunk.span.bytes, after: part, at: time, packet: packet, scratch: otherScratch,
                            into: counted)
                    } else {
                        #expect(part.held == one.heldMemory && part.held == other.heldMemory, "seed \(seed)")
                    }
                }
                #expect(one.position == other.position && one.heldBytes == other.heldBytes, "seed \(seed)")
                #expect(one.heldMemory == other.heldMemory, "seed \(seed)")
                #expect(all.unframed.count == counted.unframed.count, "seed \(seed)")
                at = end
            }
            one.finish(scratch: scratch, into: all)
            other.finish(scratch: otherScratch, into: counted)
            #expect(one.counts == other.counts, "seed \(seed)")
            #expect(all.seen == counted.seen, "seed \(seed)")
            #expect(all.unframed == counted.unframed && all.missing == counted.missing, "seed \(seed)")
            let (tally, others) = (all.tally, counted.tally)
            #expect(
                tally.split == others.split && tally.merged == others.merged && tally.heartbeats == others.heartbeats
                    && tally.faults[.badBody] == others.faults[.badBody], "seed \(seed)")
        }
        // Where constants are behind the first eight bytes, frames are not counted alone.
        #expect(number > 3 ? alone == 0 : alone > 20)
    }

    @Test func framesThatAreWantedAreNotCountedAlone() throws {
        let format = try Self.format(0)
        let kinds = FrameKinds(format, .fromClient)
        #expect(!FrameSieve(kinds, format, wanted: .all).countsAlone)
        let text = try #require(try BuiltInFormats.format(named: "im-json"))
        #expect(!FrameSieve(FrameKinds(text, .fromClient), text, wanted: .heartbeats).countsAlone)
    }
}
