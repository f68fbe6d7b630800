import Streams

extension Interval {
    /// The interval for display: `3 s`, `3.0 s`, `200 ms`.
    ///
    /// - Parameter digits: whether whole seconds show a decimal digit.
    package func text(digits: Bool = false) -> String {
        Quantities.seconds(self, always: digits)
    }
}
