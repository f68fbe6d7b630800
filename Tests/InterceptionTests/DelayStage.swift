import Interception
import Streams

/// Passes everything on after a fixed time: what a stage is at least.
struct DelayStage: Stage {
    var delay: Interval

    mutating func take(_ event: StageEvent, at now: Timestamp) -> [StageAction] {
        switch event {
        case .bytes(let bytes, let direction): [.emit(bytes, direction, at: now + delay)]
        case .end(let ending, let direction): [.end(ending, direction)]
        case .wake, .release: []
        }
    }
}
