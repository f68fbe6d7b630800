import Platform
import Streams

/// The machine's clock.
package enum WallClock {
    /// The current time, in nanoseconds since 1970.
    package static func now() -> Timestamp {
        Timestamp(nanoseconds: SystemClock.nanoseconds())
    }
}
