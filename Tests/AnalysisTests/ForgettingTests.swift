import Streams
import Testing
import Trace

@testable import Analysis

/// What analyses remember is bounded, and what they know of connections that are over is forgotten.
@Suite struct ForgettingTests {
    /// Of the messages for somebody who is not connected, the latest are kept.
    @Test func messagesForTheAbsent() throws {
        let deliveries = Deliveries()
        var talk = try FrameTalk(deliveries)
        talk.say("hello", on: 1, from: "A", at: 0)
        for number in 1...300 { talk.say("chat", "message \(number)", on: 1, from: "A", to: "B", at: Int64(number)) }
        let mailbox = try #require(deliveries.mailboxes[Deliveries.Target(server: FrameTalk.server, name: "B")])
        #expect(Deliveries.most.absent == 256)
        #expect(mailbox.absent.map { $0.message.index } == Array(45...300))
        let outcome = try #require(deliveries.results().first).outcome
        #expect(outcome.sent == 300 && outcome.absent == 300 && talk.findings.isEmpty)
    }

    /// Whose connection it is may change: messages for its former owner are not expected on it.
    @Test func formerOwnersOfConnections() throws {
        let deliveries = Deliveries()
        var talk = try FrameTalk(deliveries)
        talk.say("hello", on: 1, from: "A", at: 0)
        talk.say("hello", on: 2, from: "B", at: 10)
        talk.say("hello", on: 2, from: "C", at: 20)
        talk.say("chat", "one", on: 1, from: "A", to: "B", at: 30)
        talk.say("chat", "two", on: 1, from: "A", to: "C", at: 40)
        talk.say("chat", "two", on: 2, by: .fromServer, from: "A", at: 50)
        for number in [1, 2] { talk.close(number, at: 60_000) }
        #expect(talk.findings.map(\.message) == [])
        let outcome = try #require(deliveries.results().first).outcome
        #expect(outcome.sent == 2 && outcome.delivered == 1 && outcome.missing == 0 && outcome.absent == 1)
        #expect(deliveries.mailboxes.values.allSatisfy { $0.connections.isEmpty })
    }

    /// The next connection of a number begins with any number in its frames.
    @Test(arguments: [false, true]) func sequencesOfConnections(isAnother: Bool) throws {
        var talk = try FrameTalk(
            SequenceCheck(),
            format: """
                format: counted
                header: [{ length: u16 }, { number: u8 }]
                framing: { rule: length-field, field: length, counts: rest }
                sequence: { value: fields.number, from: client }
                """)
        talk.frame(head: [0, 1, 7], at: 0)
        talk.frame(head: [0, 1, 8], at: 1)
        if isAnother { talk.close(1, at: 2) }
        talk.frame(head: [0, 1, 20], at: 3)
        #expect(talk.findings.map(\.kind) == (isAnother ? [] : [.sequenceGap]))
    }

    /// A receipt that came before its broadcast confirms none that a later connection of the number gets.
    @Test(arguments: [false, true]) func receiptsOfConnections(isAnother: Bool) throws {
        let skew = BroadcastSkew()
        var talk = try FrameTalk(skew)
        talk.say("seen", on: 1, at: 100)
        if isAnother { talk.close(1, at: 100) }
        for number in [1, 2] { talk.say("news", "today", on: number, by: .fromServer, at: 100) }
        talk.say("seen", on: 2, at: 130)
        let outcome = try #require(skew.results().first).outcome
        #expect(outcome.rounds == 1 && outcome.incomplete == (isAnother ? 1 : 0))
        #expect(outcome.seen.count == (isAnother ? 0 : 1))
    }

    /// A peer that invents types makes no more of them regular than the first few of its side.
    @Test func typesThatMayBeHeartbeats() throws {
        var talk = try FrameTalk(LearnedHeartbeats())
        for second in 0..<7 as Range<Int64> {
            for type in 0..<20 {
                for direction in Direction.allCases {
                    talk.say("type \(type)", on: 1, by: direction, at: second * 1_000)
                }
            }
        }
        talk.close(1, at: 60_000)
        for direction in Direction.allCases {
            let gaps = talk.findings.filter { $0.kind == .heartbeatGap && $0.from == direction }
            #expect(gaps.count == 8, "\(direction)")
        }
    }

    /// Of a server's reads, it is known of the latest ones whose they were.
    @Test func readsOfAServer() {
        var reads = ClientReads(first: 1)
        for read in 1...4_096 { reads.add(read, on: read % 2) }
        #expect(reads.isMixed(1...3))
        for read in 4_097...10_000 { reads.add(read, on: read % 2) }
        #expect(!reads.isMixed(1...3) && reads.isMixed(9_998...10_000))
    }

    /// A report has the first findings of each severity, and says how many more there were. Here, the earliest one comes last.
    @Test func findingsOfAReport() throws {
        let collector = ReportCollector()
        for place in 0...Report.mostFindings {
            collector.finding(
                Finding(
                    kind: .heartbeatGap, severity: .warning, connection: 1, format: nil, from: .fromClient,
                    time: Timestamp(nanoseconds: Int64(Report.mostFindings - place)), message: "", data: []))
        }
        let report = collector.report(source: "tests")
        #expect(report.findings.count == Report.mostFindings && report.moreFindings == 1)
        #expect(report.findings.first?.time == Timestamp(nanoseconds: 1))
    }
}
