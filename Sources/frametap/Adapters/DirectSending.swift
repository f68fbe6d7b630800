import Framing
import Pipeline
import Proxy
import Replay
import Streams
import Trace

/// A connection of `frametap send` to a server.
final class DirectSending: SendingConnection {
    private(set) var answered: [FrameEvent] = []
    var isOpen: Bool { ending == nil }
    private let connection: ServerConnection
    private let receivers: [any ConnectionReceiver]
    private let decoders: [Decoder]
    private let answers: TraceReading
    private let timeout: Interval
    private var ending: Ending?

    /// Connects.
    ///
    /// - Parameters:
    ///   - number: the connection's.
    ///   - timeout: how long to wait for the server, and for each answer.
    ///   - decoders: what decode both sides.
    ///   - answers: a sink of one of them, from which the answers are taken.
    init(number: Int, to: HostPort, timeout: Interval, _ decoders: [Decoder], _ answers: TraceReading) async throws {
        connection = try await ServerConnection.open(host: to.host, port: to.port, timeout: timeout)
        let ends = connection.ends
        let opening = Opening(number: number, time: WallClock.now(), client: ends.client, server: ends.server)
        receivers = decoders.map { $0.open(opening) }
        (self.decoders, self.answers, self.timeout) = (decoders, answers, timeout)
    }

    func send(_ bytes: [UInt8]) async throws -> MissingAnswer? {
        // What has come before is no answer to it.
        _ = takeArrivals()
        if let ending { return MissingAnswer(reason: "\(ending.inWords) before it was sent", isSent: false) }
        let count = answered.count
        let now = WallClock.now()
        for decoder in decoders { decoder.advance(to: now) }
        for receiver in receivers { receiver.received(bytes.span.bytes, from: .fromClient, at: now, packet: 0) }
        // A server that does not read must not be waited for beyond the timeout.
        connection.write(bytes)
        let deadline = ContinuousClock.now + .nanoseconds(timeout.nanoseconds)
        var latest: ContinuousClock.Instant?
        while ending == nil {
            let clock = ContinuousClock.now
            // First: what has arrived counts, even if this was delayed beyond the deadline.
            if takeArrivals() { latest = clock }
            if clock >= min(latest.map { $0 + .nanoseconds(Self.quiet.nanoseconds) } ?? deadline, deadline) { break }
            try await Task.sleep(for: .milliseconds(2))
        }
        for decoder in decoders { decoder.flush() }
        if answered.count > count { return nil }
        return ending.map { MissingAnswer(reason: $0.inWords) } ?? Self.unanswered(in: timeout)
    }

    /// Takes what has arrived.
    ///
    /// - Returns: whether there is a frame among it, or one is whole now.
    private func takeArrivals() -> Bool {
        let arrivals = connection.take()
        let now = WallClock.now()
        for decoder in decoders { decoder.advance(to: now) }
        for arrival in arrivals {
            switch arrival {
            case .bytes(let bytes):
                for receiver in receivers { receiver.received(bytes.span.bytes, from: .fromServer, at: now, packet: 0) }
            case .ended(let ending):
                self.ending = ending
                for receiver in receivers { receiver.finished(ending, from: .fromServer, at: now) }
            }
        }
        let frames = answers.takeItems().compactMap(\.frame).filter { $0.from == .fromServer }
        answered += frames
        return !frames.isEmpty
    }

    func close() {
        let now = WallClock.now()
        let reason: CloseReason = ending == .reset ? .reset : .fin
        let closing = Closing(reason: reason, by: ending == nil ? .fromClient : .fromServer, time: now)
        for receiver in receivers { receiver.closed(closing) }
        connection.close()
    }
}

extension Ending {
    fileprivate var inWords: String {
        switch self {
        case .fin: "the server closed the connection"
        case .reset: "the server reset the connection"
        }
    }
}
