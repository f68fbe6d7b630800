import Framing
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
    package func scaled(_ interval: Interval) -> Interval { .seconds(interval.seconds * timeScale) }

    /// How long the other side may be silent: scaled, and not less than `leastTolerance`.
    package func tolerated(_ interval: Interval) -> Interval { max(scaled(interval), leastTolerance) }

    /// How long expected data may take to arrive, by the protocol's time: scaled; 4 s more are allowed, and at least `leastWait`.
    package func limit(_ seconds: Double) -> Interval {
        .seconds(scaled(.seconds(seconds)).seconds + max(scaled(.seconds(4)), leastWait).seconds)
    }

    /// The pause between the parts of a frame: scaled, but long enough for the kernel not to merge them.
    package var partPause: Interval { max(scaled(.seconds(0.1)), .milliseconds(40)) }

    /// - Throws: `PeerError` if an option is out of its range, or a hazard is not among `hazards`.
    func check(hazards: Set<String>) throws(PeerError) {
        guard timeScale > 0, timeScale.isFinite else {
            throw PeerError("the time scale is \(timeScale), expected a number above 0")
        }
        guard rounds >= 1 else { throw PeerError("rounds is \(rounds), expected 1 or more") }
        if let unknown = asPublished.subtracting(hazards).min() {
            throw PeerError("cannot reproduce the hazard \(unknown)")
        }
    }
}

/// What a peer needs to know: its format, its options, and where uploads go.
package struct PeerSetup: Sendable {
    /// The system.
    let peer: any ReferencePeer.Type
    /// The wire format, with the key of its bodies, if there is one.
    package let format: Format
    /// Everything else.
    package let options: PeerOptions
    /// Opens the place for uploads.
    let storage: @Sendable () throws(PeerError) -> any UploadStorage

    /// The setup of a system's peers.
    ///
    /// - Throws: `PeerError` if the options do not fit the system.
    package init(
        _ peer: any ReferencePeer.Type, _ options: PeerOptions,
        storage: @escaping @Sendable () throws(PeerError) -> any UploadStorage = { () throws(PeerError) in
            throw PeerError("there is no place for uploads")
        }
    ) throws(PeerError) {
        try options.check(hazards: peer.hazards)
        let named: Format?
        do { named = try BuiltInFormats.format(named: peer.format) } catch { throw PeerError("\(error)") }
        guard var format = named else { throw PeerError("there is no format \(peer.format)") }
        if let key = options.key {
            do throws(BodyResourceError) {
                try format.use(BodyResources(keys: [format.name: key]))
            } catch {
                throw PeerError(error.description)
            }
        }
        (self.peer, self.format, self.options, self.storage) = (peer, format, options, storage)
    }

    /// Whether a hazard is to be reproduced.
    func has(_ hazard: String) -> Bool { options.asPublished.contains(hazard) }

    /// The codec of a connection's side.
    ///
    /// - Parameter reader: replaces the system's.
    package func codec(from side: Direction, reader: (any MessageReader)? = nil) -> FrameCodec {
        FrameCodec(format, sending: side, reader: reader ?? peer.reader(self, from: side.opposite))
    }
}

/// Why a reference peer failed.
package struct PeerError: Error, Hashable, CustomStringConvertible {
    /// In words: the peer, what was expected, and what happened instead.
    package var description: String

    /// Why a reference peer failed.
    package init(_ description: String) {
        self.description = description
    }
}
