import Streams
import Testing

@testable import Framing

/// The quick checks of what a search cannot find at the end of a stream.
@Suite struct ShortStreamTests {
    private func recognised() throws -> [Format] {
        try BuiltInFormats.allWithVariants() + ExampleFormats.recognised()
    }

    /// A head of each kind of field, with and without names and constants.
    private func rules() throws -> [any FramingRule] {
        let heads = [
            "[{ n: u16 }, { id: { type: u8, names: { 1: a, 2: b, 7: c } } }]",
            "[{ n: { type: u16, byteOrder: little } }, { f: { type: u8, bits: { 0: x, 1-3: { name: y, names: { 1: a } } } } }, { id: u32 }]",
            "[{ magic: { type: u8, equals: 3 } }, { n: u8 }, { kind: { type: i16, names: { 1: a } } }]",
            "[{ id: { type: string, size: 2, names: { ab: a } } }, { n: { type: u32, byteOrder: little } }]",
            "[{ n: { type: u16, equals: 0x9090 } }, { id: { type: u8, names: { 1: a } } }]",
            "[{ magic: { type: u16, equals: 0x9191 } }, { n: u16 }]",
            "[{ n: { type: u16, names: { 0: a, 9: b } } }, { id: { type: u8, names: { 1: a } } }]",
        ]
        let own = try heads.flatMap { head in
            try ["frame", "rest", "body"].map { counts in
                try FormatLoader.load(
                    "format: own\nheader: \(head)\nframing: { rule: length-field, field: n, counts: \(counts) }\n",
                    file: "own")
            }
        }
        return (own + (try composite()) + (try recognised())).flatMap {
            [$0.directions.fromClient.rule, $0.directions.fromServer.rule]
        }
    }

    /// Several kinds of frames, and several layouts.
    private func composite() throws -> [Format] {
        try ["oneOf", "alternatives"].map { key in
            try FormatLoader.load(
                """
                format: own
                framing: { rule: length-field, counts: body }
                \(key):
                  - header: [{ n: { type: u16, byteOrder: little } }, { kind: { type: u8, equals: [1, 2] } }]
                    framing: { rule: length-field, field: n, counts: body }
                  - header: [{ m: u8 }]
                    framing: { rule: length-field, field: m, counts: body }

                """, file: "own")
        }
    }

    private func bytes(using generator: inout SeededGenerator) -> [UInt8] {
        let most: UInt8 = [3, 9, 100, 255].randomElement(using: &generator) ?? 3
        let count = Int.random(in: 1...(Bool.random(using: &generator) ? 40 : 120), using: &generator)
        var bytes = (0..<count).map { _ in UInt8.random(in: 0...most, using: &generator) }
        // A length up to the end, in one byte, or in two.
        if Int.random(in: 0..<4, using: &generator) == 0 {
            let place = Bool.random(using: &generator) ? 0 : Int.random(in: 0..<count, using: &generator)
            bytes[place] = UInt8(count - place - 1)
        }
        return bytes
    }

    /// Frames with more evidence than their lengths suggest: of the kind that a search would not begin with, and with a constant length.
    private static let special: [[UInt8]] = [
        [100, 1, 9] + [UInt8](repeating: 7, count: 98), [0x90, 0x90, 1, 7, 7],
    ]

    private func places(
        in bytes: [UInt8], where rule: any FramingRule, fallsShortOf needed: NeededEvidence
    ) -> [Int] {
        bytes.indices.filter {
            rule.mayStart(bytes.span.bytes, at: $0) && rule.fallsShort(bytes.span.bytes, at: $0, of: needed)
        }
    }

    private func expectBroken(
        _ chain: inout FrameChain, _ rule: SharedRule, _ bytes: [UInt8], _ following: Following, _ seed: UInt64
    ) {
        let progress = chain.extend(rule, bytes.span.bytes, origin: 0, followedBy: following)
        guard case .broken = progress else {
            Issue.record("\(type(of: rule.rule).name) at \(chain.start) of \(bytes), seed \(seed): \(progress)")
            return
        }
    }

    /// Which of several layouts a stream has may take more bytes than a head.
    private func following(_ rule: any FramingRule) -> Following { rule is Alternatives ? .end : .more }

