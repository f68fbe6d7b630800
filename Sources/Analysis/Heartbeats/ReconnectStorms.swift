import Framing
import HeapModule
import Streams
import Trace

/// Finds clients that reconnect repeatedly, each time immediately: no pause, or too short a one, between a connection that they
/// lost and the next from the same address to the same server. If the client closed a connection cleanly, the next one is not a
/// reconnect.
///
/// A bounded number of endpoint pairs is remembered of each bucket of hosts, and of each pair only the latest connections.
package final class ReconnectStorms: Analysis {
    /// A connection that opens this soon after the end of another is a reconnect.
    static let pause = Interval.seconds(2)
    /// This many reconnects within `window` are a storm.
    static let reconnects = 5
    /// The time in which they are counted together; a storm is over after this long without one.
    static let window = Interval.seconds(60)
    /// How long openings and ends are kept for sorting: a capture may report the end of a connection a little later than the
    /// opening of the next one.
    static let patience = Interval.milliseconds(2_500)
    /// How many ends of connections are kept of an endpoint pair.
    private static let mostEnded = 64
    /// How many endpoint pairs of a bucket are remembered, and how many of its openings and ends are sorted at once.
    private let most: (ends: Int, events: Int)

    private struct Ends: Hashable {
        var client: IPAddress
        var server: Endpoint
    }

    /// An opening or an end; at the same time ends come first.
    private struct Event: Comparable {
        var time: Timestamp
        var isOpening: Bool
        var connection: TracedConnection

        private var order: (Timestamp, Int, Int) { (time, isOpening ? 1 : 0, connection.number) }

        static func < (left: Event, right: Event) -> Bool { left.order < right.order }
        static func == (left: Event, right: Event) -> Bool { left.order == right.order }
    }

    private struct Opened {
        var time: Timestamp
        var connection: TracedConnection
    }

    private struct History {
        /// When connections ended that have not been followed by another.
        var ended: [Timestamp] = []
        /// The openings of the latest reconnects, in chronological order.
        var reconnects: [Opened] = []
        /// Until when nothing more is reported about a storm.
        var quietUntil: Timestamp?
        var latest = Timestamp(nanoseconds: .min)
    }

    /// What is known of the connections of a bucket of hosts.
    private struct Bucket {
        var events = Heap<Event>()
        var histories: [Ends: History] = [:]
        /// When old entries were last removed from the table.
        var cleared = Timestamp(nanoseconds: .min)
    }

    private var buckets = [Bucket](repeating: Bucket(), count: HostBuckets.count)
    /// When the first opening or end of each bucket is old enough.
    private var deadlines = PendingDeadlines<Int>()

    /// Has seen no connection.
    ///
    /// - Parameters:
    ///   - mostPairs: how many endpoint pairs are remembered of each bucket of hosts.
    ///   - mostEvents: how many openings and ends of each bucket are sorted at once; more are taken before they are old enough.
    package init(mostPairs: Int = 1_024, mostEvents: Int = 2_048) { most = (mostPairs, mostEvents) }

    /// When the next opening or end is old enough.
    package var nextDeadline: Timestamp? { deadlines.first }

    /// Takes an opening.
    package func opened(_ connection: TracedConnection, into findings: inout [Finding]) {
        let opening = connection.opening
        // If the proxy had no server to connect to, it is not a server's storm.
        guard opening.handshake, !opening.server.address.isUnspecified else { return }
        keep(Event(time: opening.time, isOpening: true, connection: connection), into: &findings)
    }

    /// Takes an end.
    package func closed(_ closing: Closing, on connection: TracedConnection, into findings: inout [Finding]) {
        switch closing.reason {
        case .endOfInput, .evicted: return
        case .fin where closing.by == .fromClient || Self.isAnswered(connection): return
        case .fin, .reset, .timeout, .connectFailed, .refusedByLimit, .tlsFailed, .rule: break
        }
        if connection.opening.server.address.isUnspecified { return }
        keep(Event(time: closing.time, isOpening: false, connection: connection), into: &findings)
    }

    /// Whether it was opened for one exchange, which the server ends: a connection without heartbeats is not meant to stay open.
    private static func isAnswered(_ connection: TracedConnection) -> Bool {
        connection.known?.format.heartbeat == nil && connection.hadBytes.fromClient && connection.hadBytes.fromServer
    }

    private func keep(_ event: Event, into findings: inout [Finding]) {
        let bucket = HostBuckets.bucket(of: event.connection)
        buckets[bucket].events.insert(event)
        if buckets[bucket].events.count > most.events { takeFirst(of: bucket, into: &findings) }
        arm(bucket)
    }

    /// Processes entries that are old enough, in chronological order.
    package func advance(to time: Timestamp, into findings: inout [Finding]) {
        while let (bucket, _) = deadlines.popFirst(before: time) {
            takeFirst(of: bucket, into: &findings)
            arm(bucket)
        }
    }

    /// Processes the remaining entries.
    package func finish(into findings: inout [Finding]) {
        advance(to: .distantFuture, into: &findings)
        // Those whose time is the end of time.
        for bucket in buckets.indices {
            while !buckets[bucket].events.isEmpty { takeFirst(of: bucket, into: &findings) }
            arm(bucket)
        }
    }

    /// A bucket's first entry may be another one now.
    private func arm(_ bucket: Int) {
        if let first = buckets[bucket].events.min {
            deadlines.arm(bucket, at: first.time + Self.patience)
        } else {
            deadlines.cancel(bucket)
        }
    }

    private func takeFirst(of bucket: Int, into findings: inout [Finding]) {
        guard let event = buckets[bucket].events.popMin() else { return }
        let opening = event.connection.opening
        let ends = Ends(client: opening.client.address, server: opening.server)
        let known = buckets[bucket].histories[ends]
        // A mere opening need not be remembered.
        if event.isOpening, known == nil { return }
        if known == nil, buckets[bucket].histories.count >= most.ends, !makeRoom(in: bucket, at: event.time) { return }
        var history = known ?? History()
        history.latest = max(history.latest, event.time)
        history.ended.removeAll { Self.pause < event.time - $0 }
        if !event.isOpening {
            history.ended.append(event.time)
            if history.ended.count > Self.mostEnded { history.ended.removeFirst() }
        } else if history.ended.popLast() != nil {
            history.reconnects.append(Opened(time: event.time, connection: event.connection))
            if history.reconnects.count > Self.reconnects { history.reconnects.removeFirst() }
            report(&history, ends, into: &findings)
        }
        buckets[bucket].histories[ends] = history
    }

    /// Removes entries of a bucket too old to matter; returns whether there is room now.
    private func makeRoom(in bucket: Int, at time: Timestamp) -> Bool {
        guard Interval.seconds(1) < time - buckets[bucket].cleared else { return false }
        buckets[bucket].cleared = time
        buckets[bucket].histories = buckets[bucket].histories.filter { !(Self.window < time - $0.value.latest) }
        return buckets[bucket].histories.count < most.ends
    }

    private func report(_ history: inout History, _ ends: Ends, into findings: inout [Finding]) {
        guard history.reconnects.count == Self.reconnects, let first = history.reconnects.first,
            let last = history.reconnects.last, !(Self.window < last.time - first.time)
        else { return }
        let isGoingOn = history.quietUntil.map { last.time <= $0 } ?? false
        history.quietUntil = last.time + Self.window
        guard !isGoingOn else { return }
        let span = last.time - first.time
        findings.append(
            Finding(
                kind: .reconnectStorm, severity: .warning, connection: last.connection.number,
                format: last.connection.known?.format.name,
                from: .fromClient, time: last.time,
                message:
                    "reconnect storm: \(ends.client) reconnected to \(ends.server) \(Self.reconnects) times in \(span.text(digits: true)), each time immediately",
                data: [
                    Field("reconnects", .integer(Int64(Self.reconnects))), Field("within", .number(span.seconds)),
                    Field("client", .text("\(ends.client)")), Field("server", .text("\(ends.server)")),
                    Field("firstConnection", .integer(Int64(first.connection.number))),
                ]))
    }
}

extension IPAddress {
    /// Whether it is the unspecified address (RFC 4291 section 2.5.2, RFC 1122 section 3.2.1.3).
    fileprivate var isUnspecified: Bool { high == 0 && low == 0 }
}
