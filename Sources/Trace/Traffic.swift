import Streams

/// What passed in one direction of a connection so far, for analyses that are not shown every frame.
///
/// Kept small: there may be a million.
public struct Traffic {
    /// How many frames were complete.
    public package(set) var frames = 0
    /// When the last of them was; before all time where there was none.
    public package(set) var lastFrame = Timestamp(nanoseconds: .min)
    /// What kept bytes from coming as they were sent; nil where nothing did.
    public package(set) var disturbances: Disturbances?

    /// Nothing passed.
    public init() {}

    /// Frames were complete.
    @inline(__always)
    package mutating func add(_ frames: Int, at time: Timestamp) {
        self.frames &+= frames
        lastFrame = time
    }

    /// Something kept bytes from coming as they were sent.
    package mutating func disturb(_ change: (Disturbances) -> Void) {
        let disturbances = disturbances ?? Disturbances()
        change(disturbances)
        self.disturbances = disturbances
    }
}

/// What kept the bytes of one direction from coming as they were sent: the latest of each.
public final class Disturbances {
    /// When bytes were known to be missing last.
    public package(set) var missing: Timestamp?
    /// When bytes belonged to no frame last.
    public package(set) var unframed: Timestamp?
    /// When bytes came last that others behind them had overtaken, and since when those were there.
    public package(set) var overtaken: (time: Timestamp, since: Timestamp)?
    /// Since when bytes or the end wait for others before them; nil while what was seen is known.
    package var waitingSince: Timestamp?
    /// When bytes were sent again last.
    public package(set) var retransmitted: Timestamp?
    /// Since when the receiver takes nothing; nil while it takes what comes.
    public package(set) var closedSince: Timestamp?
    /// When it took nothing last, since it takes again.
    public package(set) var closed: ClosedRange<Timestamp>?

    init() {}

    /// The receiver takes nothing any more, or takes what comes again.
    package func close(_ isClosed: Bool, at time: Timestamp) {
        if isClosed {
            closedSince = closedSince ?? time
        } else if let since = closedSince {
            closed = min(since, time)...time
            closedSince = nil
        }
    }
}
