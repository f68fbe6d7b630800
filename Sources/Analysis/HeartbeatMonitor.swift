import Framing
import HeapModule
import Streams
import Trace

/// Finds gaps in heartbeats: more time without one than the format's contract allows.
///
/// A gap is found once, dated by its deadline; the next heartbeat ends it. The clock starts with the first heartbeat and
/// stops when its sender's stream ends.
public final class HeartbeatMonitor: Analysis {
    private var watched: [Int: Watch] = [:]
    /// One entry for each watched connection. A heartbeat moves only the watch; its entry follows when it comes up.
    private var deadlines = Heap<Deadline>()

    private struct Watch {
        var format: Format
        var contract: HeartbeatContract
        var last: Timestamp
        var lastType: String
        var lastIndex: Int
        var isInGap: Bool

        var deadline: Timestamp { last + contract.gap }
    }

    private struct Deadline: Comparable {
        var time: Timestamp
        var connection: Int

        static func < (left: Deadline, right: Deadline) -> Bool {
            (left.time, left.connection) < (right.time, right.connection)
        }
    }

    /// A monitor that watches nothing yet.
    public init() {}

    /// The earliest time at which a gap may have to be found.
    public var nextDeadline: Timestamp? { deadlines.min?.time }

    /// Heartbeats.
    public func interest(in format: Format) -> FrameInterest { .heartbeats }

    /// Needs nothing before the first heartbeat.
    public func recognised(_ connection: TracedConnection, into findings: inout [Finding]) {}

    /// Takes a heartbeat; says so if its deadline had passed unnoticed.
    public func frame(
        _ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection, into findings: inout [Finding]
    ) {
        guard frame.isHeartbeat, let format = connection.format, let contract = format.heartbeat,
            contract.from == frame.direction
        else { return }
        let time = frame.info.time
        if let watch = watched[connection.number] {
            if time > watch.deadline { report(connection.number, into: &findings) }
        } else {
            deadlines.insert(Deadline(time: time + contract.gap, connection: connection.number))
        }
        let type = format.directions[frame.direction].type(of: bytes, frame.shape)
        watched[connection.number] = Watch(
            format: format, contract: contract, last: time, lastType: type ?? "heartbeat", lastIndex: frame.info.index,
            isInGap: false)
    }

    /// Stops waiting for heartbeats of a side that has ended.
    public func finished(
        _ direction: Direction, at time: Timestamp, on connection: TracedConnection, into findings: inout [Finding]
    ) {
        guard let watch = watched[connection.number], watch.contract.from == direction else { return }
        if time > watch.deadline { report(connection.number, into: &findings) }
        watched[connection.number] = nil
    }

    /// Stops waiting.
    public func closed(_ closing: Closing, on connection: TracedConnection, into findings: inout [Finding]) {
        guard let watch = watched[connection.number] else { return }
        if closing.time > watch.deadline { report(connection.number, into: &findings) }
        watched[connection.number] = nil
    }

    /// Finds every gap whose deadline lies before `time`.
    public func advance(to time: Timestamp, into findings: inout [Finding]) {
        while let due = deadlines.min, due.time < time {
            deadlines.removeMin()
            guard let watch = watched[due.connection] else { continue }
            if watch.deadline < time {
                report(due.connection, into: &findings)
                // Nothing more to find until a heartbeat comes: look again when that one's deadline may be.
                deadlines.insert(Deadline(time: max(time, due.time) + watch.contract.gap, connection: due.connection))
            } else {
                deadlines.insert(Deadline(time: watch.deadline, connection: due.connection))
            }
        }
    }

    private func report(_ connection: Int, into findings: inout [Finding]) {
        guard let watch = watched[connection], !watch.isInGap else { return }
        watched[connection]?.isInGap = true
        let gap = watch.contract.gap
        let every = watch.contract.every
        findings.append(
            Finding(
                kind: .heartbeatGap, severity: .warning, connection: connection, format: watch.format.name,
                from: watch.contract.from,
                time: watch.deadline,
                message:
                    "heartbeat gap: \(gap.text(digits: true)) since \(watch.lastType), expected every \(every.text())",
                data: [
                    Field("expectedEvery", .number(every.seconds)),
                    Field("silentFor", .number(gap.seconds)),
                    Field("lastType", .text(watch.lastType)),
                    Field("lastIndex", .integer(Int64(watch.lastIndex))),
                ]))
    }
}
