import Streams

/// One side of a system as a value that does no I/O: what happened goes in with its time, what to do comes out.
///
/// Connections are numbered from 1 in the order in which they came about. A server has many at once; a client has one,
/// and the next has the next number. Machines get the bytes of each read as they came, because the hazards of published
/// receivers are about reads; those that go by frames have a `FrameCodec`.
package protocol PeerMachine: SendableMetatype {
    /// What it wants to be told later. Setting one again replaces it.
    associatedtype Alarm: Hashable, Sendable = Never
    /// What it wants to have done outside, in order, before it goes on.
    associatedtype Work: Hashable, Sendable = Never

    /// The peer begins.
    mutating func started(at time: Timestamp) -> [PeerAction<Alarm, Work>]
    /// A connection is there; `peer` is the other end's address.
    mutating func opened(_ connection: Int, with peer: String, at time: Timestamp) -> [PeerAction<Alarm, Work>]
    /// One read of a connection.
    mutating func received(_ bytes: [UInt8], on connection: Int, at time: Timestamp) -> [PeerAction<Alarm, Work>]
    /// A connection is over, or (0) could not be made; `error` where it did not end in order.
    mutating func closed(_ connection: Int, error: String?, at time: Timestamp) -> [PeerAction<Alarm, Work>]
    /// The time of an alarm has come. The connection it was about may be gone.
    mutating func due(_ alarm: Alarm, at time: Timestamp) -> [PeerAction<Alarm, Work>]
    /// Work is done; `error` where it failed.
    mutating func done(_ work: Work, error: String?, at time: Timestamp) -> [PeerAction<Alarm, Work>]
}

extension PeerMachine {
    package mutating func started(at time: Timestamp) -> [PeerAction<Alarm, Work>] { [] }
    package mutating func due(_ alarm: Alarm, at time: Timestamp) -> [PeerAction<Alarm, Work>] { [] }
    package mutating func done(_ work: Work, error: String?, at time: Timestamp) -> [PeerAction<Alarm, Work>] { [] }
}

/// What a machine asks for. A list of them is done in order; what one list writes on a connection goes out together.
package enum PeerAction<Alarm: Hashable & Sendable, Work: Hashable & Sendable>: Hashable, Sendable {
    /// Send bytes.
    case write([UInt8], connection: Int)
    /// Close a connection; what was written before is sent first.
    case close(connection: Int)
    /// Call `due` after this interval.
    case alarm(Alarm, after: Interval)
    /// Connect (again) after this interval. Only a client asks for it.
    case connect(after: Interval)
    /// Do this, and call `done` at once.
    case work(Work)
    /// Say a line to people.
    case log(String)
}
