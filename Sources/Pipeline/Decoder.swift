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

    /// What is looked for.
    public let options: DecodingOptions
    let sinks: [any TraceSink]
    /// Those of them that are told of frames.
    let frameSinks: [any TraceSink]
    let analyses: [any Analysis]
    /// Those of them that are told of every packet.
    let packetAnalyses: [any Analysis]
    let scratch = FramingScratch()
    /// Working memory of whichever connection gets bytes, taken and given back as a whole.
    @exclusivity(unchecked) var picks: [FrameSieve.Pick] = []
    /// What has to be done for each format that connections have, made when the first of them needs it.
    private var plans = Plans()
    private var findings: [Finding] = []
    /// Connections whose formats are on trial: only so many at once, for the sake of memory.
    private var detections = DetectionQueue()
    /// What framers and detections may hold.
    let budget: MemoryBudget
    /// How many bytes framers and detections hold.
    package var heldMemory: Int { budget.held }
    /// Whether something was given up because all connections together held too much.
    public var hasReachedMemoryLimit: Bool { budget.wasReached }
    /// When frames that a pause of their sender may end have to be looked at: one deadline for each direction of a connection.
    private var pauses = PendingDeadlines<Pause>()
    /// How many deadlines of that kind are pending, stale entries included.
    package var pendingPauses: Int { pauses.entries }

    private struct Plans {
        var fixed: FormatPlan?
        var automatic: [String: FormatPlan] = [:]
        var byPort: [UInt16: FormatPlan] = [:]
        var none: FormatPlan?
    }

    /// The earliest deadline that anything waits for.
    private var earliest = Timestamp.distantFuture

    /// A direction whose sender may pause.
    private struct Pause: Hashable, Comparable {
        let connection: ConnectionDecoder
        let number: Int
        let direction: Direction

        static func < (left: Pause, right: Pause) -> Bool {
            (left.number, left.direction.rawValue) < (right.number, right.direction.rawValue)
        }

        static func == (left: Pause, right: Pause) -> Bool {
            left.connection === right.connection && left.direction == right.direction
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(number)
            hasher.combine(direction)
        }
    }

    /// A decoder.
    ///
    /// - Parameters:
    ///   - options: what to look for.
    ///   - analyses: what to find out, in this order; nil: what the options ask for.
    ///   - sinks: what takes the trace; in this order.
    public init(_ options: DecodingOptions, analyses: [any Analysis]? = nil, sinks: [any TraceSink]) {
        self.options = options
        budget = MemoryBudget(limit: options.memoryLimit)
        let analyses = analyses ?? Self.allAnalyses(replacing: options.extraAnalyses())
        self.analyses = analyses
        packetAnalyses = analyses.filter(\.wantsPackets)
        self.sinks = sinks
        frameSinks = sinks.filter(\.takesFrames)
    }

    /// What to do for connections to a server's port that has a format of its own.
    func plan(forPort port: UInt16) -> FormatPlan? {
        if let known = plans.byPort[port] { return known }
        guard let format = options.byPort[port] ?? options.lateByPort?(port) else { return nil }
        let plan = FormatPlan(format, analyses, frameSinks)
        plans.byPort[port] = plan
        return plan
    }

    /// What to do for connections of a format: the one asked for, or one of those looked for.
    func plan(for format: Format) -> FormatPlan {
        if case .fixed = options.choice, let fixed = plans.fixed { return fixed }
        if case .automatic = options.choice, let known = plans.automatic[format.name] { return known }
        let plan = FormatPlan(format, analyses, frameSinks)
        if case .fixed = options.choice { plans.fixed = plan } else { plans.automatic[format.name] = plan }
        return plan
    }

    /// Every analysis there is, some of them replaced by others of the same kind; those of other kinds come behind them.
    public static func allAnalyses(replacing others: [any Analysis]) -> [any Analysis] {
        allAnalyses().filter { analysis in !others.contains { type(of: $0) == type(of: analysis) } } + others
    }

    /// What to do for connections whose format was not recognised.
    var planOfNone: FormatPlan {
        if let known = plans.none { return known }
        let plan = FormatPlan(.unframed("", "", detail: "no format"), [], [])
        plans.none = plan
        return plan
    }

    /// Every analysis there is. A new one is a line here.
    public static func allAnalyses() -> [any Analysis] {
        [
            HeartbeatMonitor(), RoundTripMonitor(), ReconnectStorms(), ChecksumCheck(), BodyFaults(), ConnectFailures(),
            StreamFaults(),
        ]
    }

    /// A connection opened.
    public func open(_ opening: Opening) -> any ConnectionReceiver {
        let connection = TracedConnection(opening)
        for sink in sinks { sink.opened(connection) }
        analyse { $0.opened(connection, into: &$1) }
        return ConnectionDecoder(connection, decoder: self)
    }

    /// Deadlines before `time` have passed.
    public func advance(to time: Timestamp) {
        if earliest < time { pass(time) }
    }

    private func pass(_ time: Timestamp) {
        while let (pause, deadline) = pauses.popFirst(before: time) {
            pause.connection.pause(of: pause.direction, at: deadline, until: time)
        }
        analyse { $0.advance(to: time, into: &$1) }
    }

    /// Bytes of a connection come: what was due on it before is found first, as far as each direction is known.
    @inline(__always)
    func settle(_ connection: TracedConnection, before time: Timestamp, from direction: Direction) {
        if earliest < time { settleNow(connection, before: time, from: direction) }
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

    /// The earliest deadline that something waits for.
    public var nextDeadline: Timestamp? { earliest == .distantFuture ? nil : earliest }

    private func findEarliest() {
        earliest = pauses.first ?? .distantFuture
        for analysis in analyses {
            if let deadline = analysis.nextDeadline, deadline < earliest { earliest = deadline }
        }
    }

    /// A frame of a connection may be ended by a pause of its sender at `deadline`.
    func expectPause(of direction: Direction, on connection: ConnectionDecoder, number: Int, at deadline: Timestamp) {
        pauses.arm(Pause(connection: connection, number: number, direction: direction), at: deadline)
        if deadline < earliest { earliest = deadline }
    }

    /// No pause of a sender ends a frame any more.
    func cancelPause(of direction: Direction, on connection: ConnectionDecoder, number: Int) {
        pauses.cancel(Pause(connection: connection, number: number, direction: direction))
    }

    /// A connection's formats are on trial from now on.
    func queue(_ detection: Detection) { detections.add(detection) }

    /// Something was given up to stay within the memory limit.
    func report(_ eviction: Eviction, of direction: Direction, on connection: TracedConnection, at time: Timestamp) {
        findings.append(
            Finding(
                kind: .memoryLimit, severity: .warning, connection: connection.number, format: connection.format?.name,
                from: direction, time: time, message: eviction.message(direction, limit: options.totalMemoryLimit),
                data: eviction.data(limit: options.totalMemoryLimit)))
        reportFindings()
    }

    /// Ends the trace.
    ///
    /// - Parameter skipped: packets that the source passed over, by what they were.
    public func finish(skipped: [(kind: String, packets: Int)] = []) {
        analyse { $0.finish(into: &$1) }
        summary.skipped = skipped
        for sink in sinks { sink.summary(summary) }
    }

    /// Makes what was taken so far visible.
    public func flush() {
        for sink in sinks { sink.flush() }
    }

    /// Bytes of a direction were forwarded, but not recorded.
    func dropped(_ gap: Gap, reason: String, on connection: TracedConnection) {
        summary.dropped += gap.byteCount
        for sink in sinks { sink.dropped(gap, reason: reason, on: connection) }
    }

    /// Connections came and went without being recorded.
    ///
    /// - Parameter byteCount: the bytes that were forwarded on them.
    package func unrecorded(_ connections: Int, byteCount: Int) {
        summary.unrecorded += connections
        summary.dropped += byteCount
    }

    /// Asks each analysis, and passes on what it finds.
    func analyse(_ ask: (any Analysis, inout [Finding]) -> Void) {
        for analysis in analyses { ask(analysis, &findings) }
        reportFindings()
    }

    /// Whether somebody wants to be told of each packet's acknowledgment.
    public var wantsPackets: Bool { !packetAnalyses.isEmpty }

    /// Tells those who want to know of every packet.
    func notifyPacketAnalyses(_ notify: (any Analysis, inout [Finding]) -> Void) {
        for analysis in packetAnalyses { notify(analysis, &findings) }
        if !findings.isEmpty { reportFindings() }
    }

    /// Shows a frame to analyses, and passes on what they find.
    func analyse(
        _ analyses: [any Analysis], _ frame: TracedFrame, _ bytes: RawSpan, _ connection: TracedConnection
    ) {
        guard !analyses.isEmpty else { return }
        for analysis in analyses {
            analysis.frame(frame, bytes: bytes, on: connection, into: &findings)
            // One that is over, or later than it was, is found out when it comes.
            if let deadline = analysis.nextDeadline, deadline < earliest { earliest = deadline }
        }
        passOnFindings()
    }

    /// Looks when the next deadline is, and passes on what was found.
    private func reportFindings() {
        findEarliest()
        passOnFindings()
    }

    private func passOnFindings() {
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

    /// Whether a sink wants to see frames, so that their order matters.
    public var takesFrames: Bool { !frameSinks.isEmpty }

    /// Adds what another decoder counted of other connections.
    public func add(_ other: Summary) {
        for (format, totals) in other.formats { summary.formats[format, default: Summary.Totals()].add(totals) }
        summary.dropped += other.dropped
    }

    /// Adds a closed connection's counts to the summary.
    func count(_ totals: Summary.Totals, on connection: TracedConnection) {
        summary.formats[connection.format?.name, default: Summary.Totals()].add(totals)
    }
}
