import Framing
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

/// Heartbeats that arrive before the format is recognised.
@Suite struct HeldHeartbeatTests {
    /// An event on a connection, in milliseconds.
    enum Step: Sendable {
        case heartbeat(Int64)
        case text(Int64)
        case finished(Int64)
        case passed(Int64)
        case closed(Int64)
    }

    private func findings(_ steps: [Step], _ options: DecodingOptions) throws -> [String] {
        let chat = try ChatBytes()
        let output = MemoryOutput()
        let decoder = Decoder(options, sinks: [NDJSONWriter(to: output, source: "tests", tool: "tests")])
        let loopback = IPAddress(v4: 0x7f00_0001)
        func at(_ milliseconds: Int64) -> Timestamp {
            let time = Timestamp(seconds: 0, nanoseconds: milliseconds * 1_000_000)
            decoder.advance(to: time)
            return time
        }
        let connection = decoder.open(
            Opening(number: 1, time: at(0), client: Endpoint(loopback, 40_000), server: Endpoint(loopback, 8_088)))
        // Spans of named arrays: one of a temporary, next to a call that throws, crashes the compiler (6.3.1).
        let heartbeat = try chat.heartbeat()
        let text = try chat.message("txt", [])
        for step in steps {
            switch step {
            case .heartbeat(let time):
                connection.received(heartbeat.span.bytes, from: .fromClient, at: at(time), packet: 0)
            case .text(let time): connection.received(text.span.bytes, from: .fromClient, at: at(time), packet: 0)
            case .finished(let time): connection.finished(.fin, from: .fromClient, at: at(time))
            case .passed(let time): _ = at(time)
            case .closed(let time): connection.closed(Closing(reason: .fin, by: .fromClient, time: at(time)))
            }
        }
        decoder.finish()
        return try traceLines(output.text).filter { $0.event == "finding" }.map(\.text)
    }

    /// A sequence of events, and how many gaps it has.
    struct Story: Sendable, CustomStringConvertible {
        var description: String
        var gaps: Int
        var steps: [Step]
    }

    static let stories = [
        Story(
            description: "a gap between two heartbeats", gaps: 1,
            steps: [.heartbeat(0), .heartbeat(10_000), .text(10_100), .text(10_200), .closed(10_300)]),
        Story(
            description: "two gaps", gaps: 2,
            steps: [.heartbeat(0), .heartbeat(4_000), .heartbeat(8_000), .text(8_001), .text(8_002), .closed(9_000)]),
        Story(
            description: "a gap before the FIN", gaps: 1, steps: [.heartbeat(0), .finished(10_000), .closed(10_001)]),
        Story(
            description: "a gap while time passes", gaps: 1,
            steps: [
                .heartbeat(0), .passed(2_000), .passed(5_000), .text(6_000), .text(6_500), .text(7_000), .closed(8_000),
            ]),
        Story(
            description: "no gap", gaps: 0,
            steps: [.heartbeat(0), .heartbeat(3_000), .finished(6_000), .closed(30_000)]),
        Story(description: "a gap at the end", gaps: 1, steps: [.heartbeat(0), .closed(3_001)]),
    ]

    @Test(arguments: stories) func theyAreJudgedAsIfTheFormatHadBeenKnown(_ story: Story) throws {
        var format = try ChatBytes().format
        format.detection?.frames = 4
        let known = try findings(story.steps, DecodingOptions(.fixed(format)))
        #expect(try findings(story.steps, DecodingOptions(.automatic([format]))) == known)
        #expect(known.count { $0.contains("heartbeat-gap") } == story.gaps, "\(known)")
    }
}
