import Framing
import Streams
import Testing
import Trace
import TraceDiff

/// Heartbeats are folded: their number may differ as far as the difference in duration explains it.
@Suite struct HeartbeatTests {
    /// A conversation of this many seconds with a heartbeat every second, except for the omitted ones.
    private func trace(seconds: Int64, without left: Set<Int64> = [], text: String = "beat") -> RecordedTrace {
        var frames: [FrameEvent] = []
        for second in 0..<seconds {
            let time = 1_000 * second + 1
            if !left.contains(second) {
                frames.append(Traces.frame(.fromClient, "heart", text, heartbeat: true, at: time))
            }
            if second == 1 { frames.append(Traces.frame(.fromServer, "hello", "you", at: time + 400)) }
        }
        frames.append(Traces.frame(.fromClient, "bye", at: seconds * 1_000))
        return Traces.trace([frames])
    }

    private func difference(_ old: RecordedTrace, _ new: RecordedTrace, _ mode: Comparison.Heartbeats)
        -> TraceDifference
    {
        var comparison = Comparison()
        comparison.heartbeats = mode
        return TraceComparison.compare(expected: old, actual: new, comparison)
    }

    @Test func aLongerConversationHasMore() {
        #expect(difference(trace(seconds: 5), trace(seconds: 9), .count).isEmpty)
        #expect(difference(trace(seconds: 9), trace(seconds: 5), .count).isEmpty)
        #expect(!difference(trace(seconds: 5), trace(seconds: 9), .exact).isEmpty)
    }

    @Test func oneThatIsMissingIsReported() {
        let found = difference(trace(seconds: 9), trace(seconds: 9, without: [4]), .count)
        #expect(found.counts.map(\.kind) == ["heartbeats"])
        let beats = found.conversations[0].heartbeats
        #expect(beats.map(\.expected) == [9])
        #expect(beats.map(\.actual) == [8])
        #expect(difference(trace(seconds: 9), trace(seconds: 9, without: [4]), .ignore).isEmpty)
    }

    @Test func manyMoreThanTheTimeExplainsAreReported() {
        #expect(!difference(trace(seconds: 9, without: [2, 3, 4, 5]), trace(seconds: 10), .count).isEmpty)
    }

    /// One heartbeat has no pace: the longer conversation may have it once the shorter one was over.
    @Test(arguments: [(4_999, false), (5_000, true), (8_000, true)] as [(Int64, Bool)])
    func theOnlyOneOfALongerConversation(time: Int64, isExplained: Bool) {
        let short = Traces.trace([[Traces.frame(.fromClient, "bye", at: 5_000)]])
        let beat = Traces.frame(.fromClient, "heart", "beat", heartbeat: true, at: time)
        let long = Traces.trace([[beat, Traces.frame(.fromClient, "bye", at: 9_000)]])
        #expect(difference(short, long, .count).isEmpty == isExplained)
        #expect(difference(long, short, .count).isEmpty == isExplained)
    }

    /// JSON with other spacing says the same; one after it that does not is found.
    @Test func heartbeatsMayHaveOtherSpacing() {
        func trace(_ lengths: [Int], value: String = "1") -> RecordedTrace {
            Traces.trace([
                lengths.enumerated().map { place, length in
                    var beat = Traces.frame(
                        .fromClient, "heart", fields: ["length": .number("\(length)")], heartbeat: true)
                    let isLast = place == lengths.count - 1
                    beat.body = .object([
                        .init("length", .number("\(length)")),
                        .init("json", .object([.init("n", .number(isLast ? value : "1"))])),
                    ])
                    return beat
                }
            ])
        }
        #expect(difference(trace([7, 7, 7]), trace([8, 9, 8]), .count).isEmpty)
        let found = difference(trace([7, 7, 7]), trace([8, 8, 9], value: "2"), .count)
        #expect(
            found.conversations[0].heartbeats.map { Set($0.changes.map(\.path)) } == [["fields.length", "body.json.n"]])
    }

    @Test func heartbeatsThatSaySomethingElseAreReported() {
        let found = difference(trace(seconds: 5), trace(seconds: 5, text: "boat"), .count)
        let change = FieldChange(path: "body.text", old: .text("beat"), new: .text("boat"))
        #expect(found.conversations[0].heartbeats.map(\.changes) == [[change]])
    }
}
