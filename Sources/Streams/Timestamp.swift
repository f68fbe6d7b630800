/// An instant, counted in nanoseconds since 1970-01-01T00:00:00Z.
///
/// Captures and the proxy's clock both provide wall-clock time at this resolution; 64 bits last until the year 2262.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Nanoseconds since 1970-01-01T00:00:00Z; negative before it.
    public var nanoseconds: Int64

    /// An instant from nanoseconds since 1970-01-01T00:00:00Z.
    @inlinable
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// An instant from whole seconds since 1970 and nanoseconds after them.
    ///
    /// A value that does not fit 64 bits (a hostile capture's timestamp) is clamped.
    @inlinable
    public init(seconds: Int64, nanoseconds: Int64) {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carried) = product.addingReportingOverflow(nanoseconds)
        self.nanoseconds = overflow || carried ? (seconds < 0 ? .min : .max) : sum
    }

    /// Later than any other instant.
    public static let distantFuture = Timestamp(nanoseconds: .max)

    /// Earlier than.
    @inlinable
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// The instant `interval` later (earlier if it is negative); clamped to the representable range.
    @inlinable
    public static func + (instant: Timestamp, interval: Interval) -> Timestamp {
        let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(interval.nanoseconds)
        return Timestamp(nanoseconds: overflow ? (interval.nanoseconds < 0 ? .min : .max) : sum)
    }

    /// How long after `right` the instant `left` lies; clamped.
    @inlinable
    public static func - (left: Timestamp, right: Timestamp) -> Interval {
        let (difference, overflow) = left.nanoseconds.subtractingReportingOverflow(right.nanoseconds)
        return Interval(nanoseconds: overflow ? (left < right ? .min : .max) : difference)
    }
}

/// A length of time in nanoseconds.
///
/// `Duration` is 128 bits wide and slower to add; captures need neither.
public struct Interval: Hashable, Comparable, Sendable {
    /// The length in nanoseconds.
    public var nanoseconds: Int64

    /// A length of time in nanoseconds.
    @inlinable
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// A length of time in seconds, rounded to nanoseconds; clamped to 64 bits.
    public static func seconds(_ seconds: Double) -> Interval {
        Interval(nanoseconds: Int64(exactly: (seconds * 1e9).rounded()) ?? (seconds < 0 ? .min : .max))
    }

    /// A length of time in milliseconds.
    public static func milliseconds(_ milliseconds: Int64) -> Interval {
        Interval(nanoseconds: milliseconds.multipliedReportingOverflow(by: 1_000_000).partialValue)
    }

    /// The length in seconds.
    public var seconds: Double { Double(nanoseconds) / 1e9 }

    /// Shorter than.
    @inlinable
    public static func < (left: Interval, right: Interval) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}
