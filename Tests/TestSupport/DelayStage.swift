import Interception
import Streams

/// Passes everything on after a fixed time: a minimal stage.
package struct DelayStage: Stage {
    package var delay: Interval

    /// A stage that passes everything on after a time.
    package init(delay: Interval) { self.delay = delay }

    package mutating func take(_ event: StageEvent, at now: Timestamp) -> [StageAction] {
        switch event {
        case .bytes(let bytes, let direction): [.emit(bytes, direction, at: now + delay)]
        case .end(let ending, let direction): [.end(ending, direction)]
        case .began, .wake, .release, .command: []
        }
    }
}
