import Framing
import Streams
import Testing
import Trace

@testable import Analysis

/// Times of hostile captures and traces, from one end of 64 bits to the other: nothing traps.
@Suite struct ExtremeTimesTests {
    private let first = Timestamp(nanoseconds: .min)
    private let zero = Timestamp(nanoseconds: 0)
    private let last = Timestamp.distantFuture

    private func connection() -> TracedConnection {
        let end = Endpoint(IPAddress(v4: 0x7f00_0001), 1)
        return TracedConnection(Opening(number: 1, time: first, client: end, server: end))
    }

    /// What comes after the end is in the last column.
    @Test(arguments: [Int64.max, 0, .min]) func aTimeLineHasColumns(end: Int64) {
        var line = TimeLine(start: zero)
        line.add(.fromClient, at: last) { $0.frames += 1 }
        let columns = line.columns(.fromClient, count: 20, until: Timestamp(nanoseconds: end))
        #expect(columns.map(\.frames) == [Int](repeating: 0, count: 19) + [1])
    }

    @Test func aSendersClockIsFarOff() {
        var clock = SenderClock()
        var lags = [
            clock.take(10_000, at: zero), clock.take(12_000, at: zero + .seconds(2)),
            clock.take(14_000, at: zero + .seconds(5)), clock.take(17_000, at: first),
        ]
        #expect(lags == [nil, nil, .seconds(1), Interval(nanoseconds: .min)])
        clock.restart()
        lags = [
            clock.take(10_000, at: zero + .seconds(-5)), clock.take(12_000, at: zero + .seconds(-3)),
            clock.take(11_000, at: last),
        ]
        #expect(lags == [nil, nil, Interval(nanoseconds: .max)])
    }

    @Test func bothSidesClocksDisagree() {
        let segment = SegmentNotice(offset: 0, byteCount: 0, expected: 0, lastBytes: first)
        var evidence = PauseEvidence()
        evidence.sent(segment, at: zero, delay: Interval(nanoseconds: .max))
        evidence.answered(segment, at: zero, delay: Interval(nanoseconds: .min))
        var delay: Interval?
        if case .senderClock(let found)? = evidence.delays { delay = found }
        #expect(delay == Interval(nanoseconds: .max))
    }

    /// Three intervals are more than 64 bits have.
    @Test func anIntervalOfACenturyIsLearned() throws {
        let format = try FormatLoader.load(
            """
            format: talk
            framing: { rule: delimiter, end: "\\n" }
            """, file: "talk")
        let connection = connection()
        connection.recognise(format, FormatChoice(by: .content, evidence: ""))
        let heartbeats = LearnedHeartbeats()
        var findings: [Finding] = []
        let bytes = Array("x\n".utf8)
        var time = first
        for number in 0..<6 {
            let info = FrameInfo(
                index: number, offset: 2 * number, shape: FrameShape(head: 0, body: 1, tail: 1), started: time,
                time: time, segments: 1, merged: false, position: 1, companions: 1, missing: 0, packet: 0)
            heartbeats.frame(
                TracedFrame(info: info, direction: .fromClient, isHeartbeat: false),
                bytes: bytes.span.bytes, on: connection, into: &findings)
            time = time + Interval(nanoseconds: 3_600_000_000_000_000_000)
        }
        #expect(findings.isEmpty && connection.witnesses.count == 1, "it is learned")
        #expect(heartbeats.nextDeadline == nil, "no gap can be long enough")
    }

    @Test func deliveriesTakeAsLongAsThereIsTime() {
        func meanings(_ sent: Timestamp, _ received: Timestamp) -> [DeliveryMatching.Meaning] {
            DeliveryMatching([.init(key: 0, time: sent)], [.init(key: 0, time: received)], within: .seconds(1)).meanings
        }
        #expect(meanings(first, last) == [.delivery(0)])
        #expect(meanings(last, first) == [.unknown])
    }

    /// The gap that began nearest to it is the one that ends.
    @Test func gapsLieFarApart() throws {
        let collector = ReportCollector()
        collector.opened(connection())
        func find(_ kind: Finding.Kind, at time: Timestamp) {
            collector.finding(
                Finding(
                    kind: kind, severity: .warning, connection: 1, format: nil, from: .fromClient, time: time,
                    message: "", data: [Field("silentFor", .number(0))]))
        }
        find(.heartbeatGap, at: first)
        find(.heartbeatGap, at: zero)
        find(.heartbeatResumed, at: last)
        let gaps = try #require(collector.report(source: "").connections.first?.gaps)
        #expect(gaps.map(\.end) == [nil, last])
    }
}
