import Framing
import Streams
import Testing

/// Resynchronisation: after bad bytes, after a gap, and in streams that are picked up mid-stream.
@Suite struct ResynchronisationTests {
    static let ldap = """
        framing: { rule: length-field, field: length }
        oneOf:
        - header: [{ tag: { type: u8, equals: 0x30 } }, { length: { type: u8, bits: { 7: { name: long, equals: 0 } } } }]
        - header: [{ tag: { type: u8, equals: 0x30 } }, { form: { type: u8, equals: 0x81 } }, { length: u8 }]
        - header: [{ tag: { type: u8, equals: 0x30 } }, { form: { type: u8, equals: 0x84 } }, { length: u32 }]
        """
    static let resp = """
        framing: { rule: delimiter, end: "\\r\\n" }
        oneOf:
        - { header: [{ kind: { type: char, equals: "$" } }, { n: { type: decimal, ends: "\\r\\n" } }], framing: { rule: length-field, field: n, ends: "\\r\\n", negative: empty } }
        - header: [{ kind: { type: char, equals: "*" } }]
        - header: [{ kind: { type: char, equals: "+" } }]
        """
    static let handshake = """
        first: { header: [{ name: { type: string, size: 9, equals: "handshake" } }], framing: { rule: fixed, size: 12 } }
        oneOf:
        - { name: idle, header: [{ n: { type: u32, equals: 0 } }] }
        - header: [{ n: u32 }, { type: { type: u8, names: { 1: a, 2: b, 3: c } } }]
        framing: { rule: length-field, field: n, counts: rest }
        """
    static let plain = "header: [{ n: u16 }, { t: u8 }]\nframing: { rule: length-field, field: n, counts: rest }"

    private func rule(_ yaml: String) throws -> any FramingRule {
        try FormatLoader.load("format: x\n" + yaml, file: "x.yaml").directions.fromClient.rule
    }

    private static func message(_ index: Int, _ generator: inout SeededGenerator) -> [UInt8] {
        let body = (0..<Int.random(in: 3...90, using: &generator)).map { _ in
            UInt8.random(in: 0...255, using: &generator)
        }
        switch index {
        case 0:
            switch Int.random(in: 0...2, using: &generator) {
            case 0: return [0x30, UInt8(body.count)] + body
            case 1: return [0x30, 0x81, UInt8(body.count)] + body
            default: return [0x30, 0x84, 0, 0, 0, UInt8(body.count)] + body
            }
        case 1:
            if body.count < 30 { return Array("*\(body.count)\r\n".utf8) }
            return Array("$\(body.count)\r\n".utf8) + body + [0x0d, 0x0a]
        case 2: return [0, 0, 0, UInt8(body.count + 1), UInt8.random(in: 1...3, using: &generator)] + body
        default: return [0, UInt8(body.count + 1), UInt8.random(in: 1...4, using: &generator)] + body
        }
    }

    /// A byte is inserted, or some bytes are lost, or the beginning is: all but the next few frames are found, and none is
    /// invented.
    @Test(arguments: 0..<4)
    func framesAreFoundAgain(index: Int) throws {
        let rule = try rule([Self.ldap, Self.resp, Self.handshake, Self.plain][index])
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var (lost, invented, rounds) = (0, 0, 0)
        for round in 0..<120 {
            let messages = (0..<40).map { _ in Self.message(index, &generator) }
            let bytes = Array(messages.joined())
            var starts: [Int] = []
            var offset = 0
            for message in messages {
                starts.append(offset)
                offset += message.count
            }
            let at = starts[Int.random(in: 2...8, using: &generator)]
            var pieces: [Piece]
            let shift: Int
            var isAligned = index != 2
            // With a two-byte length and nothing else, a stray byte is as plausible a length as any.
            switch index == 3 ? 1 + round % 2 : round % 3 {
            case 0:
                (pieces, shift) = ([.bytes(Array(bytes[..<at]) + [0xee] + Array(bytes[at...]))], 1)
            case 1:
                let end = at + Int.random(in: 1...200, using: &generator)
                (pieces, shift) = (
                    [.bytes(Array(bytes[..<at])), .gap(end - at), .bytes(Array(bytes[end...]))], 0
                )
            default:
                let cut = at + Int.random(in: 0...200, using: &generator)
                (pieces, shift, isAligned) = ([.bytes(Array(bytes[cut...]))], -cut, false)
            }
            let (log, _) = frame(pieces, with: rule, aligned: isAligned)
            let found = Set(log.frames.map { $0.offset - shift })
            // From the fourth frame on, after 200 bytes.
            let later = starts.filter { $0 > at + 200 }.dropFirst(4)
            rounds += 1
            if !later.allSatisfy({ found.contains($0) }) { lost += 1 }
            let true_ = Set(starts).union(starts.map { $0 - shift }).union(starts.map { $0 + 1 })
            if log.frames.contains(where: { !true_.contains($0.offset - shift) && !true_.contains($0.offset) }) {
                invented += 1
            }
        }
        // Evidence is not proof: occasionally other bytes look like a frame.
        #expect(lost * 50 <= rounds && invented * 20 <= rounds, "lost \(lost), invented \(invented), seed \(seed)")
    }

