import Streams
import Trace

/// The frames that breakpoints have stopped, as the trace's actions say.
struct HeldFrames: Sendable {
    struct Frame: Hashable, Sendable {
        var connection: Int
        var from: Direction
        var index: Int
        var type: String?
        var since: Int64
    }

    /// In the order in which they were stopped.
    private(set) var frames: [Frame] = []

    /// At most how many are known.
    private static let most = 10_000

    /// Takes an event.
    mutating func take(_ event: TraceEvent) {
        switch event {
        case .action(let action):
            let report = action.report
            guard let index = report.index else { return }
            if report.action == "break" {
                guard frames.count < Self.most else { return }
                frames.append(
                    Frame(
                        connection: action.connection, from: report.direction, index: index,
                        type: report.type.map { String($0.prefix(256)) },
                        since: report.time.nanoseconds))
            } else {
                frames.removeAll {
                    $0.connection == action.connection && $0.from == report.direction && $0.index == index
                }
            }
        case .closed(let closed) where closed.leg != .out: frames.removeAll { $0.connection == closed.connection }
        default: break
        }
    }
}
