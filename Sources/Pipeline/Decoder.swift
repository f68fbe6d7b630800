import Analysis
import Framing
import HeapModule
import Streams
import Trace

/// The whole way from stream events to sinks: formats are recognised, frames cut, analyses asked.
///
/// A source drives it as a `StreamReceiver`; `finish` ends the trace. Everything happens within the calls, on the
/// caller's thread.
public final class Decoder: StreamReceiver {
    /// What is counted so far. Bytes of open connections are added when they close.
    public internal(set) var summary = Summary()

    let options: DecodingOptions
    let sinks: [any TraceSink]
    let analyses: [any Analysis]
    let scratch = FramingScratch()
    private var findings: [Finding] = []
    /// When connections with a frame that a pause may end have to be looked at.
    private var pauses = Heap<Pause>()

    private struct Pause: Comparable {
        var deadline: Timestamp
        var number: Int
        var connection: ConnectionDecoder

        static func < (left: Pause, right: Pause) -> Bool {
            (left.deadline, left.number) < (right.deadline, right.number)
        }

        static func == (left: Pause, right: Pause) -> Bool {
            (left.deadline, left.number) == (right.deadline, right.number)
        }
    }

    /// A decoder.
    ///
    /// - Parameters:
    ///   - options: what to look for.
    ///   - analyses: what to find out; in this order.
    ///   - sinks: what takes the trace; in this order.
    public init(_ options: DecodingOptions, analyses: [any Analysis] = Decoder.allAnalyses(), sinks: [any TraceSink]) {
        self.options = options
        self.analyses = analyses
        self.sinks = sinks
    }

    /// Every analysis there is. A new one is a line here.
    public static func allAnalyses() -> [any Analysis] {
        [HeartbeatMonitor(), ChecksumCheck(), BodyFaults(), ConnectFailures()]
    }

    /// A connection opened.
    public func open(_ opening: Opening) -> any ConnectionReceiver {
        let connection = TracedConnection(opening)
        for sink in sinks { sink.opened(connection) }
        return ConnectionDecoder(connection, decoder: self)
    }

    /// Deadlines before `time` have passed.
    public func advance(to time: Timestamp) {
        guard let deadline = nextDeadline, deadline < time else { return }
        while let pause = pauses.min, pause.deadline < time {
            pauses.removeMin()
            pause.connection.pause(until: time)
        }
        analyse { $0.advance(to: time, into: &$1) }
    }

    /// The earliest deadline that something waits for.
    public var nextDeadline: Timestamp? {
        var earliest = pauses.min?.deadline
        for analysis in analyses {
            if let deadline = analysis.nextDeadline, deadline < earliest ?? .distantFuture { earliest = deadline }
        }
        return earliest
    }

    /// A connection's frame may be ended by a pause at `deadline`.
    func expectPause(of connection: ConnectionDecoder, number: Int, at deadline: Timestamp) {
        pauses.insert(Pause(deadline: deadline, number: number, connection: connection))
    }

    /// Ends the trace.
    ///
    /// - Parameter passedOver: packets that the source passed over, by what they were.
    public func finish(passedOver: [(kind: String, packets: Int)] = []) {
        summary.passedOver = passedOver
        for sink in sinks { sink.summary(summary) }
    }

    /// Makes what was taken so far visible.
    public func flush() {
        for sink in sinks { sink.flush() }
    }

    /// Bytes of a direction were forwarded, but not recorded.
    func dropped(_ hole: Hole, reason: String, on connection: TracedConnection) {
        summary.dropped += hole.byteCount
        for sink in sinks { sink.dropped(hole, reason: reason, on: connection) }
    }

    /// Asks each analysis, and passes on what it finds.
    func analyse(_ ask: (any Analysis, inout [Finding]) -> Void) {
        for analysis in analyses { ask(analysis, &findings) }
        guard !findings.isEmpty else { return }
        findings.sort { ($0.time, $0.connection) < ($1.time, $1.connection) }
        for finding in findings {
            summary.formats[finding.format, default: Summary.Totals()].findings[finding.kind, default: 0] += 1
            for sink in sinks { sink.finding(finding) }
        }
        findings.removeAll(keepingCapacity: true)
    }

    /// A connection's format is known, or known not to be recognised.
    func recognised(_ connection: TracedConnection) {
        for sink in sinks { sink.recognised(connection) }
        analyse { $0.recognised(connection, into: &$1) }
    }

    /// Adds a closed connection's counts to the summary.
    func count(_ totals: Summary.Totals, on connection: TracedConnection) {
        summary.formats[connection.format?.name, default: Summary.Totals()].add(totals)
    }
}
