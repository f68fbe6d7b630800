import Analysis
import Framing
import Streams
import Trace

/// A format with which connections are framed. All of them share one object: a format takes much memory.
package final class SharedFormat: Sendable {
    /// The format.
    package let format: Format

    /// A format that no connection has yet.
    package init(_ format: Format) { self.format = format }
}

/// An item of the page's queue: an event of a trace, or what its lines do not have.
package struct PageItem: Sendable {
    package enum Content: Sendable {
        case event(TraceEvent)
        /// The format of a connection that was opened, so that conditions can be evaluated on the bytes of its frames.
        /// A name is not enough: several formats may have the same one.
        case format(SharedFormat, of: ConnectionLeg)
        /// A request was answered. Both frames have been events.
        case trip(RoundTripMonitor.RoundTrip)
        /// How long TCP's round trips on a connection took.
        case tcp(connection: Int, TCPRoundTrips.Times)
        /// The report so far, as JSON.
        case report([UInt8])
        /// No more follows, even if the trace has no summary.
        case end
    }

    package var content: Content
    /// With a frame.
    package var detail: FrameDetail?

    package init(_ content: Content, detail: FrameDetail? = nil) { (self.content, self.detail) = (content, detail) }

    /// About how much memory it takes.
    var cost: Int {
        if case .report(let report) = content { return 512 + report.count }
        guard case .event(let event) = content else { return 512 }
        return switch event {
        // The values of a frame take several times the memory of its bytes.
        case .frame(let frame):
            1_024 + 4 * min(max(0, frame.length), 16 * FrameDetail.mostBytes) + (detail?.bytes.count ?? 0)
        case .unframed(let run): 256 + run.hex.utf8.count
        default: 1_024
        }
    }

    /// Whether other events cannot be understood without it.
    var isVital: Bool {
        guard case .event(let event) = content else {
            return switch content {
            case .format, .report, .end: true
            case .event, .trip, .tcp: false
            }
        }
        return switch event {
        // Without the end of a `break`, the frame would seem to be held for ever.
        case .trace, .opened, .tls, .format, .action, .closed, .summary: true
        case .frame, .missing, .unframed, .dropped, .finding: false
        }
    }
}
