import NIOCore
import Platform
import Streams

/// What can be asked of a reference peer.
package struct PeerOptions: Sendable {
    /// Multiplies every interval of the protocol; above 0.
    package var timeScale = 1.0
    /// Whether sockets send small writes at once (TCP_NODELAY). The systems described leave Nagle's algorithm on, so
    /// that the kernel merges small writes.
    package var noDelay = false
    /// Whether a relay keeps messages for targets that are not connected.
    package var storeOffline = false
    /// How often `converse` goes through its conversation; at least 1.
    package var rounds = 1
    /// The folder in which a server stores uploads, each under a name of its own; nil for a temporary one.
    package var uploadFolder: String?
    /// The hazards of the published receivers to reproduce, by name; see `ReferencePeer.hazards`. A client
    /// that is asked for one also sends what brings it about.
    package var asPublished: Set<String> = []
    /// The AES key of bodies; nil where they go in the clear.
    package var key: [UInt8]?

    /// For how long a client waits at least for what has to arrive, however small the time scale.
    package var leastWait = Interval.seconds(2)

    /// How long a script waits at least until a server has read what its clients said first, which nothing answers.
    package var leastPause = Interval.milliseconds(100)
    /// For how long a peer puts up at least with the other's silence, however small the time scale.
    package var leastTolerance = Interval.seconds(0)
    /// The most bytes that a server takes with one read; nil: as many as there are. A small number cuts what a client sends
    /// whatever the kernel merged.
    package var readSize: Int?

    /// Everything as the format's contract says.
    package init() {}

    /// An interval of the protocol, scaled.
    func scaled(_ interval: Interval) -> Interval {
        .seconds(interval.seconds * timeScale)
    }

    /// For how long the other side may be silent: scaled, and not less than `leastTolerance`.
    func tolerated(_ interval: Interval) -> Interval { max(scaled(interval), leastTolerance) }

    /// For how long something may take to arrive: scaled, and not less than `leastWait`.
    func limit(_ interval: Interval) -> Interval { max(scaled(interval), leastWait) }

    /// - Throws: `PeerError` where an option is out of its range, or a hazard is not among `hazards`.
    func check(hazards: Set<String> = []) throws(PeerError) {
        guard timeScale > 0, timeScale.isFinite else {
            throw PeerError("the time scale is \(timeScale), expected a number above 0")
        }
        guard rounds >= 1 else { throw PeerError("rounds is \(rounds), expected 1 or more") }
        if let unknown = asPublished.subtracting(hazards).min() {
            throw PeerError("cannot reproduce the hazard \(unknown)")
        }
    }
}

extension TimeAmount {
    /// The same length of time for NIO.
    init(_ interval: Interval) {
        self = .nanoseconds(interval.nanoseconds)
    }
}

extension Interval {
    /// From the event loops' clock to the time of day, in UTC.
    static var fromMonotonicToTimeOfDay: Interval {
        Timestamp(nanoseconds: SystemClock.nanoseconds()) - .monotonic
    }
}

extension Timestamp {
    /// The event loops' monotonic clock. Not a time of day: only good for differences.
    static var monotonic: Timestamp {
        Timestamp(nanoseconds: Int64(clamping: NIODeadline.now().uptimeNanoseconds))
    }
}
