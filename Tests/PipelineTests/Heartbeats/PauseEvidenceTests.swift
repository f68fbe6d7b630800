import Streams
import TestSupport
import Testing
import Trace

/// What segments other than the heartbeats reveal about a pause: for each case, a capture in which all heartbeats that were due
/// arrive at once, so that the bytes alone are inconclusive.
@Suite struct PauseEvidenceTests {
    /// Four heartbeats and their acknowledgments; the fourth arrives at 3 s.
    private func begun(counting: Bool = false, clocks: Bool = false) throws -> MadeCapture {
        var capture = try MadeCapture()
        if counting { capture.identifications = PerDirection(fromClient: 500, fromServer: nil) }
        if clocks { capture.clocks = PerDirection(fromClient: 0, fromServer: 0) }
        capture.handshake()
        if counting { for _ in 0..<5 { capture.send(at: 1) } }
        let size = capture.heartbeat.count
        for number in 0..<4 {
            capture.send(capture.heartbeat, at: number * 1_000, position: number * size)
            capture.send(.fromServer, at: number * 1_000 + 1, acknowledging: (number + 1) * size)
        }
        return capture
    }

    /// Five heartbeats at once: all that were due.
    private func burst(_ capture: inout MadeCapture, at time: Int = 8_000) {
        capture.heartbeats(4..<9, at: [time, time + 1, time + 2, time + 3, time + 4])
    }

    private func reason(_ finding: TraceLine?) -> String { finding?.text(of: "data", "reason") ?? "-" }

    @Test func withoutEvidenceNobodyCanTell() throws {
        var capture = try begun()
        burst(&capture)
        #expect(try capture.blame() == ["unknown"])
    }

    /// The client acknowledges the server's data: it is alive, and has sent nothing that was not captured.
    @Test(arguments: [(4_499, "unknown"), (4_500, "sender"), (7_500, "sender"), (7_501, "unknown")])
    func whoAcknowledgesWhenAHeartbeatIsOverdueHasSentNone(acknowledged: Int, blame: String) throws {
        var capture = try begun()
        let size = capture.heartbeat.count
        let text = try capture.chat.message("txt", [1], from: .fromServer)
        capture.send(.fromServer, text, at: acknowledged - 10, acknowledging: 4 * size)
        capture.send(.fromClient, at: acknowledged, position: 4 * size, acknowledging: text.count)
        burst(&capture)
        #expect(try capture.blame() == [blame])
    }

    /// Until the deadline at 6 s.
    @Test(arguments: [(5_010, "network"), (6_000, "network"), (6_001, "unknown")])
    func aSequenceNumberAheadOfTheBytesShowsThatSomethingWasLost(ahead: Int, blame: String) throws {
        var capture = try begun()
        let size = capture.heartbeat.count
        let text = try capture.chat.message("txt", [1], from: .fromServer)
        capture.send(.fromServer, text, at: 5_000, acknowledging: 4 * size)
        capture.send(.fromClient, at: ahead, position: 5 * size, acknowledging: text.count)
        burst(&capture)
        #expect(try capture.blame() == [blame])
    }

    /// The first byte of the heartbeat that ends the pause arrives by the deadline at 6 s, or after it.
    @Test(arguments: [
        (6_000, "cannot tell: its first byte came 3.0 s after the last heartbeat, the rest late"), (6_001, "-"),
    ])
    func aHeartbeatThatBeganInTimeIsNotJudged(started: Int, reason expected: String) throws {
        var capture = try begun()
        let size = capture.heartbeat.count
        capture.send([capture.heartbeat[0]], at: started, position: 4 * size)
        capture.send(Array(capture.heartbeat[1...]), at: 8_000, position: 4 * size + 1)
        let found = try capture.finish(.heartbeatResumed)
        #expect(found.count == 1 && (reason(found.first) == expected) == (started == 6_000), "\(reason(found.first))")
    }

