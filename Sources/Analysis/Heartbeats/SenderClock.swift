import Streams

/// The clock that a host stamps its segments with (TSval, RFC 7323 section 3.2): it shows when a segment was sent, not only when
/// it was captured.
struct SenderClock {
    /// The rates that stacks use, in ticks per second; RFC 7323 section 5.4 asks for 1 to 1,000.
    private static let rates = [1_000, 250, 100, 10, 2, 1.0]
    /// By how much the transit time to the capture may grow without counting as a delay.
    private static let tolerance = Interval.milliseconds(250)

    private struct Reading {
        var time: Timestamp
        var ticks: UInt32

        func ticks(to other: Reading) -> Int32 { Int32(bitPattern: other.ticks &- ticks) }
    }

    private var first: Reading?
    /// The last one that arrived as fast as those before it.
    private var reference: Reading?
    private var rate: Double?

    /// Takes the clock of a segment.
    ///
    /// - Returns: how much later it was captured than earlier ones, relative to when it was sent; nil while the clock's rate is
    ///   unknown.
    mutating func take(_ ticks: UInt32, at time: Timestamp) -> Interval? {
        let reading = Reading(time: time, ticks: ticks)
        guard let first, let reference else {
            (first, reference) = (reading, reading)
            return nil
        }
        guard let rate else {
            self.reference = reading
            self.rate = Self.rate(from: first, to: reading)
            return nil
        }
        let sent = Interval.seconds(Double(reference.ticks(to: reading)) / rate)
        let lag = time - reference.time - sent
        if lag.nanoseconds.magnitude <= Self.tolerance.nanoseconds.magnitude { self.reference = reading }
        return lag
    }

    /// Restarts with the next segment as the reference: the clock, or that of the capture, was set.
    mutating func restart() { (first, reference, rate) = (nil, nil, nil) }

    private static func rate(from first: Reading, to last: Reading) -> Double? {
        let duration = (last.time - first.time).seconds
        guard duration >= 1 else { return nil }
        let measured = Double(first.ticks(to: last)) / duration
        return rates.first { abs(measured / $0 - 1) < 0.2 }
    }
}
