/// Frames per step of time, of both sides. The steps double whenever there would be too many.
struct Rates: Sendable {
    /// When the first step begins, in nanoseconds since 1970.
    private(set) var start: Int64
    /// How long a step is, in nanoseconds.
    private(set) var step: Int64 = 1_000_000
    /// How many frames are in each step, by side.
    private(set) var counts: [[UInt32]] = [[], []]

    /// At most how many steps there are.
    static let most = 128

    init(start: Int64) { self.start = start }

    /// Counts a frame.
    ///
    /// - Parameter side: 0 for the client, 1 for the server.
    mutating func add(_ side: Int, at time: Int64) {
        let after = max(0, time.subtractingReportingOverflow(start).partialValue)
        while after / step >= Int64(Self.most) { double() }
        let place = Int(after / step)
        if place >= counts[side].count {
            counts[side] += [UInt32](repeating: 0, count: place + 1 - counts[side].count)
        }
        counts[side][place] += 1
    }

    private mutating func double() {
        step *= 2
        for side in counts.indices {
            let old = counts[side]
            counts[side] = stride(from: 0, to: old.count, by: 2).map {
                old[$0] + ($0 + 1 < old.count ? old[$0 + 1] : 0)
            }
        }
    }
}
