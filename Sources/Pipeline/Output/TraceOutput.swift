import Analysis
import Framing
import Streams
import Trace

/// Where a decoder's results go: analyses inspect them, sinks receive them together with the findings of analyses, and the
/// summary counts them.
final class TraceOutput {
    /// The counts so far. Bytes of open connections are added when they close.
    var summary = Summary()
    let sinks: [any TraceSink]
    /// The sinks that receive frames.
    let frameSinks: [any TraceSink]
    /// The only one of them, if there is one.
    private let onlyFrameSink: (any TraceSink)?
    /// The sinks that receive chunks.
    let chunkSinks: [any TraceSink]
    let analyses: [any Analysis]
    /// The analyses that inspect every packet.
    let packetAnalyses: [any Analysis]
    /// The analyses that count the bytes on the wire.
    let wireAnalyses: [any WireAnalysis]
    let deadlines: DecoderDeadlines
    /// The memory limit as users set it, for messages.
    private let memoryLimit: Int
    // An analysis gets it as `inout`; neither analyses nor sinks have a reference to this output.
    @exclusivity(unchecked) private var findings: [Finding] = []

    init(
        _ analyses: [any Analysis], _ sinks: [any TraceSink], memoryLimit: Int, deadlines: DecoderDeadlines? = nil
    ) {
        self.analyses = analyses
        self.sinks = sinks
        self.memoryLimit = memoryLimit
        packetAnalyses = analyses.filter(\.wantsPackets)
        wireAnalyses = analyses.compactMap { $0 as? any WireAnalysis }
        frameSinks = sinks.filter(\.takesFrames)
        onlyFrameSink = frameSinks.count == 1 ? frameSinks[0] : nil
        chunkSinks = sinks.filter(\.takesChunks)
        self.deadlines = deadlines ?? DecoderDeadlines(analyses)
    }

    /// Where the results of what the proxy passed on go: to the sinks that distinguish legs. Analyses look at what both sides
    /// sent.
    func outLeg() -> TraceOutput {
        TraceOutput([], sinks.filter(\.takesBothLegs), memoryLimit: memoryLimit, deadlines: deadlines)
    }

    /// A connection opened.
    func opened(_ connection: TracedConnection) {
        for sink in sinks { sink.opened(connection) }
        analyse { $0.opened(connection, into: &$1) }
    }

    /// The trace is over.
    func finish(skipped: [(kind: String, packets: Int)]) {
        analyse { $0.finish(into: &$1) }
        summary.skipped = skipped
        for sink in sinks { sink.summary(summary) }
    }

    /// Bytes of a connection arrive: its earlier deadlines are handled first, as far as each direction is known.
    @inline(__always)
    func settle(_ connection: TracedConnection, before time: Timestamp, from direction: Direction) {
        if deadlines.earliest < time { settleNow(connection, before: time, from: direction) }
    }

    @inline(never)
    private func settleNow(_ connection: TracedConnection, before time: Timestamp, from direction: Direction) {
        connection.traffic[direction].disturbances?.waitingSince = nil
        var known = PerDirection(fromClient: time, fromServer: time)
        if let since = connection.traffic[direction.opposite].disturbances?.waitingSince {
            known[direction.opposite] = min(time, since)
        }
        analyse { $0.settle(connection, before: known, into: &$1) }
    }

    /// Something was evicted to stay within the memory limit.
    func report(_ eviction: Eviction, of direction: Direction, on connection: TracedConnection, at time: Timestamp) {
        findings.append(
            Finding(
                kind: .memoryLimit, severity: .warning, connection: connection.number,
                leg: connection.leg == .out ? .out : nil,
                format: connection.known?.format.name, from: direction, time: time,
                message: eviction.message(direction, limit: memoryLimit),
                data: eviction.data(limit: memoryLimit)))
        reportFindings()
    }

    /// Bytes of a direction were forwarded, but not recorded.
    func dropped(_ gap: Gap, reason: String, on connection: TracedConnection) {
        summary.dropped += gap.byteCount
        for sink in sinks { sink.dropped(gap, reason: reason, on: connection) }
    }

    /// Runs each analysis, and passes on its findings.
    func analyse(_ ask: (any Analysis, inout [Finding]) -> Void) {
        for analysis in analyses { ask(analysis, &findings) }
        reportFindings()
    }

    /// Deadlines of analyses before `time` have passed.
    func advance(to time: Timestamp) {
        deadlines.pass(before: time, into: &findings)
        passOnFindings()
    }

    /// Notifies the analyses that inspect every packet.
    func notifyPacketAnalyses(_ notify: (any Analysis, inout [Finding]) -> Void) {
        for analysis in packetAnalyses { notify(analysis, &findings) }
        if !findings.isEmpty { reportFindings() }
    }

    /// Shows a frame to analyses, and passes on their findings.
    func analyse(
        _ analyses: [any Analysis], _ frame: TracedFrame, _ bytes: RawSpan, _ connection: TracedConnection
    ) {
        guard !analyses.isEmpty else { return }
        for analysis in analyses {
            analysis.frame(frame, bytes: bytes, on: connection, into: &findings)
            // A deadline that was cancelled or moved back is noticed when it fires.
            if let deadline = analysis.nextDeadline, deadline < deadlines.earliest { deadlines.earliest = deadline }
        }
        passOnFindings()
    }

    /// Shows a frame to the sinks that want it.
    func show(_ frame: TracedFrame, _ bytes: RawSpan, on connection: TracedConnection) {
        // Not by `if let`, which retains it for each frame.
        onlyFrameSink?.frame(frame, bytes: bytes, on: connection)
        guard onlyFrameSink == nil else { return }
        for sink in frameSinks { sink.frame(frame, bytes: bytes, on: connection) }
    }

    /// Checks when the next deadline is, and passes on the findings.
    private func reportFindings() {
        deadlines.look()
        passOnFindings()
    }

    private func passOnFindings() {
        guard !findings.isEmpty else { return }
        findings.sort { ($0.time, $0.connection) < ($1.time, $1.connection) }
        for finding in findings {
            summary.formats[finding.format, default: Summary.Totals()].findings[finding.kind, default: 0] +=
                finding.occurrences
            for sink in sinks { sink.finding(finding) }
        }
        findings.removeAll(keepingCapacity: true)
    }

    /// A connection's format is known, or was not recognized.
    func recognised(_ connection: TracedConnection) {
        for sink in sinks { sink.recognised(connection) }
        analyse { $0.recognised(connection, into: &$1) }
    }

    /// Adds a closed connection's counts to the summary.
    func count(_ totals: Summary.Totals, on connection: TracedConnection) {
        summary.formats[connection.known?.format.name, default: Summary.Totals()].add(totals)
    }
}
