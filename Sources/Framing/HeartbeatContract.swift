import Expressions
import Streams

/// What a format promises of heartbeats.
public struct HeartbeatContract: Sendable {
    /// What a heartbeat is.
    public var condition: Expression
    /// Who sends them.
    public var from: Direction
    /// How often.
    public var every: Interval
    /// After how long without one the next is late.
    public var late: Interval
    /// After how long without one there is a gap.
    public var gap: Interval
    /// How long after the connection opened the first has to be there.
    public var first: Interval
    /// What the other side does about silence; nil where nothing is known of that.
    public var eviction: Eviction?
    /// What answers one; nil where nothing does.
    public var answer: Answer?

    /// What answers a heartbeat.
    public struct Answer: Sendable {
        /// What the answer is.
        public var condition: Expression
        /// By when it has to be there.
        public var within: Interval
    }

    /// What the other side does when it hears nothing.
    public struct Eviction: Sendable, Hashable {
        /// What counts as hearing something.
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
            /// Takes the sender for gone, and leaves the connection open.
            case forget
        }

        /// How long a silence it bears.
        public var after: Interval
        /// How often it looks: it may act so much later. Zero where it acts at once.
        public var sweep: Interval
        /// What counts as hearing something.
        public var refreshedBy: Refresh
        /// What it does.
        public var deed: Deed

        /// What the other side does when it hears nothing.
        public init(after: Interval, sweep: Interval, refreshedBy: Refresh = .frames, deed: Deed = .close) {
            self.after = after
            self.sweep = sweep
            self.refreshedBy = refreshedBy
            self.deed = deed
        }
    }

    /// What a format promises of heartbeats. Where nothing is said, a heartbeat is late halfway between `every` and `gap`, and
    /// the first has to be there after `gap`.
    public init(
        condition: Expression, from: Direction, every: Interval, gap: Interval, late: Interval? = nil,
        first: Interval? = nil, eviction: Eviction? = nil, answer: Answer? = nil
    ) {
        self.condition = condition
        self.from = from
        self.every = every
        self.gap = gap
        // Rounded up: half a nanosecond of what is allowed is allowed.
        let odd = (every.nanoseconds & 1) + (gap.nanoseconds & 1)
        self.late =
            late ?? Interval(nanoseconds: (every.nanoseconds >> 1) + (gap.nanoseconds >> 1) + (odd + 1) / 2)
        self.first = first ?? gap
        self.eviction = eviction
        self.answer = answer
    }
}

extension Format {
    /// The format with a heartbeat contract whose intervals are multiplied, as those of a system that runs at another time
    /// scale.
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
