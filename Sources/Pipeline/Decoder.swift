import Analysis
import Framing
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
    private var pausedFrames = PausedFrames()

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
        [HeartbeatMonitor()]
    }

    /// A connection opened.
    public func open(_ opening: Opening) -> any ConnectionReceiver {
        let connection = TracedConnection(opening)
        for sink in sinks { sink.opened(connection) }
        return ConnectionDecoder(connection, decoder: self)
    }

    /// Deadlines before `time` have passed.
    public func advance(to time: Timestamp) {
        while let (connection, direction) = pausedFrames.popFirst(before: time) {
            connection.pause(direction, until: time)
        }
        let known = min(pausedFrames.horizon ?? time, time)
        guard let deadline = analysisDeadline, deadline < known else { return }
        analyse { $0.advance(to: known, into: &$1) }
    }

    /// The earliest deadline at which `advance` has something to do.
    public var nextDeadline: Timestamp? {
        guard let pause = pausedFrames.next, let horizon = pausedFrames.horizon else { return analysisDeadline }
        // What an analysis waits for beyond the horizon has to wait for the pause.
        return analysisDeadline.map { $0 < horizon ? min($0, pause) : pause } ?? pause
    }

    private var analysisDeadline: Timestamp? {
        analyses.compactMap(\.nextDeadline).min()
    }

    /// A frame is under way that a pause will end.
    func awaitPause(of direction: Direction, on connection: ConnectionDecoder, until time: Timestamp, idle: Interval) {
        pausedFrames.insert(connection, direction, until: time, idle: idle)
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