    /// The first packet after the pause is counted: as the next one, or as one with uncaptured packets before it.
    @Test(arguments: [(0, "sender"), (1, "network"), (7, "network")])
    func whoCountsItsPacketsShowsHowManyAreNotThere(lost: Int, blame: String) throws {
        var capture = try begun(counting: true)
        capture.identifications.fromClient = capture.identifications.fromClient.map { $0 + UInt16(lost) }
        burst(&capture)
        let found = try capture.finish(.heartbeatResumed)
        #expect(found.map { $0.text(of: "data", "blame") } == [blame])
        if lost == 7 { #expect(reason(found.first).hasPrefix("7 packets of the client did not arrive")) }
    }

    @Test func whoseNumbersAreNoCountSaysNothing() throws {
        var capture = try begun(counting: true)
        capture.identifications.fromClient = capture.identifications.fromClient.map { $0 &+ 20_000 }
        burst(&capture)
        #expect(try capture.blame() == ["unknown"])
    }

    /// The server retransmits, and nothing comes back.
    @Test(arguments: [(1, "unknown"), (2, "network")]) func whoDoesNotAnswerIsNotThere(
        repetitions: Int, blame: String
    ) throws {
        var capture = try begun()
        let text = try capture.chat.message("txt", [1], from: .fromServer)
        for number in 0...repetitions { capture.send(.fromServer, text, at: 4_000 + 500 * number) }
        burst(&capture)
        #expect(try capture.blame() == [blame])
    }

    @Test func whoNeverAnswersAgainIsGone() throws {
        var capture = try begun()
        let text = try capture.chat.message("txt", [1], from: .fromServer)
        for time in [4_000, 4_200, 4_600, 5_400, 7_000] { capture.send(.fromServer, text, at: time) }
        let found = try capture.finish(.heartbeatStopped)
        #expect(found.map { $0.text(of: "data", "blame") } == ["peer-gone"])
        #expect(
            reason(found.first)
                == "the client's TCP did not answer while the server retransmitted the same bytes 4 times")
    }

    @Test func fromWhomNothingComesNobodyCanTell() throws {
        var capture = try begun()
        capture.advance(to: 20_000)
        #expect(try capture.blame() == ["unknown"])
    }

    @Test func whatWasSentInThePauseByItsClockWasHeldUp() throws {
        var capture = try begun(clocks: true)
        for number in 4..<9 {
            capture.clocks.fromClient = 8_000 - number * 1_000
            capture.send(capture.heartbeat, at: 8_000, position: number * capture.heartbeat.count)
        }
        capture.clocks.fromClient = 0
        #expect(try capture.blame() == ["network"])
    }

    /// Both clocks show no pause, or only the client's does, or neither.
    @Test(arguments: [(4_000, 4_000, "capture"), (4_000, 0, "sender"), (0, 0, "sender")])
    func aClockThatStandsStill(client: Int, server: Int, blame: String) throws {
        var capture = try begun(clocks: true)
        let size = capture.heartbeat.count
        capture.clocks = PerDirection(fromClient: client, fromServer: server)
        capture.send(capture.heartbeat, at: 8_000, position: 4 * size)
        capture.send(.fromServer, at: 8_001, acknowledging: 5 * size)
        capture.send(capture.heartbeat, at: 9_000, position: 5 * size)
        #expect(try capture.blame() == [blame])
    }

    /// Delayed data arrives together with the copies that TCP sent meanwhile.
    @Test func copiesThatComeWithItShowThatItWasHeldUp() throws {
        var capture = try begun(counting: true)
        let size = capture.heartbeat.count
        capture.send(capture.heartbeat, at: 8_000, position: 4 * size)
        for _ in 0..<3 { capture.send(capture.heartbeat, at: 8_100, position: 4 * size) }
        capture.heartbeats(5..<9, at: [8_200, 8_200, 8_200, 8_200])
        #expect(try capture.blame() == ["network"])
    }

    /// Near the sender: its retransmissions are not acknowledged until the pause is over.
    @Test func whatIsSentAgainUntilTheEndKeepsTheRestBack() throws {
        var capture = try begun()
        let size = capture.heartbeat.count
        let text = try capture.chat.message("txt", [1])
        capture.send(text, at: 4_100, position: 4 * size)
        for time in [4_300, 4_700, 5_500] { capture.send(text, at: time, position: 4 * size) }
        // That does not acknowledge it.
        capture.send(.fromServer, at: 5_600, acknowledging: 4 * size)
        capture.send(.fromServer, at: 8_699, acknowledging: 4 * size + text.count)
        capture.send(capture.heartbeat, at: 8_700, position: 4 * size + text.count)
        #expect(try capture.blame() == ["network"])
    }

