import Analysis
import Streams
import Trace

/// Called when a pause deadline has passed.
protocol PauseReceiver: AnyObject {
    /// The sender of a direction may have paused for long enough to end its frame.
    ///
    /// - Parameters:
    ///   - deadline: the deadline that passed.
    ///   - time: the end of the silence.
    func pause(of direction: Direction, at deadline: Timestamp, until time: Timestamp)
}

/// The pending deadlines of a decoder: those of analyses, and pauses that may end frames, one for each direction of a connection.
final class DecoderDeadlines {
    /// The earliest of all; the end of time if there is none. Each chunk asks for it; setting it calls nothing.
    @exclusivity(unchecked) var earliest = Timestamp.distantFuture
    private let analyses: [any Analysis]
    private var pauses = PendingDeadlines<Pause>() {
        didSet { earliestPause = pauses.first ?? .distantFuture }
    }
    /// The earliest of them. Most connections have none, and to ask them takes time.
    private var earliestPause = Timestamp.distantFuture

    /// A direction whose sender may pause.
    private struct Pause: Hashable, Comparable {
        let receiver: any PauseReceiver
        let connection: ConnectionLeg
        let direction: Direction

        static func < (left: Pause, right: Pause) -> Bool {
            (left.connection, left.direction.rawValue) < (right.connection, right.direction.rawValue)
        }

        static func == (left: Pause, right: Pause) -> Bool {
            left.receiver === right.receiver && left.direction == right.direction
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(connection)
            hasher.combine(direction)
        }
    }

    init(_ analyses: [any Analysis]) { self.analyses = analyses }

    /// How many pause deadlines are pending, stale entries included.
    var pendingPauses: Int { pauses.entries }

    /// Recomputes the earliest one.
    func look() {
        earliest = earliestPause
        for analysis in analyses {
            if let deadline = analysis.nextDeadline, deadline < earliest { earliest = deadline }
        }
    }

    /// Notifies the analyses whose deadlines before `time` have passed, and recomputes the earliest one.
    func pass(before time: Timestamp, into findings: inout [Finding]) {
        earliest = earliestPause
        for analysis in analyses {
            guard var deadline = analysis.nextDeadline else { continue }
            if deadline < time {
                analysis.advance(to: time, into: &findings)
                deadline = analysis.nextDeadline ?? .distantFuture
            }
            if deadline < earliest { earliest = deadline }
        }
    }

    /// A pause of its sender may end a frame of a connection at `deadline`.
    func expectPause(
        of direction: Direction, on receiver: any PauseReceiver, _ connection: ConnectionLeg, at deadline: Timestamp
    ) {
        pauses.arm(Pause(receiver: receiver, connection: connection, direction: direction), at: deadline)
        if deadline < earliest { earliest = deadline }
    }

    /// A pause of the sender no longer ends a frame.
    func cancelPause(of direction: Direction, on receiver: any PauseReceiver, _ connection: ConnectionLeg) {
        pauses.cancel(Pause(receiver: receiver, connection: connection, direction: direction))
    }

    /// No frame is ended by a pause any more, and no connection is kept for that.
    func cancelAll() {
        pauses = PendingDeadlines()
        look()
    }

    /// Checks the frames whose senders have paused until a given time.
    func passPauses(before time: Timestamp) {
        while earliestPause < time, let (pause, deadline) = pauses.popFirst(before: time) {
            pause.receiver.pause(of: pause.direction, at: deadline, until: time)
        }
    }
}
