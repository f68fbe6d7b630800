import Foundation
@testable import Framing
import Streams
import Testing

/// A format on trial may be given as many bytes at once as it says: its verdict changes nowhere before the last of them.
@Suite struct SteadyTests {
    /// Streams of frames with garbage: of every format, each is also a stream that the others look at.
    static func streams(_ formats: [Format], _ generator: inout SeededGenerator) -> [[UInt8]] {
        var streams: [[UInt8]] = [
            Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8), Array("{\"a\":[1,\"}\"]}{\"b\":{}} {".utf8),
            [0x20] + [UInt8](repeating: 0, count: 300) + Array("{\"a\":1}".utf8),
            Array("x{\"type\":\"".utf8) + [UInt8](repeating: 0x61, count: 200) + Array("\",\"size\":1}\r\nb".utf8),
            Array("one line\r\nanother\n".utf8), Array("12310.300000text".utf8),
            Array("{\"type\":\"txt\",\"size\":\"3\"}\r\nabc{\"type\":\"heartA\",\"size\":0}\r\n".utf8),
        ]
        for format in formats {
            for direction in Direction.allCases {
                var bytes: [UInt8] = []
                for _ in 0..<4 {
                    let body = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                        UInt8.random(in: 0x20...0x7d, using: &generator)
                    }
                    bytes += (try? format.directions[direction].encode([], body: body)) ?? body
                    if Int.random(in: 0...3, using: &generator) == 0, !bytes.isEmpty {
                        bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(
                            in: 0...255, using: &generator)
                    }
                }
                streams.append(bytes)
            }
        }
        return streams
    }

    /// A flag that is left out of the comparison would not be noticed when it changes.
    @Test func everyFlagOfAVerdictIsCompared() {
        typealias Verdict = FormatProbe.Verdict
        let flags: [WritableKeyPath<Verdict, Bool> & Sendable] = [
            \.fits, \.isSure, \.isAlone, \.isWhole, \.hasEnough, \.isOpenHead, \.isRefuted, \.blocks, \.isAmongOthers,
        ]
        #expect(MemoryLayout<Verdict>.size == flags.count, "a new flag is compared, too")
        for flag in flags {
            var other = Verdict()
            other[keyPath: flag] = true
            #expect(other != Verdict(), "\(flag)")
        }
    }

    @Test(arguments: [true, false]) func theVerdictChangesWithTheLastByte(_ aligned: Bool) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let formats = try BuiltInFormats.all() + ExampleFormats.recognised()
        let streams = Self.streams(formats, &generator).shuffled(using: &generator).prefix(60)
        var skipped = 0
        for format in formats {
            guard let detection = format.detection else { continue }
            for direction in Direction.allCases where !format.directions[direction].rule.dependsOnCutting {
                func probe() -> FormatProbe {
                    let conversation = Conversation(format, aligned: aligned)
                    let rule = SharedRule.of(format.rule(direction, in: conversation), conversation: conversation)
                    return FormatProbe(
                        TrialSide(format.directions[direction], detection), rule, direction: direction, aligned: aligned
                    )
                }
                for stream in streams {
                    let (one, many) = (probe(), probe())
                    // In some of the streams, bytes before this one are missing.
                    let gap = Bool.random(using: &generator) ? stream.indices.randomElement(using: &generator) : nil
                    var (earlier, verdicts): ([FormatProbe.Verdict], [FormatProbe.Verdict]) = ([], [])
                    for (index, byte) in stream.enumerated() {
                        if index == gap { one.missing(7) }
                        earlier.append(one.verdict)
                        one.receive([byte].span.bytes)
                        verdicts.append(one.verdict)
                    }
                    var at = 0
                    while at < stream.count {
                        if at == gap { many.missing(7) }
                        let rest = at..<(gap.map { $0 > at ? $0 : stream.count } ?? stream.count)
                        let step = many.steady(stream.span.bytes.extracting(rest))
                        let end = at + min(step, rest.count)
                        let before = earlier[at]
                        // Only of what fails: the text takes longer than the rest.
                        func place() -> Comment {
                            "\(format.name) \(direction) at \(at)..<\(end) of \(stream), gap \(gap ?? -1), seed \(seed)"
                        }
                        // One that is refuted is never asked again.
                        if step == .max, many.verdict.isRefuted { break }
                        #expect(verdicts[at..<end - 1].allSatisfy { $0 == before }, place())
                        many.receive(stream.span.bytes.extracting(at..<end))
                        #expect(many.verdict == verdicts[end - 1], place())
                        skipped += end - at - 1
                        at = end
                    }
                }
            }
        }
        #expect(skipped > 1_000)
    }
}
