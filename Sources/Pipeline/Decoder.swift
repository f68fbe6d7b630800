import Analysis
import Framing
import Streams
import Trace

/// The whole path from stream events to sinks: formats are recognised, frames are extracted, analyses are run.
///
/// A source drives it as a `StreamReceiver`; `finish` ends the trace. Everything happens within the calls, on the
/// caller's thread.
package final class Decoder: StreamReceiver {
    private let output: TraceOutput
    private let resources: ConnectionResources
    /// The same for what a proxy passed on; nil until there is any.
    private var outLegs: ConnectionResources?
    /// The time to which it was advanced. Set before anything is called that could come back.
    @exclusivity(unchecked) private var now = Timestamp(nanoseconds: .min)

    /// A decoder.
    ///
    /// - Parameters:
    ///   - options: what to look for.
    ///   - analyses: the analyses to run, in this order; nil: those that the options ask for.
    ///   - sinks: the sinks that receive the trace, in this order.
    package init(_ options: DecodingOptions, analyses: [any Analysis]? = nil, sinks: [any TraceSink]) {
        output = TraceOutput(
            analyses ?? Self.allAnalyses(replacing: options.extraAnalyses()), sinks,
            memoryLimit: options.totalMemoryLimit)
        resources = ConnectionResources(options, output)
    }

    /// All analyses, some of them replaced by others of the same kind; those of other kinds come last.
    package static func allAnalyses(replacing others: [any Analysis]) -> [any Analysis] {
        allAnalyses().filter { analysis in !others.contains { type(of: $0) == type(of: analysis) } } + others
    }

    /// All analyses. A new one is one line here.
    package static func allAnalyses() -> [any Analysis] {
        [
            HeartbeatMonitor(), RoundTripMonitor(), ReconnectStorms(), ChecksumCheck(), SequenceCheck(), BodyFaults(),
            ConnectFailures(),
            StreamFaults(), TLSFaults(),
        ]
    }

    // MARK: Driving it

    /// A connection opened.
    package func open(_ opening: Opening) -> any ConnectionReceiver {
        let resources = opening.leg == .out ? outLegResources() : resources
        let connection = TracedConnection(opening)
        resources.output.opened(connection)
        return ConnectionDecoder(connection, resources)
    }

    private func outLegResources() -> ConnectionResources {
        let made = outLegs ?? ConnectionResources(outLegOf: resources)
        outLegs = made
        return made
    }

    /// The source has secrets of TLS connections.
    package func learned(keyLog: RawSpan) { resources.keys?.add(keyLog) }

    /// Deadlines before `time` have passed.
    ///
    /// Repeating a time has no effect, even if something earlier has become due in between, such as a deadline of bytes that
    /// were held: batches do not repeat it, and the trace must be the same.
    package func advance(to time: Timestamp) {
        guard time != now else { return }
        now = time
        if output.deadlines.earliest < time { pass(time) }
    }

    /// Until the earliest pending deadline.
    package var quietUntil: Timestamp { output.deadlines.earliest }

    private func pass(_ time: Timestamp) {
        output.deadlines.passPauses(before: time)
        output.advance(to: time)
    }

    /// The earliest pending deadline.
    package var nextDeadline: Timestamp? {
        let earliest = output.deadlines.earliest
        return earliest == .distantFuture ? nil : earliest
    }

    /// Makes everything received so far visible.
    package func flush() {
        for sink in output.sinks { sink.flush() }
    }

    /// Ends the trace.
    ///
    /// - Parameter skipped: the packets that the source skipped, by kind.
    package func finish(skipped: [(kind: String, packets: Int)] = []) {
        output.summary = summary
        outLegs = nil
        output.finish(skipped: skipped)
    }

    /// Ends without completing the trace, and releases the memory of all connections. Only this may follow.
    package func abandon() {
        resources.budget.forgetAll()
        output.deadlines.cancelAll()
    }

    // MARK: Results

    /// What is looked for.
    package var options: DecodingOptions { resources.options }

    /// The counts so far. Bytes of open connections are added when they close.
    package var summary: Summary {
        var summary = output.summary
        if let passedOn = outLegs?.output.summary {
            summary.passedOn = passedOn.total
            summary.dropped += passedOn.dropped
        }
        return summary
    }

    /// Adds another decoder's counts for other connections.
    package func add(_ other: Summary) { output.summary.add(other) }

    /// Connections opened and closed without being recorded.
    ///
    /// - Parameter byteCount: the bytes forwarded on them.
    package func unrecorded(_ connections: Int, byteCount: Int) {
        output.summary.unrecorded += connections
        output.summary.dropped += byteCount
    }

    /// Whether an analysis inspects each packet's acknowledgment.
    package var wantsPackets: Bool { !output.packetAnalyses.isEmpty }

    /// Whether a sink receives frames, so that their order matters.
    package var takesFrames: Bool { !output.frameSinks.isEmpty }

    /// How many bytes framers and detections hold.
    package var heldMemory: Int { resources.budget.held }

    /// Whether anything was evicted because all connections together held too much.
    package var hasReachedMemoryLimit: Bool { resources.budget.wasReached }

    /// How many pause deadlines are pending, stale entries included.
    package var pendingPauses: Int { output.deadlines.pendingPauses }
}

extension Summary {
    /// Adds the counts of other connections.
    fileprivate mutating func add(_ other: Summary) {
        for (format, totals) in other.formats { formats[format, default: Totals()].add(totals) }
        dropped += other.dropped
        if let others = other.passedOn {
            var own = passedOn ?? Totals()
            own.add(others)
            passedOn = own
        }
    }
}
