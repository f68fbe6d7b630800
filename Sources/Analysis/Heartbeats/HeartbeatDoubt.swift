import Framing
import Streams
import Trace

/// A heartbeat ended a gap, and whose fault that was shows in what follows at once: the other heartbeats that were due, what was sent
/// again meanwhile, or neither.
final class HeartbeatDoubt {
    /// By when that has to be there.
    let until: Timestamp
    /// The one that ended the gap.
    let heartbeat: FrameInfo
    let pause: Blame.Pause
    /// What is found, but for the blame.
    let finding: Finding
    /// How many came, the one that ended the gap included.
    private var count = 0

    init(until: Timestamp, _ heartbeat: FrameInfo, _ pause: Blame.Pause, _ finding: Finding) {
        (self.until, self.heartbeat, self.pause, self.finding) = (until, heartbeat, pause, finding)
    }

    /// Another heartbeat came in time, or the one that ended the gap.
    func take() { count += 1 }

    /// How many came at once, where as many came as were due; one may have been just about to be due.
    var countOfAll: Int? { count >= max(2, pause.missed - 1) ? count : nil }
}
