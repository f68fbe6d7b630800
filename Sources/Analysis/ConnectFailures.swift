import Framing
import Streams
import Trace

/// Tells why a server could not be reached. Only the proxy knows: a live-only kind (DESIGN §5).
public final class ConnectFailures: Analysis {
    /// Knows of no failure yet.
    public init() {}

    /// Waits for nothing.
    public var nextDeadline: Timestamp? { nil }

    /// None.
    public func interest(in format: Format) -> FrameInterest { [] }

    /// Needs nothing.
    public func recognised(_ connection: TracedConnection, into findings: inout [Finding]) {}

    /// Needs nothing.
    public func frame(
        _ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection, into findings: inout [Finding]
    ) {}

    /// Needs nothing.
    public func finished(
        _ direction: Direction, at time: Timestamp, on connection: TracedConnection, into findings: inout [Finding]
    ) {}

    /// Finds the cause of a failed connect.
    public func closed(_ closing: Closing, on connection: TracedConnection, into findings: inout [Finding]) {
        guard let detail = closing.detail else { return }
        findings.append(
            Finding(
                kind: .connectFailed, severity: .error, connection: connection.number, format: connection.format?.name,
                from: .fromServer, time: closing.time, message: detail, data: []))
    }

    /// Waits for nothing.
    public func advance(to time: Timestamp, into findings: inout [Finding]) {}
}
