import Framing
import Streams
import Trace

/// Checks the heartbeats of connections against the format's contract: late ones, gaps and their ends, silences that the other
/// side may act on, and connections without any.
///
/// Each finding is reported once, with the time of its deadline. The clock starts with the first heartbeat and stops when its
/// sender's stream ends. Only connections that sent a heartbeat take memory; of those that did not, a limited number is waited
/// for, and the others are reported when they are over.
package final class HeartbeatMonitor: Analysis {
    private var watched: [Int: HeartbeatWatch] = [:]
    /// When to check each connection again, by its number. A heartbeat that postpones a deadline changes only the watch: the
    /// armed deadline follows when it fires. One that advances it, as after a gap, rearms it.
    private var deadlines = PendingDeadlines<Int>()
    /// How many of the watched have not sent any heartbeat, in each bucket of hosts.
    private var expecting = [Int](repeating: 0, count: HostBuckets.count)
    /// At most how many connections of a bucket at once have their first heartbeat waited for.
    private let mostExpected: Int

    /// A monitor that watches nothing yet.
    ///
    /// - Parameter mostExpected: at most how many connections of each bucket of hosts at once have their first heartbeat waited
    ///   for; on others its absence is reported when they are over.
    package init(mostExpected: Int = 1_024) {
        self.mostExpected = mostExpected
    }

    /// The earliest time at which there may be a finding.
    package var nextDeadline: Timestamp? { deadlines.first }

    /// How many connections and deadlines it remembers.
    package var remembered: Int { watched.count + deadlines.count }

    /// How many deadlines are pending, stale entries included.
    package var pendingDeadlines: Int { deadlines.entries }

    /// Heartbeats; all frames if others count or say how often heartbeats come.
    package func interest(in format: Format) -> FrameInterest {
        guard let contract = format.heartbeat else { return [] }
        return contract.counts == .frames || contract.announced != nil ? .all : .heartbeats
    }

    /// Waits for the first heartbeat.
    package func recognised(_ connection: TracedConnection, into findings: inout [Finding]) {
        guard connection.hasBegun, let contract = connection.known?.heartbeat else { return }
        let bucket = HostBuckets.bucket(of: connection)
        guard expecting[bucket] < mostExpected else { return }
        expecting[bucket] += 1
        let expected = HeartbeatWatch(connection, contract)
        expected.isExpected = true
        schedule(expected, at: expected.deadline)
        watched[connection.number] = expected
    }

    private func schedule(_ watch: HeartbeatWatch, at time: Timestamp) {
        if let scheduled = watch.scheduled, scheduled <= time { return }
        watch.scheduled = time
        deadlines.arm(watch.connection.number, at: time)
    }

    /// Takes a heartbeat; reports if its deadline had passed unnoticed.
    package func frame(
        _ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection, into findings: inout [Finding]
    ) {
        if let announced = connection.known?.format.heartbeat?.announced {
            announce(announced, frame, bytes, connection)
        }
        guard frame.isHeartbeat || connection.known?.format.heartbeat?.counts == .frames,
            let watch = watch(connection, from: frame.direction),
            let kinds = connection.kinds(of: frame.direction)
        else { return }
        let known = kinds.type(of: frame, bytes)
        take(frame.info, known ?? "heartbeat", watch, into: &findings)
    }

    /// A frame may say how often heartbeats come from now on.
    private func announce(
        _ announced: HeartbeatContract.Announcement, _ frame: TracedFrame, _ bytes: RawSpan,
        _ connection: TracedConnection
    ) {
        guard frame.info.missing == 0, let format = connection.format, let contract = format.heartbeat else { return }
        let side = format.directions[frame.direction]
        let values = FrameValues(info: frame.info, direction: frame.direction, isHeartbeat: frame.isHeartbeat)
        guard values.fulfil(announced.condition, content: bytes, shape: frame.shape, format: side),
            let count = side.value(at: announced.place, of: bytes, frame.shape).flatMap(Self.number), count >= 0
        else { return }
        guard let watch = watch(connection, from: contract.from) else { return }
        watch.expect(contract.announcing(count, announced))
        // The clock starts with what says how fast it goes.
        watch.announced = frame.info.time
        watch.scheduled = nil
        schedule(watch, at: watch.deadline)
    }

    /// A value as a number. Bytes are decimal digits (BCD), two in each, or none: `1e05` is no exponent.
    private static func number(_ value: FieldValue) -> Double? {
        if case .bytes(let bytes) = value {
            // One byte more than an `Int` has room for.
            let digits = bytes.drop { $0 == 0 }.prefix(11)
            return bytes.isEmpty ? nil : Int("0" + Hexadecimal.text(digits)).map(Double.init)
        }
        return value.plainText.flatMap { Double($0) }
    }

    /// The state of a connection's heartbeats; nil if its format has none from that side.
    private func watch(_ connection: TracedConnection, from direction: Direction) -> HeartbeatWatch? {
        if let known = watched[connection.number] { return known.from == direction ? known : nil }
        guard let shared = connection.known?.heartbeat, shared.contract.from == direction else { return nil }
        let first = HeartbeatWatch(connection, shared)
        watched[connection.number] = first
        return first
    }

    private func take(
        _ heartbeat: FrameInfo, _ type: String, _ watch: HeartbeatWatch, into findings: inout [Finding]
    ) {
        let time = heartbeat.time
        if watch.isExpected {
            expecting[HostBuckets.bucket(of: watch.connection)] -= 1
            watch.isExpected = false
        }
        if time > watch.deadline, !watch.isReported {
            // Other frames are counted up to this one: those before it may have arrived before the deadline.
            findings += watch.reportGap(frames: heartbeat.index)
        }
        // It was among frames not yet known to be heartbeats: the reported gap began with it.
        let wasReportedAlready = watch.last != nil && watch.reported.map { time + watch.contract.gap <= $0 } ?? false
        watch.settleDoubt(before: time, into: &findings)
        watch.doubt?.take()
        if let last = watch.last, !wasReportedAlready {
            if watch.isReported {
                resume(watch, with: heartbeat, into: &findings)
            } else if time > last + watch.contract.late {
                watch.late += 1
                if watch.late <= HeartbeatWatch.mostLate { findings.append(watch.lateness(of: heartbeat)) }
            }
        }
        watch.note(heartbeat, type)
        if !wasReportedAlready { watch.reported = nil }
        schedule(watch, at: watch.nextLook(after: time) ?? watch.deadline)
    }

    private func resume(
        _ watch: HeartbeatWatch, with heartbeat: FrameInfo, into findings: inout [Finding]
    ) {
        watch.settleDoubt(before: .distantFuture, into: &findings)
        if let finding = watch.resume(with: heartbeat) { findings.append(finding) }
    }

    /// Stops waiting for heartbeats of a side that has ended.
    package func finished(
        _ direction: Direction, at time: Timestamp, on connection: TracedConnection, into findings: inout [Finding]
    ) {
        guard let watch = watched[connection.number] else { return }
        if watch.from == direction {
            // What was due, as far as the other side is known, has just been settled.
            end(watch, at: time, Timestamp(nanoseconds: .min), because: nil, into: &findings)
        } else {
            watch.otherEnd = watch.otherEnd ?? time
            findings += watch.settleNever(before: time)
        }
    }

    /// Stops waiting.
    package func closed(_ closing: Closing, on connection: TracedConnection, into findings: inout [Finding]) {
        guard let shared = connection.known?.heartbeat else { return }
        if let watch = watched.removeValue(forKey: connection.number) {
            deadlines.cancel(connection.number)
            if watch.isExpected { expecting[HostBuckets.bucket(of: connection)] -= 1 }
            end(watch, at: closing.time, .distantFuture, because: closing.reason, into: &findings)
            if let finding = watch.close(closing) { findings.append(finding) }
            if watch.late > HeartbeatWatch.mostLate { findings.append(watch.moreLate(at: closing.time)) }
        } else if connection.hasBegun, !connection.hadHeartbeats[shared.contract.from] {
            let watch = HeartbeatWatch(connection, shared)
            end(watch, at: closing.time, .distantFuture, because: closing.reason, into: &findings)
        }
    }

    /// Ends the watch: nothing more is waited for.
    ///
    /// - Parameter other: up to when the other side is known.
    private func end(
        _ watch: HeartbeatWatch, at time: Timestamp, _ other: Timestamp, because reason: CloseReason?,
        into findings: inout [Finding]
    ) {
        guard !watch.isEnded else {
            findings += watch.settleNever(before: other)
            return
        }
        look(at: watch, before: time, min(time, other), into: &findings)
        watch.settleDoubt(before: .distantFuture, into: &findings)
        watch.isEnded = true
        if watch.last != nil, watch.isReported { findings.append(watch.stop(at: time, because: reason)) }
    }

    /// Finds what was due on a connection before `time`; its entry among the deadlines follows when it fires.
    package func settle(
        _ connection: TracedConnection, before known: PerDirection<Timestamp>, into findings: inout [Finding]
    ) {
        guard let watch = watched[connection.number] else { return }
        let other = known[watch.from.opposite]
        if watch.isEnded {
            findings += watch.settleNever(before: other)
        } else {
            look(at: watch, before: known[watch.from], other, into: &findings)
        }
    }

    /// Finds what was due, as far as the heartbeats' sender and the other side are known.
    private func look(
        at watch: HeartbeatWatch, before time: Timestamp, _ other: Timestamp, into findings: inout [Finding]
    ) {
        watch.settleDoubt(before: time, into: &findings)
        if watch.deadline < time, !watch.isReported {
            findings += watch.reportGap(frames: watch.connection.traffic[watch.from].frames)
        }
        findings += watch.settleNever(before: other)
        findings += watch.lookForEviction(before: time, other)
    }

    /// Finds everything whose deadline lies before `time`.
    package func advance(to time: Timestamp, into findings: inout [Finding]) {
        while let due = deadlines.popFirst(before: time) {
            guard let watch = watched[due.key] else { continue }
            watch.scheduled = nil
            guard !watch.isEnded else {
                findings += watch.settleNever(before: time)
                continue
            }
            look(at: watch, before: time, time, into: &findings)
            // If there never was any, there is nothing more to find until one arrives.
            if watch.last != nil || !watch.isReported, let next = watch.nextLook(after: time) {
                schedule(watch, at: max(next, time))
            }
        }
    }
}