    @Test func aStrayByteCostsItselfOnly() throws {
        let one: [UInt8] = [0x30, 3, 1, 2, 3]
        let other: [UInt8] = [0x30, 0x81, 4, 1, 2, 3, 4]
        let bytes = one + other + [0xee] + one + other + one + other
        let (log, counts) = frame([.bytes(bytes)], with: try rule(Self.ldap))
        #expect(log.frames.map(\.offset) == [0, 5, 13, 18, 25, 30] && counts.unframed == 1)
        guard case .unframed(12, _, .badHead, let detail)? = log.results.dropFirst(2).first else {
            Issue.record("\(log.results)")
            return
        }
        #expect(detail.contains("kind 1: tag is not 0x30; kind 2: tag is not 0x30"), "\(detail)")
        #expect(detail.contains("resynchronized at offset 13: ") && detail.contains(" bits of evidence"), "\(detail)")
    }

    @Test func aStreamPickedUpAtAFrameLosesNothing() throws {
        let bytes = Array("*2\r\n$3\r\nGET\r\n$1\r\nx\r\n+OK\r\n".utf8)
        let (log, counts) = frame([.bytes(bytes)], with: try rule(Self.resp), aligned: false)
        #expect(log.frames.map(\.offset) == [0, 4, 13, 20] && counts.unframed == 0)
        expectCuttingDoesNotMatter(bytes, rule: try rule(Self.resp), aligned: false)
    }

    /// A single frame whose values the format does not name is a whole stream: it explains every byte.
    @Test func aStreamThatIsOneWholeFrameIsOne() throws {
        let named = "header: [{ n: u16 }, { id: { type: u16, names: { 1: a } } }, { f: u8 }]"
        let rule = try rule(named + "\nframing: { rule: length-field, field: n, counts: rest }")
        for id in [UInt8(0), 1, 77] {
            let bytes = [0, 43, 0, id, 0] + (0..<40).map { UInt8($0 + 40) }
            let (log, counts) = frame([.bytes(bytes)], with: rule, aligned: false)
            #expect(log.frames.map(\.length) == [45] && counts.unframed == 0, "id \(id)")
            expectCuttingDoesNotMatter(bytes, rule: rule, aligned: false)
            // With one more byte it does not, and only the name is left as evidence.
            let (more, _) = frame([.bytes(bytes + [9])], with: rule, aligned: false)
            #expect(more.frames.isEmpty == (id != 1), "id \(id)")
        }
    }

    /// Whatever the first frames of a stream are, none is lost if it is picked up at the first.
    @Test func aStreamPickedUpAtFramesWithoutNamesLosesNone() throws {
        let named = "header: [{ n: u16 }, { id: { type: u16, names: { 1: a, 3: b } } }, { f: u8 }]"
        let rule = try rule(named + "\nframing: { rule: length-field, field: n, counts: rest }")
        for first in 0..<6 {
            let bytes: [UInt8] = (0..<200).flatMap { index -> [UInt8] in
                [0, 43, 0, UInt8((first + index) % 6), 0] + [UInt8](repeating: UInt8(97 + index % 26), count: 40)
            }
            let (log, counts) = frame([.bytes(bytes)], with: rule, aligned: false)
            #expect(log.frames.count == 200 && counts.unframed == 0, "first id \(first)")
            expectCuttingDoesNotMatter(Array(bytes[..<900]), rule: rule, aligned: false)
        }
    }

