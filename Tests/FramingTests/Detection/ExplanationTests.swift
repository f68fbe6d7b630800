import Streams
import Testing

@testable import Framing

/// Faults are not described, and unframed bytes not kept, while formats are on trial: that changes nothing else.
@Suite struct ExplanationTests {
    /// The results without what people read.
    private static func results(
        _ format: Format, _ direction: Direction, _ stream: [UInt8], aligned: Bool, explains: Bool
    ) -> (results: [String], details: Int) {
        let conversation = Conversation(format, aligned: aligned)
        let rule = SharedRule.of(format.rule(direction, in: conversation), conversation: conversation)
        var framer = Framer(rule, direction: direction, aligned: aligned, explains: explains)
        let (log, scratch) = (FramedLog(), FramingScratch())
        let half = stream.count / 2
        let bytes = stream.span.bytes
        framer.receive(
            bytes.extracting(0..<half), at: Timestamp(nanoseconds: 1), packet: 1, scratch: scratch, into: log)
        framer.missing(5, at: Timestamp(nanoseconds: 2), scratch: scratch, into: log)
        framer.receive(
            bytes.extracting(half..<stream.count), at: Timestamp(nanoseconds: 3), packet: 2, scratch: scratch, into: log
        )
        framer.finish(scratch: scratch, into: log)
        var details = 0
        var unframed = log.unframedCounts.makeIterator()
        let results = log.results.map { result in
            guard case .unframed(let offset, _, let reason, let detail) = result else { return "\(result)" }
            details += detail.utf8.count
            return "\(offset) \(unframed.next() ?? 0) \(reason)"
        }
        return (results, details)
    }

    @Test(arguments: [true, false]) func nothingElseChanges(aligned: Bool) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let formats = try BuiltInFormats.all() + ExampleFormats.recognised()
        let streams = SteadyTests.streams(formats, &generator).filter { $0.count > 1 }.shuffled(using: &generator)
            .prefix(25)
        var (with, without) = (0, 0)
        for format in formats {
            for direction in Direction.allCases {
                for stream in streams {
                    let one = Self.results(format, direction, stream, aligned: aligned, explains: true)
                    let other = Self.results(format, direction, stream, aligned: aligned, explains: false)
                    #expect(one.results == other.results, "\(format.name) \(direction) of \(stream), seed \(seed)")
                    with += one.details
                    without += other.details
                }
            }
        }
        #expect(without < with, "\(without) of \(with)")
    }
}
