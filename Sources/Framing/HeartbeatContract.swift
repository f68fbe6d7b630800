import Expressions
import Streams

/// A format's heartbeat contract.
package struct HeartbeatContract: Sendable {
    /// What a heartbeat is.
    package var condition: Expression
    /// Their sender.
    package var from: Direction
    /// How often.
    package var every: Interval
    /// How long after the previous one a heartbeat is late.
    package var late: Interval
    /// How long after the previous one there is a gap.
    package var gap: Interval
    /// How long after the opening of the connection the first is due.
    package var first: Interval
    /// What the other side does on silence; nil if unknown.
    package var eviction: Eviction?
    /// What answers one; nil if nothing does.
    package var answer: Answer?
    /// What counts: heartbeats, or any frame of their sender.
    package var counts = Eviction.Refresh.heartbeats
    /// Where a conversation says itself how often; nil if it does not.
    package var announced: Announcement?

    /// A frame that says how often heartbeats come (MQTT's keep-alive, version 5, section 3.1.2.10).
    package struct Announcement: Sendable {
        /// What the frame is, of either side.
        package var condition: Expression
        /// Where the number is; 0 stands for no heartbeats.
        package var place: ValuePlace
        /// What the number counts.
        package var unit: Interval
        /// How many announced intervals without a heartbeat are a gap.
        package var factor: Double
    }

    /// What answers a heartbeat.
    package struct Answer: Sendable {
        /// What the answer is.
        package var condition: Expression
        /// The deadline for it.
        package var within: Interval
    }

    /// What the other side does on silence.
    package struct Eviction: Sendable, Hashable {
        /// What ends a silence.
        package enum Refresh: String, Sendable, CaseIterable {
            /// Any frame.
            case frames
            /// Heartbeats only.
            case heartbeats
        }

        /// What it does.
        package enum Deed: String, Sendable, CaseIterable {
            /// Closes the connection.
            case close
            /// Considers the sender gone, and leaves the connection open.
            case forget
        }

        /// How long a silence it tolerates.
        package var after: Interval
        /// How often it checks, and so the maximum delay before it acts. Zero if it acts at once.
        package var sweep: Interval
        /// What ends a silence.
        package var refreshedBy: Refresh
        /// What it does.
        package var deed: Deed

        /// What the other side does on silence.
        package init(after: Interval, sweep: Interval, refreshedBy: Refresh = .frames, deed: Deed = .close) {
            self.after = after
            self.sweep = sweep
            self.refreshedBy = refreshedBy
            self.deed = deed
        }
    }

    /// A format's heartbeat contract. By default, a heartbeat is late halfway between `every` and `gap`, and the first is due
    /// after `gap`.
    package init(
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
    package func announcing(_ count: Double, _ announcement: Announcement) -> HeartbeatContract {
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
    package func scalingHeartbeat(by scale: Double) -> Format {
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
