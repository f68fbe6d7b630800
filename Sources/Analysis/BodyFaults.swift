import Framing
import Streams
import Trace

/// Reports bodies that violate the format: a connection's first ones individually, the others by their number.
///
/// Bodies of which bytes are missing are not judged; nor are those without a key.
package final class BodyFaults: Analysis {
    /// Nothing is waited for.
    package let nextDeadline: Timestamp? = nil

    /// Reports nothing yet.
    package init() {}

    /// Frames with such bodies.
    package func interest(in format: Format) -> FrameInterest { .faultyBodies }

    /// Reports the faults of a frame's body.
    package func frame(
        _ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection, into findings: inout [Finding]
    ) {
        guard let known = connection.known, !known.format.directions[frame.direction].hasPlainBodies else { return }
        for fault in frame.decodedBody(of: bytes, known.format.directions[frame.direction]).faults {
            findings.append(
                Finding(
                    kind: kind(of: fault.kind), severity: .warning, connection: connection.number,
                    format: known.format.name,
                    from: frame.direction, time: frame.info.time,
                    message: "the body of frame \(frame.info.index): \(fault.encoding): \(fault.message)",
                    data: [
                        Field("index", .integer(Int64(frame.info.index))),
                        Field("offset", .integer(Int64(frame.info.offset))),
                        Field("encoding", .text(fault.encoding)),
                        Field("detail", .text(fault.message)),
                    ] + .packets(("packet", frame.info.packet))))
        }
    }

    /// Reports how many more there were.
    package func closed(_ closing: Closing, on connection: TracedConnection, into findings: inout [Finding]) {
        for direction in Direction.allCases {
            for fault in [BodyFault.Kind.badJSON, .badBody, .wrongKey] {
                let more = connection.faults[direction][fault] - FaultCounts.reported
                guard more > 0 else { continue }
                let frames = more == 1 ? "1 more body" : "\(more) more bodies"
                findings.append(
                    Finding(
                        kind: kind(of: fault), severity: .warning, connection: connection.number,
                        format: connection.known?.format.name, from: direction, time: closing.time,
                        message: "\(frames) from the \(direction.sender) with such a fault",
                        data: [Field("count", .integer(Int64(more)))]))
            }
        }
    }

    private func kind(of fault: BodyFault.Kind) -> Finding.Kind {
        switch fault {
        case .badJSON: .badJSON
        case .badBody: .badBody
        case .wrongKey: .wrongKey
        }
    }
}
