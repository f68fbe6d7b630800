import Streams

/// What is compared in two traces, and how.
///
/// Always compared: types, fields, bodies, the order of each side's frames, bytes that are in no frame or were not seen, and who
/// closed each connection, if its end was recorded.
package struct Comparison: Sendable {
    /// What is compared only on request.
    package enum Aspect: String, Sendable, CaseIterable {
        /// The pause before each frame.
        case times
        /// How frames were split and merged.
        case segments
        /// The order of frames between the two sides.
        case turns
        /// Addresses and ports.
        case ports
        /// Where frames are in their streams.
        case offsets
        /// Whether a connection ended with FIN or with a reset, or was still open at the end of the recording: if a side closes while
        /// bytes are in flight to it, or while the recording ends, that is chance.
        case endings
    }

    /// How heartbeats are compared.
    package typealias Heartbeats = HeartbeatComparison

    /// How far times may differ: by the larger of the two.
    package struct Tolerance: Sendable {
        /// By this much.
        package var interval: Interval
        /// By this fraction of the expected pause.
        package var fraction: Double

        /// A tolerance.
        package init(_ interval: Interval, fraction: Double) {
            self.interval = interval
            self.fraction = fraction
        }

        /// Whether one pause is equal to another within the tolerance.
        func allows(_ actual: Interval, for expected: Interval) -> Bool {
            let difference = abs(actual.seconds - expected.seconds)
            return difference <= max(interval.seconds, abs(expected.seconds) * fraction)
        }
    }

    /// What is compared in addition to the defaults.
    package var aspects: Set<Aspect> = []
    /// How far times may differ.
    package var tolerance = Tolerance(.milliseconds(50), fraction: 0.2)
    /// How heartbeats are compared.
    package var heartbeats = Heartbeats.count
    /// What is masked, bound and ignored.
    package var rules = TraceRules()

    /// The default comparison.
    package init() {}
}

/// How heartbeats are compared.
public enum HeartbeatComparison: String, Sendable, CaseIterable {
    /// Like all other frames.
    case exact
    /// By number, which may differ as far as the difference in duration explains.
    case count
    /// Not at all.
    case ignore
}