    /// Few streams of other bytes are treated as one frame, however short they are.
    @Test func otherBytesAreSeldomOneWholeFrame() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for yaml in [Self.plain, Self.ldap, Self.handshake, Self.resp] {
            let rule = try rule(yaml)
            var taken = 0
            for _ in 0..<2_000 {
                // Half of them are text, or numbers with many zeros.
                let kind = Int.random(in: 0..<4, using: &generator)
                let bytes = (0..<Int.random(in: 5...60, using: &generator)).map { _ in
                    switch kind {
                    case 0: UInt8.random(in: 0x20...0x7e, using: &generator)
                    case 1: Bool.random(using: &generator) ? 0 : UInt8.random(in: 0...40, using: &generator)
                    default: UInt8.random(in: 0...255, using: &generator)
                    }
                }
                let (log, _) = frame([.bytes(bytes)], with: rule, aligned: false)
                if !log.frames.isEmpty { taken += 1 }
            }
            #expect(taken <= 60, "\(taken) of 2,000, seed \(seed): \(yaml)")
        }
    }

    @Test func theFirstFrameIsTriedWhereAStreamIsPickedUp() throws {
        let message: [UInt8] = [0, 0, 0, 3, 1, 9, 9]
        let bytes = Array("handshakexyz".utf8) + message + message
        let (log, counts) = frame([.bytes(bytes)], with: try rule(Self.handshake), aligned: false)
        #expect(log.frames.map(\.length) == [12, 7, 7] && counts.unframed == 0)
        expectCuttingDoesNotMatter(bytes, rule: try rule(Self.handshake), aligned: false)
    }

    /// Zeros would be a sequence of empty frames.
    @Test(arguments: [handshake, plain, ldap, "header: [{ n: u16 }]\nframing: { rule: length-field, field: n }"])
    func zerosAfterAGapAreNoFrames(yaml: String) throws {
        let (log, counts) = frame([.gap(10), .bytes([UInt8](repeating: 0, count: 3_000))], with: try rule(yaml))
        #expect(log.frames.isEmpty && counts.unframed == 3_000)
    }

    /// The farther away a position is, the more evidence it needs.
    @Test func evidenceGrowsWithThePlacesTried() throws {
        let rule = try rule(Self.plain)
        let message: [UInt8] = [0, 21] + (0..<21).map { UInt8($0 + 40) }
        func heads(after garbage: Int) -> Int? {
            let bytes = [UInt8](repeating: 0xff, count: garbage) + Array((0..<30).flatMap { _ in message })
            let (log, _) = frame([.gap(1), .bytes(bytes)], with: rule)
            guard (log.frames.first?.offset ?? 0) > garbage else { return nil }
            for case .unframed(_, _, .afterGap, let detail) in log.results {
                let words = detail.split(separator: " ")
                return words.firstIndex(of: "heads").flatMap { Int(words[$0 - 1]) }
            }
            return nil
        }
        let (near, far) = (heads(after: 3), heads(after: 3_000))
        #expect(near.map { $0 >= 2 } == true && far.map { $0 > near ?? 0 } == true, "\(near ?? -1), \(far ?? -1)")
    }

    /// The CR of a terminator is the last byte at hand, after the positions that are tried whatever precedes them.
    @Test func whatEndsAFrameMayBeCut() throws {
        let bytes = Array("xx*23\r\n\r\n\r\n$7\r\n".utf8)
        expectCuttingDoesNotMatter(bytes, rule: try rule(Self.resp), aligned: false)
    }

    /// A run of zeros starts no frame, although each is the constant that a frame starts with.
    @Test func zerosThatComePieceByPieceAreNoFrames() throws {
        let rule = try rule("header: [{ mark: { type: u8, equals: 0 } }]\nframing: { rule: fixed, size: 2 }")
        let frames = Array((0..<8).flatMap { [0, $0 + 1] as [UInt8] })
        let bytes = [0xee] + [UInt8](repeating: 0, count: 400) + frames
        expectCuttingDoesNotMatter(bytes, rule: rule, aligned: false, everyPosition: false)
    }

    /// A frame whose end is beyond the search window counts neither whole nor in pieces.
    @Test func anEndBeyondTheWindowIsNotWaitedFor() throws {
        let rule = try rule(
            "header: [{ mark: { type: string, size: 3, equals: abc } }]\nframing: { rule: delimiter, end: \"\\n\" }")
        let text = [UInt8](repeating: UInt8(ascii: "t"), count: 66_000)
        let bytes = Array("abc".utf8) + text + Array("\nabcone\nabctwo\n".utf8)
        let whole = frame([.bytes(bytes)], with: rule, aligned: false)
        let pieces = frame(cut(bytes, at: [65_000, 65_600, 65_900]), with: rule, aligned: false)
        #expect(whole.log.results == pieces.log.results && whole.log.frames.map(\.offset) == [66_004, 66_011])
    }

    @Test(arguments: ["\\r\\n", "##"])
    func aHeadIsReadToItsEnd(delimiter: String) throws {
        let rule = try rule(
            """
            framing: { rule: head-and-body, head: json, ends: "\(delimiter)", size: size }
            """)
        let end = delimiter == "##" ? "##" : "\r\n"
        let good = "{\"size\":3}\(end)abc"
        let bytes = Array("x{\"size\":2,\"a\":?}\(end)ab\(good)\(good)".utf8)
        let (log, _) = frame([.bytes(bytes)], with: rule, aligned: false)
        #expect(log.frames.map(\.length) == [good.utf8.count, good.utf8.count])
        expectCuttingDoesNotMatter(bytes, rule: rule, aligned: false)
    }

    @Test func anyCuttingOfGarbageGivesTheSame() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for index in 0..<4 {
            let rule = try rule([Self.ldap, Self.resp, Self.handshake, Self.plain][index])
            for round in 0..<8 {
                var bytes: [UInt8] = []
                for _ in 0..<8 {
                    let count = Int.random(in: 1...30, using: &generator)
                    bytes +=
                        Bool.random(using: &generator)
                        ? (0..<count).map { _ in
                            [0, 0, 0x30, 0x0d, 0x0a, 0x2b, 3, 0x81].randomElement(using: &generator) ?? 0
                        }
                        : Self.message(index, &generator)
                }
                expectCuttingDoesNotMatter(
                    bytes, rule: rule, aligned: round % 2 == 0, seed: seed, everyPosition: round == 0)
            }
        }
    }

    /// A run's time is that of its last byte, although it is known only later that no frame starts there.
    @Test func theTimeOfAnUnframedRunIsThatOfItsLastByte() throws {
        final class Runs: FrameReceiver {
            var times: [Timestamp] = []
            func framed(_ frame: FrameInfo, bytes: RawSpan, from direction: Direction) {}
            func unframed(_ run: UnframedRun, from direction: Direction) { times.append(run.time) }
            func missing(offset: Int, byteCount: Int, from direction: Direction, at time: Timestamp) {}
        }
        let (runs, scratch) = (Runs(), FramingScratch())
        var framer = Framer(rule: try rule(Self.ldap), direction: .fromClient, aligned: true)
        // A possible head is held until the third chunk shows that it is not one.
        let chunks: [[UInt8]] = [[0xee], [0x30, 2], [0x30, 1, 1, 0x30, 1, 2, 0x30, 1, 3, 0x30, 1, 4]]
        for (index, chunk) in chunks.enumerated() {
            let time = Timestamp(seconds: Int64(index + 1), nanoseconds: 0)
            framer.receive(chunk.span.bytes, at: time, packet: 1, scratch: scratch, into: runs)
        }
        framer.finish(scratch: scratch, into: runs)
        #expect(framer.counts.unframed == 3)
        #expect(runs.times.last == Timestamp(seconds: 2, nanoseconds: 0), "\(runs.times)")
    }
}
