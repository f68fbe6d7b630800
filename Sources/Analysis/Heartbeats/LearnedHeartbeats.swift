import Expressions
import Framing
import Streams
import Trace

/// Finds gaps in frames that are as regular as heartbeats, if the format does not define any.
///
/// It must see every frame, so it runs only on request.
package final class LearnedHeartbeats: Analysis {
    private var connections: [Int: [Key: Candidate]] = [:]
    /// How many connections of each bucket of hosts these are.
    private var counts = [Int](repeating: 0, count: HostBuckets.count)
    /// When to check each type of a connection again.
    private var deadlines = PendingDeadlines<Deadline>()

    /// At most how many connections of a bucket it tracks at once.
    private let mostConnections: Int
    /// At most how many types of each side.
    private static let mostTypes = 8
    /// After this many intervals without one there is a gap.
    private static let gap: Int64 = 3

    private struct Key: Hashable, Comparable {
        var from: Direction
        var type: String

        static func < (left: Key, right: Key) -> Bool {
            (left.type, left.from.rawValue) < (right.type, right.from.rawValue)
        }
    }

    private struct Candidate {
        var last: Timestamp
        var interval = LearnedInterval()
        /// Once the interval is learned.
        var watch: HeartbeatWatch?
        /// When it is checked again, if at all.
        var scheduled: Timestamp?
    }

    /// What a deadline is for.
    private struct Deadline: Hashable, Comparable {
        var connection: Int
        var key: Key

        static func < (left: Deadline, right: Deadline) -> Bool {
            (left.connection, left.key) < (right.connection, right.key)
        }
    }

    /// Has seen nothing.
    ///
    /// - Parameter mostConnections: at most how many connections of each bucket of hosts it tracks at once.
    package init(mostConnections: Int = 1_024) { self.mostConnections = mostConnections }

    /// The earliest time at which a gap may have to be found.
    package var nextDeadline: Timestamp? { deadlines.first }

    /// How many deadlines are pending, stale entries included.
    package var pendingDeadlines: Int { deadlines.entries }

    /// All frames of formats without a contract.
    package func interest(in format: Format) -> FrameInterest { format.heartbeat == nil && format.isFramed ? .all : [] }

    /// Takes a frame: learns from it, or ends a gap with it.
    package func frame(
        _ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection, into findings: inout [Finding]
    ) {
        guard let format = connection.format, format.heartbeat == nil else { return }
        let number = connection.number
        if connections[number] == nil {
            let bucket = HostBuckets.bucket(of: connection)
            guard counts[bucket] < mostConnections else { return }
            counts[bucket] += 1
            connections[number] = [:]
        }
        let type = format.directions[frame.direction].type(of: bytes, frame.shape) ?? "frame"
        let key = Key(from: frame.direction, type: type)
        let info = frame.info
        guard var candidate = connections[number]?[key] else {
            let own = connections[number]?.count { $0.key.from == key.from } ?? 0
            if own < Self.mostTypes { connections[number]?[key] = Candidate(last: info.time) }
            return
        }
        candidate.interval.add(info.time - candidate.last)
        candidate.last = info.time
        if candidate.interval.isLearned {
            update(&candidate, key, with: info, on: connection, into: &findings)
            schedule(&candidate, key, on: number)
        }
        connections[number]?[key] = candidate
    }

    /// A postponed deadline is handled when its entry fires; an advanced one gets another entry.
    private func schedule(_ candidate: inout Candidate, _ key: Key, on number: Int) {
        guard let watch = candidate.watch, !watch.isReported, watch.deadline < candidate.scheduled ?? .distantFuture
        else {
            return
        }
        candidate.scheduled = watch.deadline
        deadlines.arm(Deadline(connection: number, key: key), at: watch.deadline)
    }

    private func update(
        _ candidate: inout Candidate, _ key: Key, with info: FrameInfo, on connection: TracedConnection,
        into findings: inout [Finding]
    ) {
        if let watch = candidate.watch {
            if info.time > watch.deadline, !watch.isReported {
                findings += watch.reportGap(frames: info.index)
            }
            if watch.isReported { findings.append(watch.resumptionAtOnce(with: info)) }
        }
        guard let contract = Self.contract(key.from, every: candidate.interval.mean) else { return }
        let watch = HeartbeatWatch(connection, SharedContract(contract))
        watch.learned = HeartbeatWatch.LearnedFrom(
            type: key.type, gaps: candidate.interval.count, spread: candidate.interval.spread)
        watch.witness = candidate.watch?.witness
        watch.note(info, key.type)
        candidate.watch = watch
    }

    private static func contract(_ from: Direction, every: Interval) -> HeartbeatContract? {
        // The candidate defines what a heartbeat is: its type.
        guard let condition = try? Expression(parsing: "type exists") else { return nil }
        let silence = Interval(nanoseconds: min(every.nanoseconds, Int64.max / gap) * gap)
        return HeartbeatContract(condition: condition, from: from, every: every, gap: silence)
    }

    /// Stops waiting for a side that has ended.
    package func finished(
        _ direction: Direction, at time: Timestamp, on connection: TracedConnection, into findings: inout [Finding]
    ) {
        guard let candidates = connections[connection.number] else { return }
        for (key, candidate) in candidates.sorted(by: { $0.key < $1.key }) where key.from == direction {
            end(candidate, at: time, because: nil, into: &findings)
            deadlines.cancel(Deadline(connection: connection.number, key: key))
            connections[connection.number]?[key] = nil
        }
    }

    /// Stops waiting.
    package func closed(_ closing: Closing, on connection: TracedConnection, into findings: inout [Finding]) {
        guard let candidates = connections.removeValue(forKey: connection.number) else { return }
        counts[HostBuckets.bucket(of: connection)] -= 1
        for candidate in candidates.sorted(by: { $0.key < $1.key }) {
            end(candidate.value, at: closing.time, because: closing.reason, into: &findings)
            deadlines.cancel(Deadline(connection: connection.number, key: candidate.key))
        }
    }

    private func end(
        _ candidate: Candidate, at time: Timestamp, because reason: CloseReason?, into findings: inout [Finding]
    ) {
        guard let watch = candidate.watch else { return }
        if time > watch.deadline, !watch.isReported {
            findings += watch.reportGap(frames: watch.connection.traffic[watch.from].frames)
        }
        if watch.isReported { findings.append(watch.stop(at: time, because: reason)) }
    }

    /// Finds gaps of a connection whose deadline lies before `time`.
    package func settle(
        _ connection: TracedConnection, before known: PerDirection<Timestamp>, into findings: inout [Finding]
    ) {
        for (key, candidate) in (connections[connection.number] ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard let watch = candidate.watch, watch.deadline < known[key.from], !watch.isReported else { continue }
            findings += watch.reportGap(frames: watch.connection.traffic[watch.from].frames)
            connections[connection.number]?[key]?.watch = watch
        }
    }

    /// Finds every gap whose deadline lies before `time`.
    package func advance(to time: Timestamp, into findings: inout [Finding]) {
        while let (due, _) = deadlines.popFirst(before: time) {
            guard var candidate = connections[due.connection]?[due.key], let watch = candidate.watch else { continue }
            candidate.scheduled = nil
            if watch.deadline < time, !watch.isReported {
                findings += watch.reportGap(frames: watch.connection.traffic[watch.from].frames)
            }
            candidate.watch = watch
            schedule(&candidate, due.key, on: due.connection)
            connections[due.connection]?[due.key] = candidate
        }
    }
}
