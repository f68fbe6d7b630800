import Streams

/// The traffic in one direction of a connection so far, for analyses that do not receive every frame.
///
/// Kept small: there may be a million.
package struct Traffic {
    /// How many frames were complete.
    package var frames = 0
    /// When the last of them was; the minimum if there was none.
    package var lastFrame = Timestamp(nanoseconds: .min)
    /// What disturbed the arrival of bytes; nil if nothing did.
    package var disturbances: Disturbances?

    /// No traffic.
    package init() {}

    /// Frames were complete.
    @inline(__always)
    package mutating func add(_ frames: Int, at time: Timestamp) {
        self.frames &+= frames
        lastFrame = time
    }

    /// Something disturbed the arrival of bytes.
    package mutating func disturb(_ change: (Disturbances) -> Void) {
        let disturbances = disturbances ?? Disturbances()
        change(disturbances)
        self.disturbances = disturbances
    }
}

/// What disturbed the arrival of one direction's bytes: the latest of each kind.
package final class Disturbances {
    /// When bytes were last found to be missing.
    package var missing: Timestamp?
    /// When bytes last belonged to no frame.
    package var unframed: Timestamp?
    /// When bytes last arrived that later ones had overtaken, and since when those had been there.
    package var overtaken: (time: Timestamp, since: Timestamp)?
    /// Since when bytes or the end have been waiting for earlier bytes; nil if nothing waits.
    package var waitingSince: Timestamp?
    /// When bytes were last retransmitted.
    package var retransmitted: Timestamp?
    /// Since when the receiver has accepted no data; nil while it accepts data.
    package var closedSince: Timestamp?
    /// When it last accepted no data, now that it accepts data again.
    package var closed: ClosedRange<Timestamp>?

    init() {}

    /// The receiver stopped accepting data, or resumed.
    package func close(_ isClosed: Bool, at time: Timestamp) {
        if isClosed {
            closedSince = closedSince ?? time
        } else if let since = closedSince {
            closed = min(since, time)...time
            closedSince = nil
        }
    }
}
