import Streams

/// What is compared of two traces, and how.
///
/// Always compared: types, fields, bodies, the order of each side's frames, bytes that are in no frame or were not seen, who
/// closed each connection.
public struct Comparison: Sendable {
    /// What is compared only where that is asked for.
    public enum Aspect: String, Sendable, CaseIterable {
        /// The pause before each frame.
        case times
        /// How frames were split and merged.
        case segments
        /// Which of both sides spoke first.
        case turns
        /// Addresses and ports.
        case ports
        /// Where frames lie in their streams.
        case offsets
        /// Whether a connection ended with FIN or with a reset: where a side closes while bytes are on their way to it, that is chance.
        case endings
    }

    /// How heartbeats are compared.
    public enum Heartbeats: String, Sendable, CaseIterable {
        /// As all other frames.
        case exact
        /// Their number, which may differ by what the difference in duration explains.
        case count
        /// Not at all.
        case ignore
    }

    /// How far times may differ: by the larger of the two.
    public struct Tolerance: Sendable {
        /// By so much.
        public var interval: Interval
        /// By this part of the expected pause.
        public var fraction: Double

        /// A tolerance.
        public init(_ interval: Interval, fraction: Double) {
            self.interval = interval
            self.fraction = fraction
        }

        /// Whether one pause may stand for another.
        func allows(_ actual: Interval, for expected: Interval) -> Bool {
            let difference = abs(actual.seconds - expected.seconds)
            return difference <= max(interval.seconds, abs(expected.seconds) * fraction)
        }
    }

    /// What is compared beside what always is.
    public var aspects: Set<Aspect> = []
    /// How far times may differ.
    public var tolerance = Tolerance(.milliseconds(50), fraction: 0.2)
    /// How heartbeats are compared.
    public var heartbeats = Heartbeats.count
    /// What is masked, bound and ignored.
    public var rules = TraceRules()

    /// The comparison that asks for nothing in particular.
    public init() {}
}