    /// Data that is retransmitted at longer and longer intervals, the last time at 6.9 s.
    private func repeats(in capture: inout MadeCapture) throws -> (text: [UInt8], position: Int) {
        let text = try capture.chat.message("txt", [1])
        let position = 4 * capture.heartbeat.count
        for time in [3_900, 4_100, 4_500, 5_300, 6_900] { capture.send(text, at: time, position: position) }
        return (text, position)
    }

    /// Near the sender: what the other side had always acknowledged is not acknowledged any more, however long the capture goes on.
    @Test(arguments: [(nil, "network"), (6_901, "sender")] as [(Int?, String)])
    func whatIsNeverAcknowledgedKeepsTheRestBackForGood(acknowledged: Int?, blame: String) throws {
        var capture = try begun()
        let (text, position) = try repeats(in: &capture)
        if let acknowledged {
            capture.send(.fromServer, at: acknowledged, acknowledging: position + text.count)
        }
        capture.advance(to: 20_000)
        #expect(try capture.blame() == [blame])
    }

    /// A capture without acknowledgments: after intervals of 0.8 s and 1.6 s the next retransmission is due 3.2 s later.
    @Test(arguments: [(10_100, "network"), (10_101, "sender")])
    func withoutAcknowledgmentsARetransmissionThatDoesNotComeShowsThatTheyDid(end: Int, blame: String) throws {
        var capture = try MadeCapture()
        capture.handshake()
        capture.heartbeats(0..<4, at: [0, 1_000, 2_000, 3_000])
        _ = try repeats(in: &capture)
        capture.advance(to: end)
        #expect(try capture.blame() == [blame])
    }

    /// Data first retransmitted by the deadline at 6 s kept the heartbeat back; data retransmitted later did not.
    @Test(arguments: [(6_000, "network"), (6_001, "sender")])
    func whatIsSentAgainFirstAfterTheDeadlineKeptNothingBack(first: Int, blame: String) throws {
        var capture = try begun()
        let size = capture.heartbeat.count
        let text = try capture.chat.message("txt", [1])
        capture.send(text, at: 5_500, position: 4 * size)
        for time in [first, 7_000, 8_000] { capture.send(text, at: time, position: 4 * size) }
        capture.send(.fromServer, at: 8_699, acknowledging: 4 * size + text.count)
        capture.send(capture.heartbeat, at: 8_700, position: 4 * size + text.count)
        #expect(try capture.blame() == [blame])
    }

    /// The window does not close, but has no room for anything.
    @Test func aTinyWindowIsAsGoodAsClosed() throws {
        var capture = try begun()
        let size = capture.heartbeat.count
        capture.send(.fromServer, at: 3_100, acknowledging: 4 * size, window: 3)
        capture.send(.fromServer, at: 7_999, acknowledging: 4 * size, window: 1_000)
        burst(&capture)
        #expect(try capture.blame() == ["receiver"])
    }

    /// Sent by the deadline, as shown by the data that overtook it, or not.
    @Test(arguments: [(6_000, "network"), (6_001, "unknown")])
    func whatOvertookItAtTheDeadlineItselfWasInTime(overtaken: Int, blame: String) throws {
        var capture = try begun()
        let size = capture.heartbeat.count
        capture.heartbeats(5..<6, at: [overtaken])
        capture.send(capture.heartbeat, at: 8_000, position: 4 * size)
        #expect(try capture.blame() == [blame])
    }

    /// 4 s of pause: four were due, and one of them may have been just about to be due. 3.999 s: three.
    @Test(arguments: [(7_000, 3, "unknown"), (7_000, 2, "sender"), (6_999, 2, "unknown"), (6_999, 1, "sender")])
    func asManyAsWereDue(end: Int, count: Int, blame: String) throws {
        var capture = try begun()
        capture.heartbeats(4..<4 + count, at: [end, end, end].suffix(count))
        #expect(try capture.blame() == [blame])
    }
}
