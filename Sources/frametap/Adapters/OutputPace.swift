/// When to show what was found so far, although there is more to come: the matches of a filter may be far apart in a large capture.
struct OutputPace {
    private static let interval = Duration.milliseconds(250)
    private var last: ContinuousClock.Instant

    init(since start: ContinuousClock.Instant = .now) { last = start }

    /// Whether it is time again; asked after each piece of the work.
    mutating func isDue(_ now: ContinuousClock.Instant = .now) -> Bool {
        guard now - last >= Self.interval else { return false }
        last = now
        return true
    }
}
