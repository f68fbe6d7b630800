import Streams

/// One side of a system as a value that does no I/O: events go in with their times, actions come out.
///
/// Connections are numbered from 1 in the order in which they were established. A server has many at once; a client has one, and
/// the next one has the next number. Machines receive the bytes of each read as they arrived, because the hazards of published
/// receivers depend on reads; machines that work on frames have a `FrameCodec`.
package protocol PeerMachine: SendableMetatype {
    /// An alarm. Setting one again replaces it.
    associatedtype Alarm: Hashable, Sendable = Never
    /// External work, done in order before the machine continues.
    associatedtype Work: Hashable, Sendable = Never

    /// The peer begins.
    mutating func started(at time: Timestamp) -> [PeerAction<Alarm, Work>]
    /// A connection is established; `peer` is the other end's address.
    mutating func opened(_ connection: Int, with peer: String, at time: Timestamp) -> [PeerAction<Alarm, Work>]
    /// One read of a connection.
    mutating func received(_ bytes: [UInt8], on connection: Int, at time: Timestamp) -> [PeerAction<Alarm, Work>]
    /// A connection is over, or (0) could not be established; `error` if it did not end cleanly.
    mutating func closed(_ connection: Int, error: String?, at time: Timestamp) -> [PeerAction<Alarm, Work>]
    /// An alarm fired. The connection it was for may be gone.
    mutating func due(_ alarm: Alarm, at time: Timestamp) -> [PeerAction<Alarm, Work>]
    /// Work is done; `error` if it failed.
    mutating func done(_ work: Work, error: String?, at time: Timestamp) -> [PeerAction<Alarm, Work>]
}

extension PeerMachine {
    package mutating func started(at time: Timestamp) -> [PeerAction<Alarm, Work>] { [] }
    package mutating func due(_ alarm: Alarm, at time: Timestamp) -> [PeerAction<Alarm, Work>] { [] }
    package mutating func done(_ work: Work, error: String?, at time: Timestamp) -> [PeerAction<Alarm, Work>] { [] }
}

/// An action of a machine. A list of them is performed in order; the writes of one list on a connection are sent together.
package enum PeerAction<Alarm: Hashable & Sendable, Work: Hashable & Sendable>: Hashable, Sendable {
    /// Send bytes.
    case write([UInt8], connection: Int)
    /// Close a connection; what was written before is sent first.
    case close(connection: Int)
    /// Call `due` after this interval.
    case alarm(Alarm, after: Interval)
    /// Connect (again) after this interval. Only clients use it.
    case connect(after: Interval)
    /// Do this work, and call `done` immediately.
    case work(Work)
    /// Report a line to the user.
    case log(String)
}
