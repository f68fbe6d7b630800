import Framing
import Streams
import Trace

/// The state of one connection's heartbeats: when they arrived, what was already reported, and what is due next.
final class HeartbeatWatch {
    let connection: TracedConnection
    /// What is expected; an announcement may change it.
    var contract: HeartbeatContract { shared.contract }
    private var shared: SharedContract
    /// If the contract was learned: from what.
    var learned: LearnedFrom?
    /// When the last heartbeat arrived; nil before the first.
    var last: Timestamp?
    var lastType = "heartbeat"
    var lastIndex = 0
    var lastPacket = 0
    /// How many frames the sender had sent when it arrived, including itself.
    var lastCount: Int { last == nil ? 0 : lastIndex + 1 }
    /// The deadline by which none had arrived since then, or none at all, once that is reported.
    var reported: Timestamp?
    /// Since when the receiver had accepted no data when one was due before that; nil if it accepted data.
    var closed: Timestamp?
    /// Whether the sender sent only retransmissions when one was due before that.
    var wasRepeating = false
    /// When the sender's last frame before that arrived; the minimum if none did.
    var lastFrame = Timestamp(nanoseconds: .min)
    /// How many other frames the sender had sent by then, if all of them came before a heartbeat was due; otherwise 0.
    var earlyFrames = 0
    /// What segments reveal, from the first heartbeat on.
    var witness: PauseWitness?
    /// The end of a gap whose cause is not yet settled.
    var doubt: HeartbeatDoubt?
    /// When the interval was announced; nil if it was not.
    var announced: Timestamp?
    /// How many were late.
    var late = 0
    /// The start of the silence reported to reach the eviction window; and whether it was reported to pass it.
    var reached: Timestamp?
    var isOverdueReported = false
    /// Whether the sender's stream has ended: nothing is waited for any more.
    var isEnded = false
    /// Whether its first heartbeat is waited for.
    var isExpected = false
    /// When it is checked again; nil: not before a heartbeat arrives.
    var scheduled: Timestamp?
    /// When the other side ended its stream.
    var otherEnd: Timestamp?
    /// If no heartbeat had arrived by the deadline: the deadline and the finding. See `settleNever`.
    var never: (deadline: Timestamp, findings: [Finding])?

    /// What a contract was learned from: few have one.
    final class LearnedFrom {
        let type: String
        let gaps: Int
        /// The difference between the longest and the shortest gap, as a share of the mean.
        let spread: Double

        init(type: String, gaps: Int, spread: Double) { (self.type, self.gaps, self.spread) = (type, gaps, spread) }
    }

    init(_ connection: TracedConnection, _ contract: SharedContract) {
        self.connection = connection
        shared = contract
    }

    /// Expects something else from now on.
    func expect(_ contract: HeartbeatContract) { shared = SharedContract(contract) }

    /// A heartbeat arrived.
    func note(_ heartbeat: FrameInfo, _ type: String) {
        (last, lastType, lastIndex) = (heartbeat.time, type, heartbeat.index)
        lastPacket = heartbeat.packet
        earlyFrames = 0
        if let witness {
            witness.heartbeat()
        } else {
            let witness = PauseWitness(of: from)
            connection.witnesses.append(witness)
            self.witness = witness
        }
    }

    /// Up to this many late heartbeats of a connection are reported individually; beyond that only their number.
    static let mostLate = 10

    var from: Direction { contract.from }

    /// Whether the gap since the last heartbeat, or the absence of any, was reported.
    var isReported: Bool { reported != nil }

    /// When the next heartbeat is due at the latest.
    var deadline: Timestamp {
        guard let last else { return (announced ?? connection.opening.time) + contract.first }
        return max(last, undecided ?? last) + contract.gap
    }

    /// Since when there are undecoded bytes after a gap: the first may be a heartbeat.
    private var undecided: Timestamp? {
        let traffic = connection.traffic[from]
        guard let missing = traffic.disturbances?.missing, traffic.lastFrame < missing else { return nil }
        return missing
    }

    /// When the other side last received something that counts; nil before the first heartbeat.
    var refreshed: Timestamp? {
        guard let last, let eviction = contract.eviction else { return nil }
        return eviction.refreshedBy == .frames ? max(last, connection.traffic[from].lastFrame) : last
    }

    /// When to check again: soon enough not to miss anything that is not notified.
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
            // A frame that counts may arrive without a notification.
            let look = min(due, now + eviction.after)
            next = min(next ?? look, look)
        }
        return next
    }

    /// By how much a clock may be wrong before a close no longer matches.
    func slack(_ eviction: HeartbeatContract.Eviction) -> Interval {
        Interval(nanoseconds: max(250_000_000, (eviction.after + eviction.sweep).nanoseconds / 50))
    }
}