    /// Tries 60 streams of each rule.
    private func tryStreams(
        _ attempt: (_ rule: SharedRule, _ round: Int, _ generator: inout SeededGenerator, _ seed: UInt64) throws -> Void
    ) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for rule in try rules() {
            let shared = SharedRule.of(rule)
            for round in 0..<60 { try attempt(shared, round, &generator, seed) }
        }
    }

    @Test func whatFallsShortDoesNotChain() throws {
        var short = 0
        try tryStreams { rule, round, generator, seed in
            let isSpecial = round < Self.special.count
            let bytes = isSpecial ? Self.special[round] : bytes(using: &generator)
            let needed = Evidence.needed(places: isSpecial ? 1 : .random(in: 1...200, using: &generator))
            let bits = NeededEvidence(exempt: 0, ofLong: needed)
            for place in places(in: bytes, where: rule.rule, fallsShortOf: bits) {
                short += 1
                for following in [Following.end, .gap] {
                    var chain = FrameChain(
                        at: place, needed: needed, isFirst: place == 0, choices: 0, isHopefulPlace: true)
                    expectBroken(&chain, rule, bytes, following, seed)
                }
            }
        }
        #expect(short > 5_000)
    }

    /// Inside a long frame, chains do not wait for other long ones.
    @Test func longFramesThatFallShortDoNotChainInsideOthers() throws {
        var short = 0
        try tryStreams { rule, _, generator, seed in
            // The head of a long frame may be evidence enough.
            let head: [UInt8] = Bool.random(using: &generator) ? [0x91, 0x91, 0x20, 0x21] : []
            let bytes = head + bytes(using: &generator)
            let needed = Evidence.needed(places: .random(in: 1...200, using: &generator))
            let bits = NeededEvidence(ofLong: needed, longest: FrameChain.openingWindow)
            for place in places(in: bytes, where: rule.rule, fallsShortOf: bits) {
                short += 1
                var chain = FrameChain(at: place, needed: needed, choices: 0, isInside: true, isHopefulPlace: true)
                expectBroken(&chain, rule, bytes, following(rule.rule), seed)
            }
        }
        #expect(short > 500)
    }

    /// A search begins with no head that has less evidence than other data, however many bytes follow.
    @Test func headsWithoutEvidenceBeginNoChain() throws {
        var short = 0
        try tryStreams { rule, _, generator, seed in
            let bytes = bytes(using: &generator)
            // A chain waits for the end of a run of zeros.
            let ended = bytes + [1]
            for place in places(in: bytes, where: rule.rule, fallsShortOf: NeededEvidence(exempt: 0)) {
                short += 1
                #expect(place > 0)
                var chain = FrameChain(at: place, needed: 1_000, choices: 0, isHopefulPlace: true)
                expectBroken(&chain, rule, ended, following(rule.rule), seed)
            }
        }
        #expect(short > 5_000)
    }

    @Test func wholeFramesAreThoseThatFollowOneAnother() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var checked = 0
        for rule in try rules() {
            for _ in 0..<60 {
                let bytes = bytes(using: &generator)
                guard let frames = rule.wholeFrames(in: bytes.span.bytes) else { continue }
                checked += 1
                var rows: [Int] = []
                for start in bytes.indices {
                    var (at, row, memory) = (start, 0, ScanMemory())
                    memory.opening = nil
                    while at < bytes.count,
                        case .shape(let shape) = rule.scan(
                            bytes.span.bytes, from: at, origin: 0, ended: true, memory: &memory),
                        at + shape.total <= bytes.count
                    {
                        (at, row) = (at + shape.total, row + 1)
                    }
                    rows.append(row)
                }
                if rule is Delimiter {
                    // Where the first one starts is not known.
                    #expect(frames.fromStart == 0 && frames.inARow >= (rows.max() ?? 0) - 1, "seed \(seed): \(bytes)")
                } else {
                    #expect(frames.inARow == rows.max(), "seed \(seed): \(bytes)")
                    #expect(frames.fromStart == rows[0], "seed \(seed): \(bytes)")
                }
            }
        }
        #expect(checked > 500)
    }

    /// What is longer takes longer to check than a trial is worth.
    @Test func longStreamsAreNotChecked() throws {
        let rule = try #require(try BuiltInFormats.format(named: "len16-id")).directions.fromClient.rule
        #expect(rule.wholeFrames(in: [UInt8](repeating: 0, count: 1_024).span.bytes) != nil)
        #expect(rule.wholeFrames(in: [UInt8](repeating: 0, count: 1_025).span.bytes) == nil)
    }

    /// A frame may start with zeros: the last ones before another byte may be its head.
    @Test func aRunOfZerosIsPassedUpToItsLast() throws {
        let format = try FormatLoader.load(
            """
            format: own
            header: [{ n: u32 }]
            framing: { rule: length-field, field: n, counts: rest }

            """, file: "own")
        let bytes = [UInt8](repeating: 0, count: 300) + [1]
        let place = SharedRule.of(format.directions.fromClient.rule).firstHopeful(bytes.span.bytes, from: 0)
        #expect(place == 300 - (FrameChain.zeroRun - 1))
    }
}
