import Framing
import Streams
import TestSupport
import Testing

@testable import Interception

/// Bytes that pass as they are need not be copied: what comes of that is what comes of taking them as an event.
@Suite struct PassingTests {
    private static let rules = [
        "drop: length > 200", "drop: body.length > 3 and index % 3 == 1", "drop: all; nth: 3", "drop: all; once: true",
        "delay: 5 ms; every: 4", "replace: { body: { text: x } }; when: segments > 1", "swap: merged",
        "hold: heartbeat; for: 20 ms", "segment: every-byte; probability: 0.1", "segment: merge 2",
        "duplicate: all; after: index == 5; times: 2", "inject: 0x780a; probability: 0.1", "drop: type == \"none\"",
        "drop: nth == 4", "delay: 3 ms; overtaken: true; probability: 0.2", "drop: all; window: 10 ms to 20 ms",
        "latency: 2 ms", "truncate: 1; when: index == 30", "hold: index == 2; until: from == server",
        "hold: index == 3; from: server; until: from == client and index > 4",
    ]

    @Test(arguments: BuiltInFormats.names) func passingIsTaking(_ name: String) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let (format, pieces) = try Conversations.of(name)
        let all = Self.rules + Self.typedRules(format, pieces)
        var untouched = 0
        for round in 0..<50 {
            let place = Comment(rawValue: "seed \(seed), round \(round)")
            let texts = all.shuffled(using: &generator).prefix(Int.random(in: 1...2, using: &generator))
            // Not every rule suits every format.
            let rules = texts.compactMap { try? RuleFile.rule($0, number: 1, format: format) }
            let set = RuleSet(rules, seed: seed)
            guard var passing = set.stages(of: 1, format: format), var taking = set.stages(of: 1, format: format) else {
                continue
            }
            var now = Timestamp(nanoseconds: 1_000)
            #expect(passing.take(.began, at: now) == taking.take(.began, at: now), place)
            for piece in Self.cut(pieces, &generator) {
                let expected = taking.take(.bytes(piece.bytes, piece.direction), at: now)
                let outputs = passing.pass(piece.bytes.span.bytes, piece.direction, at: now)
                if outputs == nil { untouched += 1 }
                #expect(outputs ?? [.write(piece.bytes, piece.direction)] == expected, "\(place): \(texts)")
                for direction in Direction.allCases {
                    #expect(passing.heldBytes(direction) == taking.heldBytes(direction), "\(place): \(texts)")
                }
                now = now + .milliseconds(Int64.random(in: 0..<4, using: &generator))
                while let wake = taking.nextWake, wake <= now {
                    #expect(passing.nextWake == wake, "\(place): \(texts)")
                    #expect(passing.take(.wake, at: wake) == taking.take(.wake, at: wake), "\(place): \(texts)")
                }
            }
            for direction in Direction.allCases {
                #expect(
                    passing.take(.end(.fin, direction), at: now) == taking.take(.end(.fin, direction), at: now), place)
            }
        }
        // Where a frame of this format ends, what follows it decides.
        #expect(untouched > 0 || name == "marker", "seed \(seed)")
    }

    /// Rules whose conditions are decided by the types of the frames there are, for some of them.
    private static func typedRules(_ format: Format, _ pieces: [Conversations.Piece]) -> [String] {
        var types: Set<String> = []
        for direction in Direction.allCases {
            let side = format.directions[direction]
            for frame in Framed(pieces.filter { $0.direction == direction }.flatMap(\.bytes), direction, format).frames
            {
                let type = side.withContent(of: frame.bytes.span.bytes, frame.info.shape) { side.type(of: $0, $1) }
                if let type { types.insert(type.debugDescription) }
            }
        }
        let last = types.max() ?? ""
        return types.sorted().flatMap { type in
            [
                "drop: type == \(type) and length > 20", "drop: type == \(type); from: client",
                "duplicate: type != \(type) and index < 9; from: server",
                "swap: all; after: type == \(type) and index > 3",
                "duplicate: type == \(type); after: type == \(last) and index > 0",
                "drop: type == \(type) or index == 7", "delay: 2 ms; when: type == \(type) and from == server",
            ]
        } + [
            "drop: heartbeat and index > 2", "delay: 3 ms; when: not heartbeat and length > 9",
            "drop: type exists and index == 4",
        ]
    }

    /// Bytes that are no frame, and end where the next one starts, are not held until it comes.
    @Test(
        arguments: [
            ("{ rule: cobs }", [2, 9, 0]), ("{ rule: escaped, end: 0xc0, escape: 0xdb }", [9, 0xc0]),
        ] as [(String, [UInt8])])
    func aBadFrameIsNotHeld(framing: String, bad: [UInt8]) throws {
        let text = "format: x\nheader: [{ kind: { type: u8, equals: 1 } }]\nframing: \(framing)"
        let format = try FormatLoader.load(text, file: "x.yaml")
        let now = Timestamp(nanoseconds: 1_000)
        let rule = try RuleFile.rule("drop: length > 200", number: 1, format: format)
        var chains = [
            try #require(RuleSet([rule], seed: 1).stages(of: 1, format: format)),
            StageChain([BreakStage(["length > 200"], format, largest: 1_000)]),
        ]
        for index in chains.indices {
            _ = chains[index].take(.began, at: now)
            let writes = chains[index].take(.bytes(bad, .fromClient), at: now).filter(\.isWrite)
            #expect(writes == [.write(bad, .fromClient)], "chain \(index)")
        }
    }

    /// A frame that no rule selects may be what the other side waits for.
    @Test func whatEndsAHoldIsNotPassedAsItIs() throws {
        let format = try #require(try BuiltInFormats.format(named: "line"))
        let rule = try RuleFile.rule("hold: body.text == \"stop\"; until: from == server", number: 1, format: format)
        var chain = try #require(RuleSet([rule], seed: 1).stages(of: 1, format: format))
        let (stop, go, now) = (Array("stop\n".utf8), Array("go\n".utf8), Timestamp(nanoseconds: 1_000))
        _ = chain.take(.began, at: now)
        let first = chain.pass(stop.span.bytes, .fromClient, at: now)
        let held = try #require(first)
        #expect(!held.contains(where: \.isWrite) && chain.heldBytes(.fromClient) == stop.count)
        let second = chain.pass(go.span.bytes, .fromServer, at: now)
        let writes = try #require(second).filter(\.isWrite)
        #expect(writes == [.write(stop, .fromClient), .write(go, .fromServer)], "\(writes)")
        #expect(chain.heldBytes(.fromClient) == 0)
        let next = chain.pass(go.span.bytes, .fromServer, at: now)
        #expect(next == nil, "nothing waits any more")
    }

    /// Mostly as it was sent; now and then in other pieces.
    private static func cut(
        _ pieces: [Conversations.Piece], _ generator: inout SeededGenerator
    ) -> [Conversations.Piece] {
        pieces.prefix(200).flatMap { piece -> [Conversations.Piece] in
            guard piece.bytes.count > 1, Int.random(in: 0..<5, using: &generator) == 0 else { return [piece] }
            let place = Int.random(in: 1..<piece.bytes.count, using: &generator)
            return [Array(piece.bytes[..<place]), Array(piece.bytes[place...])].map {
                Conversations.Piece(bytes: $0, direction: piece.direction)
            }
        }
    }
}

extension StageChain.Output {
    /// Whether bytes are written.
    fileprivate var isWrite: Bool { if case .write = self { true } else { false } }
}
