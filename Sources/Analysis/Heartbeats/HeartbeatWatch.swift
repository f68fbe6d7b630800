import Framing
import Streams
import Trace

/// What is known of the heartbeats of one connection: when they came, what is told already, and what is due next.
final class HeartbeatWatch {
    let connection: TracedConnection
    let contract: HeartbeatContract
    /// Where the contract was learned: from what.
    var learned: LearnedFrom?
    /// When the last heartbeat came; nil before the first.
    var last: Timestamp?
    var lastType = "heartbeat"
    var lastIndex = 0
    var lastPacket = 0
    /// How many frames the sender had sent when it came, itself included.
    var lastCount = 0
    /// The deadline by which none had come since then, or none at all, once that is told.
    var reported: Timestamp?
    /// Since when the receiver took nothing when one was due before that; nil where it did.
    var closed: Timestamp?
    /// Whether the sender sent only what it had sent before when one was due before that.
    var wasRepeating = false
    /// When the sender's last frame came before that; before all time where none did.
    var lastFrame = Timestamp(nanoseconds: .min)
    /// What segments reveal, from the first heartbeat on.
    var witness: PauseWitness?
    /// Where it is not known yet what to say of the end of a gap.
    var doubt: HeartbeatDoubt?
    /// How many late ones were told each.
    var lateReported = 0
    var late = 0
    /// The silence that was told to reach the eviction window, by its start; and whether it was told to pass it.
    var reached: Timestamp?
    var isOverdueReported = false
    /// Whether the sender's stream has ended: nothing is waited for any more.
    var isEnded = false
    /// Whether it is one of those whose first heartbeat is waited for.
    var isExpected = false
    /// When it is looked at again; nil: not before a heartbeat comes.
    var scheduled: Timestamp?
    /// When the other side ended its stream.
    var otherEnd: Timestamp?
    /// Where no heartbeat had come by the deadline: the deadline and what was found. See `settleNever`.
    var never: (deadline: Timestamp, findings: [Finding])?

    /// What a contract was learned from.
    struct LearnedFrom {
        var type: String
        var gaps: Int
        /// The difference between the longest and the shortest gap, as a share of the mean.
        var spread: Double
    }

    init(_ connection: TracedConnection, _ contract: HeartbeatContract) {
        self.connection = connection
        self.contract = contract
    }

    /// A heartbeat came.
    func note(_ heartbeat: FrameInfo, _ type: String) {
        (last, lastType, lastIndex) = (heartbeat.time, type, heartbeat.index)
        (lastPacket, lastCount) = (heartbeat.packet, heartbeat.index + 1)
        if let witness {
            witness.heartbeat()
        } else {
            let witness = PauseWitness(of: from)
            connection.witnesses.append(witness)
            self.witness = witness
        }
    }

    /// Of so many late heartbeats of a connection each is told; of more only how many there were.
    static let mostLate = 10

    var from: Direction { contract.from }

    /// Whether the gap since the last heartbeat, or that there was none, is told.
    var isReported: Bool { reported != nil }

    /// When the next heartbeat is due at the latest.
    var deadline: Timestamp {
        guard let last else { return connection.opening.time + contract.first }
        return max(last, undecided ?? last) + contract.gap
    }

    /// Since when there are bytes behind a gap of which it is not known yet what they are: a heartbeat may be the first.
    private var undecided: Timestamp? {
        let traffic = connection.traffic[from]
        guard let missing = traffic.disturbances?.missing, traffic.lastFrame < missing else { return nil }
        return missing
    }

    /// When the other side heard something last that counts; nil before the first heartbeat.
    var refreshed: Timestamp? {
        guard let last, let eviction = contract.eviction else { return nil }
        return eviction.refreshedBy == .frames ? max(last, connection.traffic[from].lastFrame) : last
    }

    /// When to look again: at the latest so soon that nothing is missed that no call tells of.
    func nextLook(after now: Timestamp) -> Timestamp? {
        guard !isEnded else { return nil }
        var next: Timestamp?
        if !isReported { next = deadline }
        if let doubt { next = min(next ?? doubt.until, doubt.until) }
        if let refreshed, let eviction = contract.eviction {
            let silence = refreshed + eviction.after
            let due =
                reached != refreshed
                ? silence : isOverdueReported ? .distantFuture : silence + eviction.sweep + slack(eviction)
            // A frame that counts may come without a word.
            let look = min(due, now + eviction.after)
            next = min(next ?? look, look)
        }
        return next
    }

    /// By how much a clock may be wrong before a close does not fit any more.
    func slack(_ eviction: HeartbeatContract.Eviction) -> Interval {
        Interval(nanoseconds: max(250_000_000, (eviction.after.nanoseconds + eviction.sweep.nanoseconds) / 50))
    }
}
