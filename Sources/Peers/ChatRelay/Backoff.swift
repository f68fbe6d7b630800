import Streams

/// How long to wait before the next attempt: twice as long after each failure, within bounds.
struct Backoff {
    /// The first wait.
    let first: Interval
    /// The longest wait.
    let longest: Interval
    /// A connection that lived this long was a success: the waits start over.
    let steady: Interval

    private var following: Interval

    init(first: Interval, longest: Interval, steady: Interval) {
        (self.first, self.longest, self.steady) = (first, longest, steady)
        following = first
    }

    /// The wait after a failure.
    ///
    /// - Parameter lifetime: how long the connection had lived; nil where it was never made.
    mutating func next(after lifetime: Interval?) -> Interval {
        if let lifetime, !(lifetime < steady) { following = first }
        let wait = following
        following = min(.seconds(wait.seconds * 2), longest)
        return wait
    }
}
