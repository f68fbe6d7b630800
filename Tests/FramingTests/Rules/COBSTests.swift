import Framing
import Streams
import Testing

/// The rule `cobs`.
@Suite struct COBSTests {
    private func rule(_ more: String = "") throws -> any FramingRule {
        try FormatLoader.load("format: x\n\(more)\nframing: { rule: cobs, limit: 4 KiB }", file: "x.yaml")
            .directions.fromClient.rule
    }

    /// What one frame decodes to, and its parts; nil if the bytes are not one frame.
    private func decoded(_ frame: [UInt8], _ rule: any FramingRule) -> (bytes: [UInt8], shape: FrameShape)? {
        var memory = ScanMemory()
        let scan = rule.scan(frame.span.bytes, from: 0, origin: 0, ended: false, memory: &memory)
        guard case .shape(let shape) = scan, shape.total == frame.count else { return nil }
        return rule.content(of: frame.span.bytes, shape)
    }

    /// Contents, and the frames that they are: Cheshire and Baker's encoding, as its published examples have it.
    private static let examples: [(content: [UInt8], frame: [UInt8])] = [
        ([], [1, 0]),
        ([0], [1, 1, 0]),
        ([0, 0], [1, 1, 1, 0]),
        ([0, 0x11, 0], [1, 2, 0x11, 1, 0]),
        ([0x11, 0x22, 0, 0x33], [3, 0x11, 0x22, 2, 0x33, 0]),
        ([0x11, 0x22, 0x33, 0x44], [5, 0x11, 0x22, 0x33, 0x44, 0]),
        ([0x11, 0, 0, 0], [2, 0x11, 1, 1, 1, 0]),
        (Array(1...254), [255] + Array(1...254) + [0]),
        ([0] + Array(1...254), [1, 255] + Array(1...254) + [0]),
        (Array(1...255), [255] + Array(1...254) + [2, 255, 0]),
        (Array(2...255) + [0], [255] + Array(2...255) + [1, 1, 0]),
        (Array(3...255) + [0, 1], [254] + Array(3...255) + [2, 1, 0]),
    ]

    @Test(arguments: examples.indices) func publishedExamples(index: Int) throws {
        let (content, frame) = Self.examples[index]
        let rule = try rule()
        #expect(try rule.encode(FrameParts(head: [], body: content)) == frame)
        #expect(decoded(frame, rule)?.bytes == content)
    }

    @Test func whatIsEncodedIsDecoded() throws {
        let rule = try rule()
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let zeros = Double.random(in: 0...0.2, using: &generator)
            let content = (0..<Int.random(in: 0...1_100, using: &generator)).map { _ in
                Double.random(in: 0...1, using: &generator) < zeros ? 0 : UInt8.random(in: 1...255, using: &generator)
            }
            let frame = try rule.encode(FrameParts(head: [], body: content))
            #expect(frame.count <= content.count + max(1, (content.count + 253) / 254) + 1, "seed \(seed)")
            #expect(frame.dropLast().allSatisfy { $0 != 0 }, "seed \(seed)")
            #expect(decoded(frame, rule)?.bytes == content, "seed \(seed)")
        }
    }

    /// Senders may write a code for the end of a full group, which says nothing.
    @Test func aCodeAfterAFullGroupIsNoZero() throws {
        let frame: [UInt8] = [255] + Array(1...254) + [1, 0]
        #expect(decoded(frame, try rule())?.bytes == Array(1...254))
    }

    /// Header and trailer are those of the decoded bytes.
    @Test func headerAndTrailerAreDecoded() throws {
        let rule = try rule("header: [{ kind: { type: u8, equals: 0 } }, { n: u16 }]\ntrailer: [{ check: u8 }]")
        let frame = try rule.encode(FrameParts(head: [0, 0, 7], body: [0x61, 0], trailer: [9]))
        #expect(frame == [1, 1, 3, 7, 0x61, 2, 9, 0])
        let content = try #require(decoded(frame, rule))
        #expect((content.shape.head, content.shape.body, content.shape.tail) == (3, 2, 1))
        let trailerAlone = try self.rule("trailer: [{ check: u8 }]")
        let last = try #require(
            decoded(try trailerAlone.encode(FrameParts(head: [], body: [5], trailer: [9])), trailerAlone))
        #expect((last.shape.head, last.shape.body, last.shape.tail) == (0, 1, 1))
    }

    /// Where kinds of frames end differently, a zero says nothing of bytes that are none of them.
    @Test func aZeroEndsNoFrameOfAnotherKind() throws {
        let kinds = try FormatLoader.load(
            """
            format: x
            oneOf:
              - { name: a, header: [{ k: { type: u8, equals: 1 } }], framing: { rule: cobs } }
              - { name: b, header: [{ k: { type: u8, equals: 2 } }, { n: u8 }], framing: { rule: length-field, field: n } }
            """, file: "x.yaml")
        let (log, _) = frame([.bytes([5, 9, 9, 9, 9, 0, 9, 9, 9])], with: kinds.directions.fromClient.rule)
        #expect(log.frames.isEmpty)
        guard case .unframed(_, _, let reason, _)? = log.results.last else {
            Issue.record("\(log.results)")
            return
        }
        #expect(reason == .noSync)
    }

    /// Each fault costs the frame that has it, and no other one. Zeros between frames are padding.
    @Test func faults() throws {
        let rule = try rule("header: [{ kind: { type: u8, equals: 7 } }]")
        let good: [UInt8] = [2, 7, 0]
        for (bad, detail) in [
            ([9, 7, 1, 0], "a code of the frame at offset 5 reaches beyond the zero that ends it"),
            ([2, 8, 0], "kind is not 7 (frame at offset 5)"),
            ([1, 0], "the frame is shorter than its header (frame at offset 5)"),
        ] as [([UInt8], String)] {
            let (log, counts) = frame([.bytes([0, 0] + good + bad + good + [0])], with: rule)
            #expect(log.frames.count == 2)
            #expect((counts.framed, counts.padding, counts.unframed) == (6, 3, bad.count))
            #expect(
                log.results.contains(.unframed(offset: 5, bytes: bad, reason: .badHead, detail: detail)),
                "\(log.results)")
        }
        let long = [UInt8](repeating: 1, count: 5_000)
        let (log, counts) = frame([.bytes(good + long + [0] + good)], with: rule)
        #expect(log.frames.count == 2 && counts.unframed == 5_001)
    }
}
