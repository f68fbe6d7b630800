import Streams

extension Interval {
    /// `12.5 ms`
    var inMilliseconds: String {
        let (whole, part) = (nanoseconds / 1_000_000, nanoseconds / 1_000 % 1_000)
        guard part != 0 else { return "\(whole) ms" }
        let digits = String(1_000 + part).dropFirst()
        return "\(whole).\(digits) ms"
    }
}
