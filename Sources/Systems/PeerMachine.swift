import Streams

/// One side of a system as a value that does no I/O: events go in with their times, actions come out.
///
/// `PeerSession` puts it on connections: it segments what arrives, encodes what is sent, reports who comes and goes, and
/// reconnects. A server has many connections at once, numbered from 1; a client has one, number 1, and possibly another after it.
/// Times are times of day.
package protocol PeerMachine: Sendable {
    /// The format, and how it is spoken.
    var setup: PeerSetup { get }
    /// A client's name, for messages; a server has none.
    var name: String { get }
    /// The delays between a client's attempts to connect; nil: it connects once.
    var retries: Backoff? { get }
    /// Why a client's script must fail; nil while nothing is wrong.
    var failure: String? { get }
    /// What a client is still waiting for, in words.
    var shortfall: String? { get }

    /// The codec of a new connection.
    func codec() -> FrameCodec
    /// Who is on a connection, once known.
    func label(_ number: Int) -> String?

    /// The peer begins.
    mutating func started(at now: Timestamp) -> [PeerAction]
    /// A connection is established.
    mutating func opened(_ number: Int, at now: Timestamp) -> [PeerAction]
    /// One read of a connection. The hazards of published receivers depend on reads; otherwise the reader takes them.
    mutating func read(
        _ bytes: [UInt8], on number: Int, at now: Timestamp, with reader: inout any MessageReader
    ) -> [PeerInput]
    /// A message arrived.
    mutating func take(_ message: PeerMessage, on number: Int, at now: Timestamp) -> [PeerAction]
    /// A timer fired. A client's timers end with its connection.
    mutating func due(_ timer: PeerTimer, at now: Timestamp) -> [PeerAction]
    /// A connection is over.
    mutating func closed(_ number: Int, at now: Timestamp) -> [PeerAction]
    /// The peer ends.
    func ended()
}

extension PeerMachine {
    package var name: String { "" }
    package var retries: Backoff? { nil }
    package var failure: String? { nil }
    package var shortfall: String? { nil }
    package func codec() -> FrameCodec { setup.codec(from: side) }
    package func label(_ number: Int) -> String? { nil }
    package mutating func started(at now: Timestamp) -> [PeerAction] { [] }
    package mutating func opened(_ number: Int, at now: Timestamp) -> [PeerAction] { [] }
    package mutating func read(
        _ bytes: [UInt8], on number: Int, at now: Timestamp, with reader: inout any MessageReader
    ) -> [PeerInput] { reader.receive(bytes.span.bytes, at: now) }
    package mutating func due(_ timer: PeerTimer, at now: Timestamp) -> [PeerAction] { [] }
    package mutating func closed(_ number: Int, at now: Timestamp) -> [PeerAction] { [] }
    package func ended() {}

    /// Which side it is.
    package var side: Direction { name.isEmpty ? .fromServer : .fromClient }

    /// A connection with the label of who is on it: `#2 (CinentB)`.
    func who(_ number: Int) -> String { "#\(number)" + (label(number).map { " (\(printable($0)))" } ?? "") }
}

/// An action of a machine. A list of them is performed in order; what a server sends on one connection in one list is sent together.
package enum PeerAction: Hashable, Sendable {
    /// Send, as one write.
    case send(PeerOutput, connection: Int = 1)
    /// Send, split at these offsets: one write per part, with pauses between them in which everything else waits.
    case sendCut(PeerOutput, at: [Int], pause: Interval, connection: Int = 1)
    /// Close a connection, after all data sent on it.
    case close(connection: Int = 1)
    /// Call `due` after this interval; a running timer of the same name is restarted.
    case wake(PeerTimer, after: Interval)
    /// Connect (again) after this interval. `PeerSession` uses it for clients.
    case connect(after: Interval)
    /// Report a line to the user.
    case log(String)
}

/// The name of a timer, and the connection it is for, if it is for one.
package struct PeerTimer: Hashable, Sendable, ExpressibleByStringLiteral {
    /// What it is for.
    package let name: String
    /// The connection's number; 0 if it is for none.
    package let connection: Int

    /// A timer, of one connection.
    package init(_ name: String, _ connection: Int = 0) { (self.name, self.connection) = (name, connection) }

    package init(stringLiteral name: String) { self.init(name) }
}

/// The delay before the next attempt: doubled after each failure, within bounds.
package struct Backoff: Sendable {
    private let options: PeerOptions
    private var following: Interval

    /// Delays from 0.25 s to 30 s, scaled.
    package init(_ options: PeerOptions) {
        self.options = options
        following = options.scaled(.seconds(0.25))
    }

    /// The delay after a failure.
    ///
    /// - Parameter lifetime: how long the connection had lived; nil if it was never established. After 10 s, scaled, it was a
    ///   success: the delays start over.
    package mutating func next(after lifetime: Interval?) -> Interval {
        if let lifetime, !(lifetime < options.scaled(.seconds(10))) { following = options.scaled(.seconds(0.25)) }
        defer { following = min(.seconds(following.seconds * 2), options.scaled(.seconds(30))) }
        return following
    }
}
