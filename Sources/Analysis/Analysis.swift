import Framing
import Streams
import Trace

/// Looks at a trace as it comes about, and finds things out: one file each.
///
/// Time comes in as an argument. A finding is dated by the deadline that passed, so that it is the same whether somebody
/// looked at once or an hour later.
public protocol Analysis: AnyObject {
    /// Which frames of a format it is to be shown.
    func interest(in format: Format) -> FrameInterest

    /// A connection opened.
    func opened(_ connection: TracedConnection, into findings: inout [Finding])

    /// Deadlines of a connection have passed: told where something happens on it before time in general may pass so far,
    /// since something older is waited for elsewhere.
    ///
    /// - Parameter known: up to when all that came from each side has been told.
    func settle(_ connection: TracedConnection, before known: PerDirection<Timestamp>, into findings: inout [Finding])

    /// A connection's format is known.
    func recognised(_ connection: TracedConnection, into findings: inout [Finding])

    /// A frame that it is interested in.
    func frame(_ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection, into findings: inout [Finding])

    /// Something was seen beside the bytes.
    func noticed(
        _ notice: StreamNotice, _ packet: NoticedPacket, on connection: TracedConnection, into findings: inout [Finding]
    )

    /// Whether it is to be told of each packet's bytes, acknowledgments and retransmissions; costs time, so few are.
    var wantsPackets: Bool { get }

    /// Bytes of a direction passed, or are missing; told only those who want packets.
    func received(_ byteCount: Int, isMissing: Bool, _ packet: NoticedPacket, on connection: TracedConnection)

    /// Bytes belong to no frame; told only those who want packets.
    func unframed(
        _ run: UnframedRun, from direction: Direction, on connection: TracedConnection, into findings: inout [Finding])

    /// One direction ended.
    func finished(
        _ direction: Direction, at time: Timestamp, on connection: TracedConnection, into findings: inout [Finding])

    /// The connection is over.
    func closed(_ closing: Closing, on connection: TracedConnection, into findings: inout [Finding])

    /// Deadlines before `time` have passed.
    func advance(to time: Timestamp, into findings: inout [Finding])

    /// The trace is over, and all connections are.
    func finish(into findings: inout [Finding])

    /// The earliest deadline there is; nil where nothing is waited for.
    var nextDeadline: Timestamp? { get }
}

/// Most have no use for most of it.
extension Analysis {
    /// None.
    public func interest(in format: Format) -> FrameInterest { [] }

    /// Needs nothing.
    public func recognised(_ connection: TracedConnection, into findings: inout [Finding]) {}

    /// Needs none.
    public func frame(
        _ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection, into findings: inout [Finding]
    ) {}

    /// Needs nothing.
    public func finished(
        _ direction: Direction, at time: Timestamp, on connection: TracedConnection, into findings: inout [Finding]
    ) {}

    /// Remembers nothing.
    public func closed(_ closing: Closing, on connection: TracedConnection, into findings: inout [Finding]) {}

    /// Waits for nothing.
    public func advance(to time: Timestamp, into findings: inout [Finding]) {}

    /// Waits for nothing.
    public var nextDeadline: Timestamp? { nil }

    /// Most have no use for it.
    public func noticed(
        _ notice: StreamNotice, _ packet: NoticedPacket, on connection: TracedConnection, into findings: inout [Finding]
    ) {}

    /// Most have no use for it.
    public func unframed(
        _ run: UnframedRun, from direction: Direction, on connection: TracedConnection, into findings: inout [Finding]
    ) {}

    /// Most have no use for it.
    public func opened(_ connection: TracedConnection, into findings: inout [Finding]) {}

    /// Those whose deadlines depend on more than what they are told have to.
    public func settle(
        _ connection: TracedConnection, before known: PerDirection<Timestamp>, into findings: inout [Finding]
    ) {}

    /// Most know all when the last connection is over.
    public func finish(into findings: inout [Finding]) {}

    /// Most do not.
    public var wantsPackets: Bool { false }

    /// Most have no use for it.
    public func received(_ byteCount: Int, isMissing: Bool, _ packet: NoticedPacket, on connection: TracedConnection) {}
}

/// The packet of a notice.
public struct NoticedPacket: Hashable, Sendable {
    /// Who sent it.
    public var direction: Direction
    /// When it was captured.
    public var time: Timestamp
    /// Its number, from 1; 0 where there are no packets.
    public var number: Int

    /// The packet of a notice.
    public init(from direction: Direction, time: Timestamp, number: Int) {
        self.direction = direction
        self.time = time
        self.number = number
    }
}
