import Analysis
import Streams

/// Is called when a deadline of a pause has passed.
protocol PauseReceiver: AnyObject {
    /// The sender of a direction may have paused for long enough to end its frame.
    ///
    /// - Parameters:
    ///   - deadline: what passed.
    ///   - time: up to when there was silence.
    func pause(of direction: Direction, at deadline: Timestamp, until time: Timestamp)
}

/// What a decoder waits for: the deadlines of analyses, and pauses that may end frames, one for each direction of a connection.
final class DecoderDeadlines {
    /// The earliest of all; the end of time where nothing waits.
    var earliest = Timestamp.distantFuture
    private let analyses: [any Analysis]
    private var pauses = PendingDeadlines<Pause>()

    /// A direction whose sender may pause.
    private struct Pause: Hashable, Comparable {
        let receiver: any PauseReceiver
        let number: Int
        let direction: Direction

        static func < (left: Pause, right: Pause) -> Bool {
            (left.number, left.direction.rawValue) < (right.number, right.direction.rawValue)
        }

        static func == (left: Pause, right: Pause) -> Bool {
            left.receiver === right.receiver && left.direction == right.direction
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(number)
            hasher.combine(direction)
        }
    }

    init(_ analyses: [any Analysis]) { self.analyses = analyses }

    /// How many deadlines of pauses are pending, stale entries included.
    var pendingPauses: Int { pauses.entries }

    /// Finds the earliest anew.
    func look() {
        earliest = pauses.first ?? .distantFuture
        for analysis in analyses {
            if let deadline = analysis.nextDeadline, deadline < earliest { earliest = deadline }
        }
    }

    /// A frame of a connection may be ended by a pause of its sender at `deadline`.
    func expectPause(of direction: Direction, on receiver: any PauseReceiver, number: Int, at deadline: Timestamp) {
        pauses.arm(Pause(receiver: receiver, number: number, direction: direction), at: deadline)
        if deadline < earliest { earliest = deadline }
    }

    /// No pause of a sender ends a frame any more.
    func cancelPause(of direction: Direction, on receiver: any PauseReceiver, number: Int) {
        pauses.cancel(Pause(receiver: receiver, number: number, direction: direction))
    }

    /// Looks at the frames whose senders have paused until a time.
    func passPauses(before time: Timestamp) {
        while let (pause, deadline) = pauses.popFirst(before: time) {
            pause.receiver.pause(of: pause.direction, at: deadline, until: time)
        }
    }
}
