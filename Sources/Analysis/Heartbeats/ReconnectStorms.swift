import Framing
import Streams
import Trace

/// Finds clients that connect again and again, each time at once: no pause, or too short a one, between a connection that they
/// lost and the next from the same address to the same server. A client that closed it in order wanted no more of it, and the
/// next one is no reconnect.
///
/// Of at most so many pairs of ends something is remembered, and of each only the latest.
public final class ReconnectStorms: Analysis {
    /// A connection that opens so soon after the end of another is a reconnect.
    static let pause = Interval.seconds(2)
    /// So many reconnects within `window` are a storm.
    static let reconnects = 5
    /// The time in which they count together; without one for as long the storm is over.
    static let window = Interval.seconds(60)
    /// Of how many pairs of ends something is remembered.
    private static let mostEnds = 8_192
    /// How many openings and ends of a pair are remembered until they are seen to belong together.
    private static let mostEvents = 16

    private struct Ends: Hashable {
        var client: IPAddress
        var server: Endpoint
    }

    private struct Opened {
        var time: Timestamp
        var connection: Int
        var format: String?
    }

    private struct History {
        /// When connections ended, and when others opened, that belong to no reconnect yet.
        var ended: [Timestamp] = []
        var opened: [Opened] = []
        /// The openings of the latest reconnects, in order of time.
        var reconnects: [Opened] = []
        /// Until when nothing more is told of a storm.
        var quietUntil: Timestamp?
        var latest = Timestamp(nanoseconds: .min)
    }

    private var histories: [Ends: History] = [:]
    /// When the table was last cleared of what is old.
    private var cleared = Timestamp(nanoseconds: .min)

    /// Has seen no connection.
    public init() {}

    /// Nothing is waited for.
    public var nextDeadline: Timestamp? { nil }

    /// None.
    public func interest(in format: Format) -> FrameInterest { [] }

    /// Takes an opening, once the connection's format is known, or known not to be recognised.
    public func recognised(_ connection: TracedConnection, into findings: inout [Finding]) {
        let opening = connection.opening
        guard opening.handshake else { return }
        note(opening, at: opening.time, into: &findings) { history in
            history.opened.append(
                Opened(time: opening.time, connection: connection.number, format: connection.format?.name))
            if history.opened.count > Self.mostEvents { history.opened.removeFirst() }
        }
    }

    /// Needs none.
    public func frame(
        _ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection, into findings: inout [Finding]
    ) {}

    /// Needs nothing.
    public func finished(
        _ direction: Direction, at time: Timestamp, on connection: TracedConnection, into findings: inout [Finding]
    ) {}

    /// Takes an end.
    public func closed(_ closing: Closing, on connection: TracedConnection, into findings: inout [Finding]) {
        switch closing.reason {
        case .endOfInput, .evicted, .refusedByLimit: return
        case .fin where closing.by == .fromClient: return
        case .fin, .reset, .timeout, .connectFailed: break
        }
        note(connection.opening, at: closing.time, into: &findings) { history in
            history.ended.append(closing.time)
            if history.ended.count > Self.mostEvents { history.ended.removeFirst() }
        }
    }

    /// Waits for nothing.
    public func advance(to time: Timestamp, into findings: inout [Finding]) {}

    private func note(
        _ opening: Opening, at time: Timestamp, into findings: inout [Finding], _ change: (inout History) -> Void
    ) {
        let ends = Ends(client: opening.client.address, server: opening.server)
        if histories[ends] == nil, histories.count >= Self.mostEnds, !makeRoom(at: time) { return }
        var history = histories[ends] ?? History()
        history.latest = max(history.latest, time)
        change(&history)
        join(&history, ends, into: &findings)
        histories[ends] = history
    }

    /// Forgets what is too old to matter; says whether there is room now.
    private func makeRoom(at time: Timestamp) -> Bool {
        guard Interval.seconds(1) < time - cleared else { return false }
        cleared = time
        histories = histories.filter { !(Self.window < time - $0.value.latest) }
        return histories.count < Self.mostEnds
    }

    /// Puts openings together with the ends before them. They may come in any order: that a connection is over, a capture may
    /// tell later than that the next one opened.
    private func join(_ history: inout History, _ ends: Ends, into findings: inout [Finding]) {
        history.opened.sort { $0.time < $1.time }
        for opened in history.opened {
            let before = history.ended.indices.filter {
                history.ended[$0] <= opened.time && !(Self.pause < opened.time - history.ended[$0])
            }
            guard let end = before.max(by: { history.ended[$0] < history.ended[$1] }) else { continue }
            history.ended.remove(at: end)
            history.opened.removeAll { $0.connection == opened.connection }
            history.reconnects.append(opened)
            history.reconnects.sort { $0.time < $1.time }
            if history.reconnects.count > Self.reconnects { history.reconnects.removeFirst() }
            tell(&history, ends, into: &findings)
        }
    }

    private func tell(_ history: inout History, _ ends: Ends, into findings: inout [Finding]) {
        guard history.reconnects.count == Self.reconnects, let first = history.reconnects.first,
            let last = history.reconnects.last, !(Self.window < last.time - first.time)
        else { return }
        let isGoingOn = history.quietUntil.map { last.time <= $0 } ?? false
        history.quietUntil = last.time + Self.window
        guard !isGoingOn else { return }
        let span = last.time - first.time
        findings.append(
            Finding(
                kind: .reconnectStorm, severity: .warning, connection: last.connection, format: last.format,
                from: .fromClient, time: last.time,
                message:
                    "reconnect storm: \(ends.client) connected again to \(ends.server) \(Self.reconnects) times in \(span.text(digits: true)), each time at once",
                data: [
                    Field("reconnects", .integer(Int64(Self.reconnects))), Field("within", .number(span.seconds)),
                    Field("client", .text("\(ends.client)")), Field("server", .text("\(ends.server)")),
                    Field("firstConnection", .integer(Int64(first.connection))),
                ]))
    }
}
