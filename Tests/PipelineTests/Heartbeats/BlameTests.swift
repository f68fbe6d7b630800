import Packets
import Streams
import TestSupport
import Testing
import Trace

/// The cause of a gap: for each cause, a capture in which it applies, and a similar one in which it does not.
@Suite struct BlameTests {
    @Test func theSenderWasSilent() throws {
        var capture = try MadeCapture()
        capture.handshake()
        capture.heartbeats(0..<4, at: [0, 1_000, 2_000, 7_000])
        let findings = try capture.finish(.heartbeatGap, .heartbeatResumed)
        #expect(findings.map { $0["kind"] } == ["heartbeat-gap", "heartbeat-resumed"])
        #expect(findings.last?["message"] == "heartbeat resumed after 5.0 s: the client was silent")
        #expect(findings.last?.text(of: "data", "blame") == "sender")
        var other = try MadeCapture()
        other.handshake()
        other.heartbeats(0..<4, at: [0, 1_000, 2_000, 5_000])
        #expect(try other.finish(.heartbeatGap, .heartbeatResumed).isEmpty, "the deadline itself is no gap")
    }

    @Test func itWasSentInTimeAndTheNetworkWasLate() throws {
        var capture = try MadeCapture()
        let size = capture.heartbeat.count
        capture.handshake()
        capture.heartbeats(0..<2, at: [0, 1_000])
        // The third is lost in transit, the fourth is not; then the third is retransmitted.
        capture.heartbeats(3..<5, at: [3_000, 4_000])
        capture.send(capture.heartbeat, at: 6_500, position: 2 * size)
        #expect(try capture.blame() == ["network"])
    }

    @Test func whatTheServersBytesWentThroughSaysNothingOfTheClient() throws {
        var capture = try MadeCapture()
        let text = try capture.chat.message("txt", [1], from: .fromServer)
        capture.handshake()
        capture.heartbeats(0..<2, at: [0, 1_000])
        capture.send(.fromServer, text, at: 2_000, position: text.count)
        capture.send(.fromServer, text, at: 5_000, position: 0)
        capture.heartbeats(2..<3, at: [6_500])
        #expect(try capture.blame() == ["sender"])
    }

    @Test func whatElseCameOutOfOrderSaysNothingOfTheHeartbeat() throws {
        var capture = try MadeCapture()
        let text = try capture.chat.message("txt", [1])
        let size = capture.heartbeat.count
        capture.handshake()
        capture.heartbeats(0..<2, at: [0, 1_000])
        capture.send(text, at: 2_000, position: 2 * size + text.count)
        capture.send(text, at: 2_010, position: 2 * size)
        capture.send(capture.heartbeat, at: 6_500, position: 2 * size + 2 * text.count)
        #expect(try capture.blame() == ["sender"])
    }

    @Test func sentTooLateAndThenDelayedNobodyCanTell() throws {
        var capture = try MadeCapture()
        let size = capture.heartbeat.count
        capture.handshake()
        capture.heartbeats(0..<2, at: [0, 1_000])
        capture.heartbeats(3..<4, at: [6_000])
        capture.send(capture.heartbeat, at: 6_500, position: 2 * size)
        #expect(try capture.blame() == ["unknown"])
    }

    @Test func theCaptureLostIt() throws {
        var capture = try MadeCapture()
        let size = capture.heartbeat.count
        capture.handshake()
        capture.heartbeats(0..<2, at: [0, 1_000])
        // Numbers 2 to 5 were not captured; the server acknowledges them.
        capture.heartbeats(6..<7, at: [6_000])
        capture.send(.fromServer, at: 6_100, acknowledging: 7 * size)
        capture.advance(to: 7_500)
        capture.heartbeats(7..<8, at: [7_500])
        #expect(try capture.blame() == ["capture"])
    }

