import Streams

extension Interval {
    /// The interval as people read it: `3 s`, `3.0 s`, `200 ms`.
    ///
    /// - Parameter digits: whether whole seconds show a digit behind the point.
    public func text(digits: Bool = false) -> String {
        Quantities.seconds(self, always: digits)
    }
}
