import Framing
import Streams
import Testing

/// What a search waits for, and when it waits no longer.
@Suite struct ResynchronisationWaitTests {
    private static let yaml =
        "header: [{ mark: { type: u16, equals: 0xabcd } }, { n: u24 }]\nframing: { rule: length-field, field: n, counts: frame }"
    /// A frame of 25 bytes.
    private static let message: [UInt8] = [0xab, 0xcd, 0, 0, 25] + [UInt8](repeating: 0x77, count: 20)
    /// Other bytes, then what could be the head of a frame of 16 KiB.
    private static let falseHead = [UInt8](repeating: 0x11, count: 10) + [0xab, 0xcd, 0, 0x40, 0]

    private func rule() throws -> any FramingRule {
        try FormatLoader.load("format: x\n" + Self.yaml, file: "x.yaml").directions.fromClient.rule
    }

    private func messages(_ count: Int) -> [UInt8] { (0..<count).flatMap { _ in Self.message } }

    /// What looks like the head of a longer frame is held until a gap shows that its end is not to be seen.
    @Test func framesBetweenTwoGapsAreFound() throws {
        let rule = try rule()
        // The first gap is in a head, of which the last bytes are seen.
        let before = Self.message + Self.message + [0xab, 0xcd]
        let between = Self.falseHead + messages(10)
        let gap = before.count..<before.count + 1
        let first = gap.upperBound + Self.falseHead.count
        let end = gap.upperBound + between.count
        let expected = [0, 25] + (0..<10).map { first + 25 * $0 } + [end + 9, end + 34]
        for cuts in [[], [3], [Self.falseHead.count], Array(1..<between.count)] as [[Int]] {
            let pieces: [Piece] =
                [.bytes(before), .gap(1)] + cut(between, at: cuts) + [.gap(9), .bytes(messages(2))]
            let (log, counts) = frame(pieces, with: rule)
            #expect(log.frames.map(\.offset) == expected, "cut at \(cuts)")
            #expect(counts.missing == 10 && counts.unframed == 2 + Self.falseHead.count)
        }
    }

    /// Frames inside the long frame that a stream seems to have begun with are shown before that would end.
    @Test func framesAreShownBeforeAFalseOneEnds() throws {
        final class Count: FrameReceiver {
            var frames = 0
            func framed(_ frame: FrameInfo, bytes: RawSpan, from direction: Direction) { frames += 1 }
            func unframed(_ run: UnframedRun, from direction: Direction) {}
            func missing(offset: Int, byteCount: Int, from direction: Direction, at time: Timestamp) {}
        }
        let rule = try rule()
        let bytes = Self.falseHead + messages(30)
        for step in [1, 100, bytes.count] {
            let (shown, scratch) = (Count(), FramingScratch())
            var framer = Framer(rule: rule, direction: .fromClient, aligned: false)
            for start in stride(from: 0, to: bytes.count, by: step) {
                let chunk = Array(bytes[start..<min(start + step, bytes.count)])
                framer.receive(
                    chunk.span.bytes, at: Timestamp(nanoseconds: 0), packet: 1, scratch: scratch, into: shown)
            }
            #expect(shown.frames == 30, "in chunks of \(step)")
        }
        expectCuttingDoesNotMatter(bytes, rule: rule, aligned: false)
    }

    /// Candidates for long frames, true and false ones, and garbage: the frames found depend on the bytes alone.
    @Test func anyCuttingOfLongFramesGivesTheSame() throws {
        let rule = try rule()
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<4 {
            var bytes = [UInt8](repeating: 0x11, count: Int.random(in: 0...600, using: &generator))
            for _ in 0..<6 {
                switch Int.random(in: 0...3, using: &generator) {
                case 0: bytes += [0xab, 0xcd, 0, UInt8.random(in: 0x10...0x20, using: &generator), 9]
                case 1: bytes += messages(Int.random(in: 1...3, using: &generator))
                case 2: bytes += [0xab, 0xcd, 0, 0x10, 20] + [UInt8](repeating: 0x33, count: 4_111)
                default:
                    bytes += (0..<Int.random(in: 1...900, using: &generator)).map { _ in
                        UInt8.random(in: 0...255, using: &generator)
                    }
                }
            }
            expectCuttingDoesNotMatter(bytes, rule: rule, aligned: false, seed: seed, everyPosition: false)
        }
    }

    /// The rest of a false long frame, in which others chain, and what shows that it is false may come together.
    @Test func whatIsInsideComesFirstWhereverTheEndCameFrom() throws {
        let rule = try rule()
        let long: [UInt8] = [0xab, 0xcd, 0, 0x10, 20] + [UInt8](repeating: 0x33, count: 4_111)
        let bytes =
            [UInt8](repeating: 0x11, count: 184) + [0xab, 0xcd, 0, 0x13, 9] + long + messages(2)
            + [UInt8](repeating: 0x55, count: 1_000)
        let whole = frame([.bytes(bytes)], with: rule, aligned: false)
        for cut in stride(from: 1, to: bytes.count, by: 97) {
            let (log, counts) = frame(
                [.bytes(Array(bytes[..<cut])), .bytes(Array(bytes[cut...]))], with: rule, aligned: false)
            #expect(log.results == whole.log.results && counts == whole.counts, "cut at \(cut)")
        }
    }

    /// A long frame that is one is not given up for its body, whose bytes do not chain.
    @Test func aLongFrameIsWaitedFor() throws {
        let rule = try rule()
        let long: [UInt8] = [0xab, 0xcd, 0, 0x40, 0] + [UInt8](repeating: 0x33, count: 0x4000 - 5)
        let bytes = [UInt8](repeating: 0x11, count: 10) + long + Self.message
        let (log, counts) = frame(
            cut(bytes, at: Array(stride(from: 50, to: bytes.count, by: 1_000))), with: rule, aligned: false)
        #expect(log.frames.map(\.length) == [0x4000, 25] && counts.unframed == 10)
    }
}
