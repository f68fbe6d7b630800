import Framing
import Streams
import Trace

/// A heartbeat ended a gap whose cause depends on what follows immediately: the other heartbeats that were due, retransmissions
/// of that time, or neither.
final class HeartbeatDoubt {
    /// The deadline for that.
    let until: Timestamp
    /// The one that ended the gap.
    let heartbeat: FrameInfo
    let pause: Blame.Pause
    /// The finding, without the blame.
    let finding: Finding
    /// How many arrived, including the one that ended the gap.
    private var count = 0

    init(until: Timestamp, _ heartbeat: FrameInfo, _ pause: Blame.Pause, _ finding: Finding) {
        (self.until, self.heartbeat, self.pause, self.finding) = (until, heartbeat, pause, finding)
    }

    /// Another heartbeat arrived in time, or the one that ended the gap.
    func take() { count += 1 }

    /// How many arrived together, if as many arrived as were due; one may have been just about to be due.
    var countOfAll: Int? { count >= max(2, pause.missed - 1) ? count : nil }
}
