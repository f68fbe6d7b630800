import Framing
import Interception
import Streams
import TestSupport
import Testing

/// Rules for frames of a format that is recognised while a connection speaks.
@Suite struct RecognisingStageTests {
    /// Knows the format after a number of chunks.
    private final class Search: FormatSearch {
        private var left: Int
        private let format: Format?

        init(after chunks: Int, _ format: Format?) { (left, self.format) = (chunks, format) }

        func take(_ bytes: RawSpan, from direction: Direction, at time: Timestamp) -> Format? {
            left -= 1
            return left == 0 ? format : nil
        }

        var isOver: Bool { left <= 0 }
    }

    private static func stages(_ rules: [String], _ format: Format, _ search: () -> Search) throws -> StageChain {
        let provisional = RuleSet(
            try rules.map { try RuleFile.rule($0, number: 1, format: nil, isProvisional: true) }, seed: 1)
        return try #require(
            provisional.stages(of: 1) {
                search()
            } _: { format in
                (try? rules.map { try RuleFile.rule($0, number: 1, format: format) }).map { RuleSet($0, seed: 1) }
            })
    }

    private static func written(_ outputs: [StageChain.Output], to passed: inout PerDirection<[UInt8]>) {
        for case .write(let bytes, let direction, _) in outputs { passed[direction] += bytes }
    }

    /// What has begun to pass passes; of what begins after it, everything is dropped. Two formats are left out: where their frames
    /// end depends on time, or on the pieces.
    @Test(arguments: BuiltInFormats.names.filter { !["marker", "text-heartbeat"].contains($0) })
    func rulesBeginAtABoundary(_ name: String) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let (format, pieces) = try Conversations.of(name)
        for round in 0..<20 {
            let place = Comment(rawValue: "seed \(seed), round \(round)")
            let known = Int.random(in: 1...min(40, pieces.count), using: &generator)
            var chain = try Self.stages(["drop: all"], format) { Search(after: known, format) }
            var now = Timestamp(nanoseconds: 0)
            _ = chain.take(.began, at: now)
            var passed = PerDirection<[UInt8]>(fromClient: [], fromServer: [])
            var before = PerDirection<[UInt8]>(fromClient: [], fromServer: [])
            var all = before
            for (number, piece) in pieces.enumerated() {
                now = now + .milliseconds(1)
                if number < known { before[piece.direction] += piece.bytes }
                all[piece.direction] += piece.bytes
                if Bool.random(using: &generator) {
                    let outputs = chain.pass(piece.bytes.span.bytes, piece.direction, at: now)
                    Self.written(outputs ?? [.write(piece.bytes, piece.direction)], to: &passed)
                } else {
                    Self.written(chain.take(.bytes(piece.bytes, piece.direction), at: now), to: &passed)
                }
            }
            for direction in Direction.allCases {
                Self.written(chain.take(.end(.fin, direction), at: now), to: &passed)
                // Up to the end of the frame that was under way when the format was known; then what is no frame.
                let stream = Framed(all[direction], direction, format)
                let rest = stream.frames.filter { $0.info.offset >= before[direction].count }
                let dropped = rest.reduce(0) { $0 + $1.info.length }
                #expect(passed[direction].count == all[direction].count - dropped, place)
                #expect(passed[direction].starts(with: before[direction]), place)
            }
        }
    }

    @Test func withoutAFormatEverythingPasses() throws {
        let format = try #require(try BuiltInFormats.format(named: "line"))
        var chain = try Self.stages(["drop: all"], format) { Search(after: 2, nil) }
        let now = Timestamp(nanoseconds: 0)
        _ = chain.take(.began, at: now)
        var passed = PerDirection<[UInt8]>(fromClient: [], fromServer: [])
        for text in ["one\n", "tw", "o\n", "three\n"] {
            Self.written(chain.take(.bytes(Array(text.utf8), .fromClient), at: now), to: &passed)
        }
        #expect(chain.take(.end(.fin, .fromClient), at: now) == [.end(.fin, .fromClient)])
        #expect(String(decoding: passed.fromClient, as: UTF8.self) == "one\ntwo\nthree\n")
        // Rules that do not suit the format apply to nothing.
        var other = try Self.stages(["replace: { fields: { nothing: 1 } }"], format) { Search(after: 1, format) }
        #expect(other.pass(Array("a\n".utf8).span.bytes, .fromClient, at: now) == nil)
        #expect(other.take(.bytes(Array("b\n".utf8), .fromClient), at: now) == [.write(Array("b\n".utf8), .fromClient)])
    }

    /// Other stages are there from the beginning, and segmentation is after them.
    @Test func otherRulesDoNotWait() throws {
        let format = try #require(try BuiltInFormats.format(named: "line"))
        var chain = try Self.stages(
            ["latency: 5 ms", "segment: every-byte", "inject: { body: { text: new } }; from: client"], format
        ) { Search(after: 2, format) }
        var now = Timestamp(nanoseconds: 0)
        _ = chain.take(.began, at: now)
        var writes: [[UInt8]] = []
        for text in ["one\n", "two\n", "ab\n"] {
            var outputs = chain.take(.bytes(Array(text.utf8), .fromClient), at: now)
            #expect(!outputs.contains { if case .write = $0 { true } else { false } }, "it is late")
            now = now + .milliseconds(5)
            outputs = chain.take(.wake, at: now)
            for case .write(let bytes, _, _) in outputs { writes.append(bytes) }
        }
        let pieces = writes.map { String(decoding: $0, as: UTF8.self) }
        #expect(pieces == ["one\n", "two\n", "a", "b", "\n", "n", "e", "w", "\n"], "\(pieces)")
    }
}
