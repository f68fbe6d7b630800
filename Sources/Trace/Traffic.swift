import Streams

/// The traffic in one direction of a connection so far, for analyses that do not receive every frame.
///
/// Kept small: there may be a million.
public struct Traffic {
    /// How many frames were complete.
    public package(set) var frames = 0
    /// When the last of them was; the minimum if there was none.
    public package(set) var lastFrame = Timestamp(nanoseconds: .min)
    /// What disturbed the arrival of bytes; nil if nothing did.
    public package(set) var disturbances: Disturbances?

    /// No traffic.
    public init() {}

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
public final class Disturbances {
    /// When bytes were last found to be missing.
    public package(set) var missing: Timestamp?
    /// When bytes last belonged to no frame.
    public package(set) var unframed: Timestamp?
    /// When bytes last arrived that later ones had overtaken, and since when those had been there.
    public package(set) var overtaken: (time: Timestamp, since: Timestamp)?
    /// Since when bytes or the end have been waiting for earlier bytes; nil if nothing waits.
    package var waitingSince: Timestamp?
    /// When bytes were last retransmitted.
    public package(set) var retransmitted: Timestamp?
    /// Since when the receiver has accepted no data; nil while it accepts data.
    public package(set) var closedSince: Timestamp?
    /// When it last accepted no data, now that it accepts data again.
    public package(set) var closed: ClosedRange<Timestamp>?

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
