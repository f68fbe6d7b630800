import Streams

/// The delay before the next attempt: doubled after each failure, within bounds.
struct Backoff {
    /// The first delay.
    let first: Interval
    /// The longest delay.
    let longest: Interval
    /// A connection that lived this long was a success: the delays start over.
    let steady: Interval

    private var following: Interval

    init(first: Interval, longest: Interval, steady: Interval) {
        (self.first, self.longest, self.steady) = (first, longest, steady)
        following = first
    }

    /// The delay after a failure.
    ///
    /// - Parameter lifetime: how long the connection had lived; nil if it was never established.
    mutating func next(after lifetime: Interval?) -> Interval {
        if let lifetime, !(lifetime < steady) { following = first }
        let wait = following
        following = min(.seconds(wait.seconds * 2), longest)
        return wait
    }
}
