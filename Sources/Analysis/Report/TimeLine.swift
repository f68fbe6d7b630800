import Streams

/// The traffic of a connection over time, in a bounded number of equal steps, whose width doubles as time advances.
package struct TimeLine: Sendable {
    /// The traffic of one direction in one step.
    package struct Cell: Sendable {
        /// Frames other than heartbeats.
        package var frames = 0
        /// Heartbeats.
        package var heartbeats = 0
        /// Bytes of frames.
        package var bytes = 0
        /// Whether bytes are missing or belong to no frame.
        package var isDamaged = false

        mutating func add(_ other: Cell) {
            frames += other.frames
            heartbeats += other.heartbeats
            bytes += other.bytes
            isDamaged = isDamaged || other.isDamaged
        }
    }

    /// At most how many steps there are.
    package static let most = 256

    /// When the first step begins.
    package let start: Timestamp
    /// How long a step is.
    package private(set) var step = Interval.milliseconds(1)
    /// The steps of each direction.
    package private(set) var cells: PerDirection<[Cell]> = PerDirection(fromClient: [], fromServer: [])

    init(start: Timestamp) {
        self.start = start
    }

    /// Adds to the step of a time.
    mutating func add(_ direction: Direction, at time: Timestamp, _ change: (inout Cell) -> Void) {
        let place = place(of: time)
        while cells[direction].count <= place { cells[direction].append(Cell()) }
        change(&cells[direction][place])
    }

    private mutating func place(of time: Timestamp) -> Int {
        let passed = max(0, (time - start).nanoseconds)
        while passed / step.nanoseconds >= Int64(Self.most) { widen() }
        return Int(passed / step.nanoseconds)
    }

    private mutating func widen() {
        step.nanoseconds *= 2
        for direction in Direction.allCases {
            let old = cells[direction]
            cells[direction] = stride(from: 0, to: old.count, by: 2).map { index in
                var cell = old[index]
                if index + 1 < old.count { cell.add(old[index + 1]) }
                return cell
            }
        }
    }

    /// The steps of a direction, brought to a number of equal columns up to `end`.
    package func columns(_ direction: Direction, count: Int, until end: Timestamp) -> [Cell] {
        var columns = [Cell](repeating: Cell(), count: count)
        let total = max(1, (end - start).nanoseconds)
        for (index, cell) in cells[direction].enumerated() {
            // As times, the ends of steps need not be representable; and what came after `end` is in the last column.
            let middle = (Double(index) + 0.5) * Double(step.nanoseconds)
            let column = Int((min(1, middle / Double(total)) * Double(count)).rounded(.down))
            columns[min(max(0, column), count - 1)].add(cell)
        }
        return columns
    }
}
