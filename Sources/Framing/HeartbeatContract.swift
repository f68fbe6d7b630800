import Expressions
import Streams

/// A format's heartbeat contract.
public struct HeartbeatContract: Sendable {
    /// What a heartbeat is.
    public var condition: Expression
    /// Their sender.
    public var from: Direction
    /// How often.
    public var every: Interval
    /// How long after the previous one a heartbeat is late.
    public var late: Interval
    /// How long after the previous one there is a gap.
    public var gap: Interval
    /// How long after the opening of the connection the first is due.
    public var first: Interval
    /// What the other side does on silence; nil if unknown.
    public var eviction: Eviction?
    /// What answers one; nil if nothing does.
    public var answer: Answer?
    /// What counts: heartbeats, or any frame of their sender.
    public var counts = Eviction.Refresh.heartbeats
    /// Where a conversation says itself how often; nil if it does not.
    public var announced: Announcement?

    /// A frame that says how often heartbeats come (MQTT's keep-alive, version 5, section 3.1.2.10).
    public struct Announcement: Sendable {
        /// What the frame is, of either side.
        public var condition: Expression
        /// Where the number is; 0 stands for no heartbeats.
        public var place: ValuePlace
        /// What the number counts.
        public var unit: Interval
        /// How many announced intervals without a heartbeat are a gap.
        public var factor: Double
    }

    /// What answers a heartbeat.
    public struct Answer: Sendable {
        /// What the answer is.
        public var condition: Expression
        /// The deadline for it.
        public var within: Interval
    }

    /// What the other side does on silence.
    public struct Eviction: Sendable, Hashable {
        /// What ends a silence.
        public enum Refresh: String, Sendable, CaseIterable {
            /// Any frame.
            case frames
            /// Heartbeats only.
            case heartbeats
        }

        /// What it does.
        public enum Deed: String, Sendable, CaseIterable {
            /// Closes the connection.
            case close
            /// Considers the sender gone, and leaves the connection open.
            case forget
        }

        /// How long a silence it tolerates.
        public var after: Interval
        /// How often it checks, and so the maximum delay before it acts. Zero if it acts at once.
        public var sweep: Interval
        /// What ends a silence.
        public var refreshedBy: Refresh
        /// What it does.
        public var deed: Deed

        /// What the other side does on silence.
        public init(after: Interval, sweep: Interval, refreshedBy: Refresh = .frames, deed: Deed = .close) {
            self.after = after
            self.sweep = sweep
            self.refreshedBy = refreshedBy
            self.deed = deed
        }
    }

    /// A format's heartbeat contract. By default, a heartbeat is late halfway between `every` and `gap`, and the first is due
    /// after `gap`.
    public init(
        condition: Expression, from: Direction, every: Interval, gap: Interval, late: Interval? = nil,
        first: Interval? = nil, eviction: Eviction? = nil, answer: Answer? = nil
    ) {
        self.condition = condition
        self.from = from
        self.every = every
        self.gap = gap
        // Rounded up, in favour of the sender.
        let odd = (every.nanoseconds & 1) + (gap.nanoseconds & 1)
        self.late =
            late ?? Interval(nanoseconds: (every.nanoseconds >> 1) + (gap.nanoseconds >> 1) + (odd + 1) / 2)
        self.first = first ?? gap
        self.eviction = eviction
        self.answer = answer
    }
}

extension HeartbeatContract {
    /// The contract with an announced interval; 0 stands for no heartbeats.
    public func announcing(_ count: Double, _ announcement: Announcement) -> HeartbeatContract {
        var contract = self
        let seconds = count > 0 ? min(count * announcement.unit.seconds, Self.never.seconds) : Self.never.seconds
        contract.every = .seconds(seconds)
        contract.gap = .seconds(min(seconds * announcement.factor, Self.never.seconds))
        contract.late = .seconds((contract.every.seconds + contract.gap.seconds) / 2)
        contract.first = contract.gap
        return contract
    }

    /// Longer than any connection lasts.
    private static let never = Interval.seconds(1e9)
}

extension Format {
    /// The format with the intervals of its heartbeat contract multiplied, for a system that runs at another time scale.
    public func scalingHeartbeat(by scale: Double) -> Format {
        var scaled = self
        for path in [\HeartbeatContract.every, \.late, \.gap, \.first] {
            scaled.heartbeat?[keyPath: path].scale(by: scale)
        }
        scaled.heartbeat?.eviction?.after.scale(by: scale)
        scaled.heartbeat?.eviction?.sweep.scale(by: scale)
        scaled.heartbeat?.answer?.within.scale(by: scale)
        return scaled
    }
}

extension Interval {
    fileprivate mutating func scale(by scale: Double) { self = .seconds(seconds * scale) }
}
