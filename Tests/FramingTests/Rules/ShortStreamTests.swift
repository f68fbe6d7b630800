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
        ]
        let own = try heads.flatMap { head in
            try ["frame", "rest", "body"].map { counts in
                try FormatLoader.load(
                    "format: own\nheader: \(head)\nframing: { rule: length-field, field: n, counts: \(counts) }\n",
                    file: "own")
            }
        }
        return (own + (try recognised())).flatMap { [$0.directions.fromClient.rule, $0.directions.fromServer.rule] }
    }

    private func bytes(using generator: inout SeededGenerator) -> [UInt8] {
        let most: UInt8 = [3, 9, 100, 255].randomElement(using: &generator) ?? 3
        return (0..<Int.random(in: 1...40, using: &generator)).map { _ in .random(in: 0...most, using: &generator) }
    }

    @Test func whatFallsShortDoesNotChain() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var short = 0
        for rule in try rules() {
            let shared = SharedRule.of(rule)
            for _ in 0..<60 {
                let bytes = bytes(using: &generator)
                let needed = Evidence.needed(places: Int.random(in: 1...200, using: &generator))
                for place in bytes.indices
                where rule.mayStart(bytes.span.bytes, at: place)
                    && rule.fallsShort(bytes.span.bytes, at: place, of: needed)
                {
                    short += 1
                    for following in [Following.end, .gap] {
                        var chain = FrameChain(
                            at: place, needed: needed, isFirst: place == 0, choices: 0, isHopefulPlace: true)
                        let progress = chain.extend(shared, bytes.span.bytes, origin: 0, followedBy: following)
                        guard case .broken = progress else {
                            Issue.record("\(type(of: rule).name) at \(place) of \(bytes), seed \(seed): \(progress)")
                            continue
                        }
                    }
                }
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
}
