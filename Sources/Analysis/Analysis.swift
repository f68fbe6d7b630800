import Framing
import Streams
import Trace

/// Analyses a trace as it is produced, and reports findings: one file each.
///
/// Time is passed as an argument. A finding has the time of the deadline that passed, so that it is the same whether it was
/// noticed at once or an hour later.
package protocol Analysis: AnyObject {
    /// Which frames of a format it receives.
    func interest(in format: Format) -> FrameInterest

    /// A connection opened.
    func opened(_ connection: TracedConnection, into findings: inout [Finding])

    /// Deadlines of a connection have passed: called when something happens on it before time in general may advance so far,
    /// because something older is pending elsewhere.
    ///
    /// - Parameter known: up to when everything from each side has been reported.
    func settle(_ connection: TracedConnection, before known: PerDirection<Timestamp>, into findings: inout [Finding])

    /// A connection's format is known.
    func recognised(_ connection: TracedConnection, into findings: inout [Finding])

    /// A frame that it is interested in.
    func frame(_ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection, into findings: inout [Finding])

    /// An event other than bytes was seen.
    func noticed(
        _ notice: StreamNotice, _ packet: NoticedPacket, on connection: TracedConnection, into findings: inout [Finding]
    )

    /// Whether it is notified of each packet's bytes, acknowledgments and retransmissions; that costs time, so few are.
    var wantsPackets: Bool { get }

    /// Bytes of a direction were seen, or are missing; reported only to analyses that want packets.
    func received(_ byteCount: Int, isMissing: Bool, _ packet: NoticedPacket, on connection: TracedConnection)

    /// Bytes belong to no frame; reported only to analyses that want packets.
    func unframed(
        _ run: UnframedRun, from direction: Direction, on connection: TracedConnection, into findings: inout [Finding])

    /// One direction ended.
    func finished(
        _ direction: Direction, at time: Timestamp, on connection: TracedConnection, into findings: inout [Finding])

    /// The connection is over.
    func closed(_ closing: Closing, on connection: TracedConnection, into findings: inout [Finding])

    /// Deadlines before `time` have passed: called if `nextDeadline` has.
    func advance(to time: Timestamp, into findings: inout [Finding])

    /// The trace is over, and all connections are.
    func finish(into findings: inout [Finding])

    /// The earliest deadline; nil if none is pending.
    var nextDeadline: Timestamp? { get }
}

/// Defaults: most analyses ignore most events.
extension Analysis {
    /// None.
    package func interest(in format: Format) -> FrameInterest { [] }

    /// Needs nothing.
    package func recognised(_ connection: TracedConnection, into findings: inout [Finding]) {}

    /// Needs none.
    package func frame(
        _ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection, into findings: inout [Finding]
    ) {}

    /// Needs nothing.
    package func finished(
        _ direction: Direction, at time: Timestamp, on connection: TracedConnection, into findings: inout [Finding]
    ) {}

    /// Remembers nothing.
    package func closed(_ closing: Closing, on connection: TracedConnection, into findings: inout [Finding]) {}

    /// Waits for nothing.
    package func advance(to time: Timestamp, into findings: inout [Finding]) {}

    /// Waits for nothing.
    package var nextDeadline: Timestamp? { nil }

    /// Ignores it, as most do.
    package func noticed(
        _ notice: StreamNotice, _ packet: NoticedPacket, on connection: TracedConnection, into findings: inout [Finding]
    ) {}

    /// Ignores it, as most do.
    package func unframed(
        _ run: UnframedRun, from direction: Direction, on connection: TracedConnection, into findings: inout [Finding]
    ) {}

    /// Ignores it, as most do.
    package func opened(_ connection: TracedConnection, into findings: inout [Finding]) {}

    /// Analyses whose deadlines depend on more than their events must implement it.
    package func settle(
        _ connection: TracedConnection, before known: PerDirection<Timestamp>, into findings: inout [Finding]
    ) {}

    /// Most know all when the last connection is over.
    package func finish(into findings: inout [Finding]) {}

    /// Most do not.
    package var wantsPackets: Bool { false }

    /// Ignores it, as most do.
    package func received(_ byteCount: Int, isMissing: Bool, _ packet: NoticedPacket, on connection: TracedConnection) {
    }
}

/// The packet of a notice.
package struct NoticedPacket: Hashable, Sendable {
    /// Who sent it.
    package var direction: Direction
    /// When it was captured.
    package var time: Timestamp
    /// Its number, from 1; 0 if there are no packets.
    package var number: Int

    /// The packet of a notice.
    package init(from direction: Direction, time: Timestamp, number: Int) {
        self.direction = direction
        self.time = time
        self.number = number
    }
}
