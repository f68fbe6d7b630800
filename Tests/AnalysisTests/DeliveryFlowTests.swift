@testable import Analysis
import Streams
import Testing

/// What waits for the outcome of one sender's messages is bounded, whatever a server relays.
@Suite struct DeliveryFlowTests {
    /// How many events there were of each sort, and how often the flow was settled.
    private struct Outcome: Equatable {
        var delivered = 0
        var overtaken = 0
        var repeated = 0
        var missing = 0
        var unknown = 0
        var turns = 0

        mutating func count(_ events: [DeliveryFlow.Event]) {
            turns += 1
            for event in events {
                switch event {
                case .delivered: delivered += 1
                case .overtaken: overtaken += 1
                case .repeated: repeated += 1
                case .missing: missing += 1
                case .unknown: unknown += 1
                }
            }
        }
    }

    private static let within = Interval(nanoseconds: 1_000_000_000)

    /// What becomes of messages, all of which are sent before anything arrives. The flow is settled when it is full, as the
    /// analysis does it, and at the end.
    private func outcome(sent: [String], received: [(text: String, time: Int64)]) -> Outcome {
        var (flow, outcome) = (DeliveryFlow(), Outcome())
        for (place, text) in sent.enumerated() {
            flow.add(
                DeliveryFlow.Message(
                    identity: .whole(ContentIdentity(text)), time: Timestamp(nanoseconds: Int64(place)), connection: 1,
                    index: place, packet: 0))
        }
        for (place, reception) in received.enumerated() {
            flow.add(
                DeliveryFlow.Reception(
                    identity: .whole(ContentIdentity(reception.text)), time: Timestamp(nanoseconds: reception.time),
                    index: place, packet: 0))
            guard flow.isFull else { continue }
            outcome.count(flow.settle(within: Self.within, comparing: [], isOver: false))
            #expect(!flow.isFull, "after \(place) receptions")
            if flow.isFull { break }
        }
        outcome.count(flow.settle(within: Self.within, comparing: [], isOver: true))
        return outcome
    }

    /// One message arrives very often before its deadline, even all at once; or something arrives that nobody has sent.
    @Test(arguments: [0, 1, 1_000] as [Int64]) func aFloodIsNotKept(step: Int64) {
        for text in ["sent", "other"] {
            let received = (0..<5_000).map { (text: text, time: 1_000 + Int64($0) * step) }
            let found = outcome(sent: ["sent"], received: received)
            var expected = Outcome()
            if text == "sent" {
                (expected.delivered, expected.repeated) = (1, 4_999)
            } else {
                (expected.missing, expected.unknown) = (1, 5_000)
            }
            // Most receptions find room: the work does not grow with the square of their number.
            #expect(found.turns <= 5_000 / 100)
            expected.turns = found.turns
            #expect(found == expected, "\(text)")
        }
    }

    /// Messages that had to be settled early are not missing: they are recognized when they arrive.
    @Test func whatIsSettledEarlyMayStillArrive() {
        let sent = (0..<200).map { "message \($0)" }
        let flood = (0..<2_000).map { (text: "message 199", time: 1_000 + Int64($0)) }
        let rest = (0..<199).map { (text: "message \($0)", time: 10_000 + Int64($0)) }
        let found = outcome(sent: sent, received: flood + rest)
        #expect(found.delivered == 200 && found.missing == 0 && found.unknown == 0)
        #expect(found.repeated == 1_999 && found.overtaken == 199)
    }
}
