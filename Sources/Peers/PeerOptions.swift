import NIOCore
import Platform
import Streams

/// The options of a reference peer.
package struct PeerOptions: Sendable {
    /// Multiplies every interval of the protocol; above 0.
    package var timeScale = 1.0
    /// Whether sockets send small writes immediately (TCP_NODELAY). The systems described leave Nagle's algorithm on, so that the
    /// kernel merges small writes.
    package var noDelay = false
    /// Whether a relay keeps messages for targets that are not connected.
    package var storeOffline = false
    /// How often `converse` goes through its conversation; at least 1.
    package var rounds = 1
    /// The folder in which a server stores uploads, each under a name of its own; nil for a temporary one.
    package var uploadFolder: String?
    /// The hazards of the published receivers to reproduce, by name; see `ReferencePeer.hazards`. A client with a requested
    /// hazard also sends the data that triggers it.
    package var asPublished: Set<String> = []
    /// The AES key of bodies; nil if they are sent in the clear.
    package var key: [UInt8]?

    /// The minimum time that a client waits for expected data, however small the time scale.
    package var leastWait = Interval.seconds(2)

    /// The minimum time that a script waits for a server to read its clients' first data, which is not answered.
    package var leastPause = Interval.milliseconds(100)
    /// The minimum silence of the other side that a peer tolerates, however small the time scale.
    package var leastTolerance = Interval.seconds(0)
    /// The maximum number of bytes that a server takes with one read; nil: all available. A small number segments a client's data
    /// regardless of what the kernel merged.
    package var readSize: Int?

    /// Everything as the format's contract specifies.
    package init() {}

    /// An interval of the protocol, scaled.
    func scaled(_ interval: Interval) -> Interval {
        .seconds(interval.seconds * timeScale)
    }

    /// How long the other side may be silent: scaled, and not less than `leastTolerance`.
    func tolerated(_ interval: Interval) -> Interval { max(scaled(interval), leastTolerance) }

    /// How long expected data may take to arrive: scaled, and not less than `leastWait`.
    func limit(_ interval: Interval) -> Interval { max(scaled(interval), leastWait) }

    /// - Throws: `PeerError` if an option is out of its range, or a hazard is not among `hazards`.
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
    /// The offset from the event loops' clock to the time of day, in UTC.
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
