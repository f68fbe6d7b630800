import Framing
import Streams
import Trace

/// Reports bodies that are not what the format says they are, once a frame.
///
/// Bodies of which bytes are missing are not judged; nor are those whose key nobody gave.
public final class BodyFaults: Analysis {
    /// Nothing is waited for.
    public let nextDeadline: Timestamp? = nil

    /// Reports nothing yet.
    public init() {}

    /// Needs nothing before the first frame.
    public func recognised(_ connection: TracedConnection, into findings: inout [Finding]) {}

    /// Reports what is wrong with the frame's body.
    public func frame(
        _ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection, into findings: inout [Finding]
    ) {
        guard let format = connection.format, !format.directions[frame.direction].body.isPlain else { return }
        for fault in frame.decodedBody(of: bytes, format.directions[frame.direction]).faults {
            findings.append(
                Finding(
                    kind: kind(of: fault), severity: .warning, connection: connection.number, format: format.name,
                    from: frame.direction, time: frame.info.time,
                    message: "the body of frame \(frame.info.index): \(fault.encoding): \(fault.message)",
                    data: [
                        Field("index", .integer(Int64(frame.info.index))),
                        Field("offset", .integer(Int64(frame.info.offset))),
                        Field("encoding", .text(fault.encoding)),
                        Field("detail", .text(fault.message)),
                    ]))
        }
    }

    /// Remembers nothing.
    public func finished(
        _ direction: Direction, at time: Timestamp, on connection: TracedConnection, into findings: inout [Finding]
    ) {}

    /// Remembers nothing.
    public func closed(_ closing: Closing, on connection: TracedConnection, into findings: inout [Finding]) {}

    /// Waits for nothing.
    public func advance(to time: Timestamp, into findings: inout [Finding]) {}

    private func kind(of fault: BodyFault) -> Finding.Kind {
        switch fault.kind {
        case .badJSON: .badJSON
        case .badBody: .badBody
        case .wrongKey: .wrongKey
        }
    }
}