    @Test func whatWasLostBeforeTheGapIsNotItsReason() throws {
        var capture = try MadeCapture()
        let size = capture.heartbeat.count
        capture.handshake()
        capture.heartbeats(0..<1, at: [0])
        capture.heartbeats(2..<3, at: [1_000])
        capture.send(.fromServer, at: 1_100, acknowledging: 3 * size)
        capture.heartbeats(3..<5, at: [2_500, 9_000])
        #expect(try capture.blame() == ["sender"])
    }

    @Test func theReceiverStalled() throws {
        var capture = try MadeCapture()
        let size = capture.heartbeat.count
        capture.handshake()
        capture.heartbeats(0..<2, at: [0, 1_000])
        capture.send(.fromServer, at: 1_500, acknowledging: 2 * size, window: 0)
        capture.send(.fromServer, at: 6_000, acknowledging: 2 * size)
        capture.heartbeats(2..<3, at: [6_010])
        let findings = try capture.finish(.heartbeatResumed)
        #expect(findings.map { $0.text(of: "data", "blame") } == ["receiver"])
        #expect(
            findings.first?["message"]
                == "heartbeat resumed after 5.0 s: the server accepted no data for 4.5 s: what was sent had to wait")
    }

    /// Closed and open again before a heartbeat was due; closed when it was already too late; the client's own window.
    @Test(arguments: [(1_100, 1_900, Direction.fromServer), (4_500, 6_000, .fromServer), (1_500, 6_000, .fromClient)])
    func aClosedWindowThatKeptNobodyFromSending(from: Int, until: Int, of direction: Direction) throws {
        var capture = try MadeCapture()
        let size = capture.heartbeat.count
        capture.handshake()
        capture.heartbeats(0..<2, at: [0, 1_000])
        let position = direction == .fromClient ? 2 * size : 0
        capture.send(direction, at: from, position: position, acknowledging: 2 * size - position, window: 0)
        capture.send(direction, at: until, position: position, acknowledging: 2 * size - position)
        capture.heartbeats(2..<3, at: [6_010])
        #expect(try capture.blame() == ["sender"])
    }

    @Test func theReceiverStalledAgainAndAgain() throws {
        var capture = try MadeCapture()
        let size = capture.heartbeat.count
        capture.handshake()
        capture.heartbeats(0..<2, at: [0, 1_000])
        for time in [1_500, 3_700, 5_500] {
            capture.send(.fromServer, at: time, acknowledging: 2 * size, window: 0)
            capture.send(.fromServer, at: time + 1_500, acknowledging: 2 * size)
        }
        capture.heartbeats(2..<3, at: [7_010])
        let findings = try capture.finish(.heartbeatResumed)
        #expect(findings.map { $0.text(of: "data", "blame") } == ["receiver"])
        #expect(
            findings.first?["message"]
                == "heartbeat resumed after 6.0 s: the server accepted no data repeatedly for 3.3 s: what was sent had to wait"
        )
    }

    /// When a heartbeat was due the window was closed; then it was open for long enough.
    @Test(arguments: [(4_400, "receiver"), (4_600, "sender")])
    func aClosedWindowIsNoReasonToStaySilentAfterIt(heartbeat: Int, blame: String) throws {
        var capture = try MadeCapture()
        let size = capture.heartbeat.count
        capture.handshake()
        capture.heartbeats(0..<2, at: [0, 1_000])
        capture.send(.fromServer, at: 1_500, acknowledging: 2 * size, window: 0)
        capture.send(.fromServer, at: 2_500, acknowledging: 2 * size)
        // Late begins at 2 s.
        capture.heartbeats(2..<3, at: [heartbeat])
        #expect(try capture.blame() == [blame])
    }

    /// Lost data is retransmitted repeatedly, as captured near the sender: its TCP may hold back new data until the lost data
    /// arrives.
    @Test(arguments: [(6_010, "network"), (8_500, "sender")])
    func theNetworkLostWhatTheSenderHadToSendAgain(heartbeat: Int, blame: String) throws {
        var capture = try MadeCapture()
        capture.handshake()
        capture.heartbeats(0..<2, at: [0, 1_000])
        for time in [1_200, 1_600, 3_400, 6_000] {
            capture.send(capture.heartbeat, at: time, position: capture.heartbeat.count)
        }
        capture.heartbeats(2..<3, at: [heartbeat])
        #expect(try capture.blame() == [blame])
    }

    /// Like a capture that contains every packet twice.
    @Test func whoSendsOtherThingsAndThoseAgainIsNotHeldBack() throws {
        var capture = try MadeCapture()
        let text = try capture.chat.message("txt", [1])
        let size = capture.heartbeat.count
        capture.handshake()
        capture.heartbeats(0..<2, at: [0, 1_000])
        for number in 0..<4 {
            let position = 2 * size + number * text.count
            capture.send(text, at: 2_000 + number * 1_000, position: position)
            capture.send(text, at: 2_000 + number * 1_000 + 1, position: position)
        }
        capture.send(capture.heartbeat, at: 6_000, position: 2 * size + 4 * text.count)
        #expect(try capture.blame() == ["sender"])
    }

    @Test func whatWasSentAgainBeforeAHeartbeatWasDueIsNoReason() throws {
        var capture = try MadeCapture()
        capture.handshake()
        capture.heartbeats(0..<2, at: [0, 1_000])
        capture.send(capture.heartbeat, at: 1_800, position: capture.heartbeat.count)
        capture.heartbeats(2..<3, at: [4_010])
        #expect(try capture.blame() == ["sender"])
    }

    @Test func theSenderSentOtherThings() throws {
        var capture = try MadeCapture()
        let text = try capture.chat.message("txt", [1])
        let size = capture.heartbeat.count
        capture.handshake()
        capture.heartbeats(0..<2, at: [0, 1_000])
        for number in 0..<5 {
            capture.send(text, at: 2_000 + number * 1_000, position: 2 * size + number * text.count)
        }
        capture.send(capture.heartbeat, at: 8_000, position: 2 * size + 5 * text.count)
        let findings = try capture.finish(.heartbeatGap, .trafficWithoutHeartbeats, .heartbeatResumed)
        #expect(
            findings.map { $0["kind"] } == ["heartbeat-gap", "traffic-without-heartbeats", "heartbeat-resumed"])
        #expect(findings[1].number("otherFrames", of: "data") == 3, "up to the deadline")
        #expect(findings[2].number("otherFrames", of: "data") == 5)
        #expect(
            findings[2]["message"] == "heartbeat resumed after 7.0 s: the client sent 5 other frames, but no heartbeat")
    }

    /// The next heartbeat is due at 2 s: frames before that show nothing of the silence after it.
    @Test(arguments: [
        ([1_100, 1_999], "the client was silent"), ([2_000], "the client sent 1 other frame, but no heartbeat"),
        ([1_999, 5_000], "the client sent 2 other frames, but no heartbeat"),
    ])
    func whatWasSentBeforeAHeartbeatWasDueIsNotTheReason(times: [Int], reason: String) throws {
        var capture = try MadeCapture()
        let text = try capture.chat.message("txt", [1])
        let position = 2 * capture.heartbeat.count
        capture.handshake()
        capture.heartbeats(0..<2, at: [0, 1_000])
        for (number, time) in times.enumerated() {
            capture.send(text, at: time, position: position + number * text.count)
        }
        capture.send(capture.heartbeat, at: 8_000, position: position + times.count * text.count)
        let findings = try capture.finish(.heartbeatResumed)
        #expect(findings.map { $0["message"] } == ["heartbeat resumed after 7.0 s: \(reason)"])
    }

    @Test func nobodyCanTellWhereBytesBelongToNoFrame() throws {
        var capture = try MadeCapture()
        let size = capture.heartbeat.count
        let garbage = Array("nothing of ours\r\n".utf8)
        capture.handshake()
        capture.heartbeats(0..<2, at: [0, 1_000])
        capture.send(garbage, at: 2_000, position: 2 * size)
        capture.send(capture.heartbeat, at: 6_000, position: 2 * size + garbage.count)
        #expect(try capture.blame() == ["unknown"])
    }

    @Test func nobodyCanTellWhereItCameInPiecesOrAllAtOnce() throws {
        var pieces = try MadeCapture()
        let heartbeat = pieces.heartbeat
        pieces.handshake()
        pieces.heartbeats(0..<2, at: [0, 1_000])
        pieces.send(Array(heartbeat[..<10]), at: 2_000, position: 2 * heartbeat.count)
        pieces.send(Array(heartbeat[10...]), at: 6_000, position: 2 * heartbeat.count + 10)
        #expect(try pieces.blame() == ["unknown"])
        var burst = try MadeCapture()
        burst.handshake()
        burst.heartbeats(0..<2, at: [0, 1_000])
        burst.send(heartbeat + heartbeat + heartbeat + heartbeat, at: 5_000, position: 2 * heartbeat.count)
        #expect(try burst.blame() == ["unknown"])
        var two = try MadeCapture()
        two.handshake()
        two.heartbeats(0..<2, at: [0, 1_000])
        two.send(heartbeat + heartbeat, at: 5_000, position: 2 * heartbeat.count)
        #expect(try two.blame() == ["sender"], "four were due")
    }

    /// As after a network that lost everything: TCP first retransmits the lost data, then the data queued after it.
    @Test func nobodyCanTellWhereAllThatWereDueFollow() throws {
        for (following, at, blame) in [(3, 5_001, "unknown"), (1, 5_001, "sender"), (3, 5_900, "sender")] {
            var capture = try MadeCapture()
            capture.handshake()
            capture.heartbeats(0..<3, at: [0, 1_000, 5_000])
            capture.heartbeats(3..<3 + following, at: [at, at, at])
            capture.heartbeats(3 + following..<4 + following, at: [6_000])
            let found = try capture.finish(.heartbeatResumed)
            #expect(found.map { $0.text(of: "data", "blame") } == [blame])
            #expect(found.map { $0["time"] } == ["1970-01-01T00:00:05.000000000Z"])
        }
    }

    @Test func whatNobodyCanTellYetIsReportedAtTheEnd() throws {
        var capture = try MadeCapture()
        let heartbeat = capture.heartbeat
        capture.handshake()
        capture.heartbeats(0..<2, at: [0, 1_000])
        capture.send(heartbeat + heartbeat, at: 5_000, position: 2 * heartbeat.count)
        #expect(try capture.findings().count { $0["kind"] == "heartbeat-resumed" } == 0)
        capture.advance(to: 5_501)
        #expect(try capture.findings().count { $0["kind"] == "heartbeat-resumed" } == 1)
        #expect(try capture.blame() == ["sender"])
    }

    @Test func aGapWithoutEndHasItsReason() throws {
        var capture = try MadeCapture()
        let size = capture.heartbeat.count
        capture.handshake()
        capture.heartbeats(0..<2, at: [0, 1_000])
        capture.send(.fromServer, at: 9_000, [.fin, .ack], acknowledging: 2 * size)
        capture.send(at: 9_100, position: 2 * size, [.fin, .ack], acknowledging: 1)
        let findings = try capture.finish(.heartbeatGap, .heartbeatStopped, .heartbeatResumed)
        #expect(findings.map { $0["kind"] } == ["heartbeat-gap", "heartbeat-stopped"])
        #expect(
            findings.last?["message"] == "heartbeats stopped 8.1 s before the end: the client was silent")
        var inTime = try MadeCapture()
        inTime.handshake()
        inTime.heartbeats(0..<2, at: [0, 1_000])
        inTime.send(at: 3_900, position: 2 * size, [.fin, .ack])
        inTime.send(.fromServer, at: 9_000, [.fin, .ack], acknowledging: 2 * size + 1)
        #expect(try inTime.finish(.heartbeatGap, .heartbeatStopped).isEmpty)
    }
}
