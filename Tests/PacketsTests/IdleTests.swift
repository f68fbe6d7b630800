import Packets
import Streams
import Testing

/// Idle connections, and too many of them.
@Suite struct IdleTests {
    private static let hour = 3_600_000

    @Test func aConnectionThatSpeaksAgainKeepsItsNumberAndPlace() {
        var talk = Conversation()
        talk.handshake()
        talk.client(100, "abc", ack: 200)
        talk.client(105, "fgh", ack: 200)
        talk.advance(milliseconds: Self.hour)
        #expect(talk.story == ["1 handshake", "c:abc"])
        talk.advance(milliseconds: Self.hour + 1)
        #expect(talk.story == ["1 handshake", "c:abc", "c-2", "c:fgh"])
        #expect(talk.notices(.fromClient).last == .idle)
        talk.client(108, "ijk", ack: 200)
        talk.server(200, "xyz", ack: 111)
        talk.finish()
        #expect(
            Array(talk.story.dropFirst(4)) == ["c:ijk", "s:xyz", "1 end-of-input"])
        #expect(talk.notices(.fromServer).last == .acknowledged(offset: 11))
    }

    /// Whether the reassembler is called in between, or the next packet comes immediately.
    @Test func aSilenceCountsWhoeverLooks() {
        for looks in [false, true] {
            var talk = Conversation()
            talk.handshake()
            talk.client(105, "fgh", ack: 200)
            if looks {
                for _ in 0..<30 { talk.advance(milliseconds: Self.hour / 10) }
            } else {
                talk.time += 3 * Self.hour
            }
            talk.client(100, "abcde", ack: 200)
            talk.finish()
            #expect(talk.story == ["1 handshake", "c-5", "c:fgh", "1 end-of-input"])
            #expect(
                talk.notices(.fromClient).contains(.late(offset: 0, bytes: Array("abcde".utf8))),
                "if only the clock was set, the bytes are captured, and late")
        }
    }

    @Test func whoSpeaksIsNotDropped() {
        var talk = Conversation()
        talk.handshake()
        talk.client(105, "fgh")
        for _ in 0..<50 {
            talk.advance(milliseconds: Self.hour - 1)
            talk.server(200, ack: 100)
        }
        talk.client(100, "abcde")
        #expect(talk.story == ["1 handshake", "c:abcde", "c:fgh"])
    }

    @Test func theOptionIsHeeded() {
        for (seconds, isLetGo) in [(10, true), (0, false)] {
            var options = ReassemblyOptions()
            options.idleTimeout = .seconds(Double(seconds))
            var talk = Conversation(options)
            talk.handshake()
            talk.client(105, "fgh")
            talk.advance(milliseconds: 100 * Self.hour)
            #expect(talk.notices(.fromClient).contains(.idle) == isLetGo)
        }
    }

    /// Opens connections from as many addresses.
    private func open(_ count: Int, _ reassembler: inout TCPReassembler, step: Int = 0) {
        for index in 0..<count { Self.send(index, 100, at: index * step, to: &reassembler) }
    }

    private static func send(
        _ index: Int, _ sequence: UInt32, at milliseconds: Int, to reassembler: inout TCPReassembler
    ) {
        let time = Timestamp(nanoseconds: Int64(milliseconds) * 1_000_000)
        let segment = TCPSegment(
            source: Endpoint(IPAddress(v4: UInt32(index + 1)), 40_000), destination: Endpoint(IPAddress(v4: 0), 80),
            sequence: sequence, flags: sequence == 100 ? .syn : [], payloadLength: sequence == 100 ? 0 : 1)
        let payload = [UInt8](repeating: 1, count: segment.payloadLength)
        reassembler.advance(to: time)
        reassembler.receive(segment, payload: payload.span.bytes, at: time, packet: 1)
    }

    private func closed(_ log: StreamEventLog) -> [String] {
        log.events.compactMap { event in
            if case .closed(let number, let closing) = event { "\(number) \(closing.reason.rawValue)" } else { nil }
        }
    }

    /// - Parameter awakeLimit: how many connections are not packed.
    @Test(arguments: [0, 1, .max]) func ofManyIdleConnectionsTheFirstAreClosed(awakeLimit: Int) {
        var options = ReassemblyOptions()
        (options.idleLimit, options.awakeLimit) = (3, awakeLimit)
        let log = StreamEventLog()
        var reassembler = TCPReassembler(options: options, receiver: log)
        open(5, &reassembler)
        Self.send(1, 101, at: Self.hour / 2, to: &reassembler)
        reassembler.advance(to: Timestamp(nanoseconds: Int64(Self.hour + 1) * 1_000_000))
        // The second spoke half an hour ago; of the other four the first is one too many.
        #expect(closed(log) == ["1 timeout"])
        guard case .closed(_, let closing) = log.events.last else { return }
        #expect(closing.time == Timestamp(nanoseconds: Int64(Self.hour) * 1_000_000))
        // If it sends again, it is another connection.
        Self.send(0, 101, at: Self.hour + 2, to: &reassembler)
        Self.send(2, 101, at: Self.hour + 3, to: &reassembler)
        reassembler.finish()
        #expect(reassembler.connectionCount == 6)
        #expect(log.bytes(of: 3, from: .fromClient) == [1])
        #expect(
            closed(log).dropFirst() == [
                "2 end-of-input", "3 end-of-input", "4 end-of-input", "5 end-of-input", "6 end-of-input",
            ])
    }

    /// Whatever is noted for later is due at once there.
    @Test(arguments: [0, 3600]) func theEndOfTimeEnds(timeout: Int) {
        var options = ReassemblyOptions()
        options.idleTimeout = .seconds(Double(timeout))
        let log = StreamEventLog()
        var reassembler = TCPReassembler(options: options, receiver: log)
        for (index, time) in [Int64.max - 1, .max, .max].enumerated() {
            let segment = TCPSegment(
                source: Endpoint(IPAddress(v4: UInt32(index + 1)), 40_000),
                destination: Endpoint(IPAddress(v4: 0), 80), sequence: 100, flags: .syn, payloadLength: 0)
            reassembler.advance(to: Timestamp(nanoseconds: time))
            reassembler.receive(
                segment, payload: RawSpan(), at: Timestamp(nanoseconds: time), packet: index + 1)
        }
        reassembler.finish()
        #expect(reassembler.connectionCount == 3)
    }

    /// - Parameters:
    ///   - awakeLimit: how many connections are not packed.
    ///   - timeout: in seconds; 0 for none.
    @Test(arguments: [0, 1, .max], [0, 3600])
    func ofTooManyOpenConnectionsThoseThatAreSilentAreEvicted(awakeLimit: Int, timeout: Int) {
        var options = ReassemblyOptions()
        options.idleTimeout = .seconds(Double(timeout))
        (options.connectionLimit, options.awakeLimit) = (4, awakeLimit)
        let log = StreamEventLog()
        var reassembler = TCPReassembler(options: options, receiver: log)
        open(4, &reassembler, step: 1)
        Self.send(0, 101, at: 10, to: &reassembler)
        for index in 4..<7 { Self.send(index, 100, at: 20, to: &reassembler) }
        #expect(closed(log) == ["2 evicted", "3 evicted", "4 evicted"])
        Self.send(0, 102, at: 30, to: &reassembler)
        reassembler.finish()
        #expect(log.bytes(of: 1, from: .fromClient) == [1, 1])
    }

    @Test(arguments: [0, 3600])
    func theLimitHoldsHoweverManyAreOpened(timeout: Int) {
        var options = ReassemblyOptions()
        options.connectionLimit = 100
        options.idleTimeout = .seconds(Double(timeout))
        let log = StreamEventLog()
        var reassembler = TCPReassembler(options: options, receiver: log)
        open(20_000, &reassembler, step: 1)
        #expect(closed(log).count == 20_000 - 100)
        reassembler.finish()
        #expect(closed(log).count == 20_000)
    }
}
