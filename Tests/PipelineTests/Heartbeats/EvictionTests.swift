import Packets
import Streams
import TestSupport
import Testing
import Trace

/// Silences that the server may act on: im-json's evicts after 20 s, and sweeps every 30 s.
@Suite struct EvictionTests {
    /// Two heartbeats, the last at 1 s, and the end of the connection; the findings about eviction.
    private func findings(
        closedAt end: Int, by direction: Direction = .fromServer, _ flags: TCPFlags = [.fin, .ack],
        textAt text: Int? = nil
    ) throws -> [TraceLine] {
        var capture = try MadeCapture()
        let message = try capture.chat.message("txt", [1])
        var size = 2 * capture.heartbeat.count
        capture.handshake()
        capture.heartbeats(0..<2, at: [0, 1_000])
        if let text {
            capture.send(message, at: text, position: size)
            size += message.count
        }
        let isClient = direction == .fromClient
        capture.send(
            direction, at: end, position: isClient ? size : 0, flags, acknowledging: isClient ? 0 : size)
        if flags.contains(.fin) {
            capture.send(
                direction.opposite, at: end + 100, position: isClient ? 0 : size, flags,
                acknowledging: isClient ? size + 1 : 1)
        }
        capture.advance(to: end + 5_000)
        return try capture.finish(.evictionWindow, .evictionClose, .evictionOverdue)
    }

    @Test(arguments: [TCPFlags([.fin, .ack]), TCPFlags([.rst, .ack])])
    func aCloseWithinTheWindowFits(flags: TCPFlags) throws {
        let found = try findings(closedAt: 35_000, flags)
        #expect(found.map { $0["kind"] } == ["eviction-window", "eviction-close"])
        #expect(found[0]["time"] == "1970-01-01T00:00:21.000000000Z")
        #expect(
            found[0]["message"]
                == "the server has heard nothing for 20.0 s: it evicts between 20 s and 50 s")
        #expect(
            found[1]["message"]
                == "closed by the server after 34.0 s of silence: fits: it evicts between 20 s and 50 s")
        #expect(found[1].text.contains(#""fits":true"#))
    }

    @Test func aCloseAfterItDoesNotAndIsOverdue() throws {
        let found = try findings(closedAt: 70_000)
        #expect(found.map { $0["kind"] } == ["eviction-window", "eviction-overdue", "eviction-close"])
        #expect(found.last?.text.contains(#""fits":false"#) == true)
    }

    @Test func theSilentSideIsNotEvictedByItself() throws {
        let found = try findings(closedAt: 35_000, by: .fromClient)
        #expect(found.map { $0["kind"] } == ["eviction-window", "eviction-close"])
        #expect(found.last?.text.contains(#""fits":false"#) == true)
    }

    @Test func anyFrameIsHeard() throws {
        #expect(try findings(closedAt: 35_000, textAt: 20_500).isEmpty, "15 s of silence")
        let found = try findings(closedAt: 45_000, textAt: 20_500)
        #expect(found.map { $0["time"] }.first == "1970-01-01T00:00:40.500000000Z")
        #expect(try findings(closedAt: 20_900).isEmpty, "closed before")
    }
}

/// Connections without heartbeats, and with late ones.
@Suite struct LatenessTests {
    @Test func thereNeverWasOne() throws {
        var capture = try MadeCapture()
        let text = try capture.chat.message("txt", [1])
        capture.handshake()
        capture.send(text, at: 1_000)
        capture.advance(to: 3_001)
        #expect(
            try capture.findings().map { $0["kind"] } == ["heartbeat-never", "traffic-without-heartbeats"],
            "told as soon as time is up")
        capture.send(capture.heartbeat, at: 9_000, position: text.count)
        capture.send(text, at: 13_000, position: text.count + capture.heartbeat.count)
        let found = try capture.finish(.heartbeatNever, .heartbeatGap)
        #expect(found.map { $0["kind"] } == ["heartbeat-never", "heartbeat-gap"])
        #expect(found[0]["time"] == "1970-01-01T00:00:03.000000000Z")
        #expect(found[1]["time"] == "1970-01-01T00:00:12.000000000Z")
        var inTime = try MadeCapture()
        inTime.handshake()
        inTime.heartbeats(0..<1, at: [3_000])
        #expect(try inTime.finish(.heartbeatNever).isEmpty)
        var short = try MadeCapture()
        short.handshake()
        short.send(text, at: 1_000)
        short.send(at: 2_000, position: text.count, [.fin, .ack])
        short.advance(to: 60_000)
        #expect(try short.finish(.heartbeatNever).isEmpty, "its sender had ended before")
    }

    @Test func aLateOneIsReportedAndManyAreCounted() throws {
        var capture = try MadeCapture()
        capture.handshake()
        // Late begins halfway between 1 and 3 s; 2 s is not late.
        capture.heartbeats(0..<4, at: [0, 1_000, 3_000, 5_500])
        let found = try capture.finish(.lateHeartbeat)
        #expect(found.map { $0["message"] } == ["late heartbeat: 2.5 s after heartA, expected every 1 s"])
        var many = try MadeCapture()
        many.handshake()
        many.heartbeats(0..<16, at: (0..<16).map { $0 * 2_500 })
        let all = try many.finish(.lateHeartbeat)
        #expect(all.count == 11 && all.last?["message"] == "5 more heartbeats from the client late")
    }
}
