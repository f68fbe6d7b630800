import Analysis
import Framing
import Streams
import Trace

/// Puts a trace into the page's queue, with what its lines do not have: the bytes of frames, the chunks that they came in, and
/// which request an answer belongs to.
package final class PageSink: TraceSink {
    private let queue: PageQueue
    private let latest: Latest
    private let events: EventSink
    private var chunks: [ConnectionLeg: PerDirection<ChunkPlaces>] = [:]
    /// The formats of connections so far, by the kinds of frames that their connections share. `kinds` keeps what
    /// identifies them.
    private var formats: [ObjectIdentifier: (kinds: FrameKinds, shared: SharedFormat)] = [:]
    /// Round trips whose answer has not been put into the queue.
    private var trips: [RoundTripMonitor.RoundTrip] = []
    private let tcp: TCPRoundTrips?
    /// What collects the report; nil if there is to be none.
    private let report: ReportCollector?
    private let names: (source: String, tool: String)

    /// For how many connections TCP's round trips are timed: the first ones.
    private static let mostTimed = 200

    package var takesBothLegs: Bool { true }
    package var takesChunks: Bool { true }
    package var bodyLimit: Int { events.bodyLimit }

    /// The event that was made last.
    private final class Latest {
        var event: TraceEvent?
    }

    /// - Parameters:
    ///   - source: what is traced: files, addresses.
    ///   - hasPackets: whether there are packets, whose acknowledgments tell TCP's round trips.
    ///   - makesReport: whether the page gets the trace's report, too, when the trace is over.
    package init(_ queue: PageQueue, source: String, tool: String, hasPackets: Bool, makesReport: Bool = false) {
        let latest = Latest()
        (self.queue, self.latest, names) = (queue, latest, (source, tool))
        report = makesReport ? ReportCollector() : nil
        tcp = hasPackets ? TCPRoundTrips(most: Self.mostTimed) : nil
        events = EventSink(source: source, tool: tool, bodyLimit: FrameDetail.mostBytes) { latest.event = $0 }
        put()
    }

    /// The analyses that report to it what a sink does not see; in place of the usual ones of their kinds.
    package func analyses() -> [any Analysis] {
        let pairs: [any Analysis]
        if let report {
            pairs = report.measurements { [unowned self] in take($0) }
        } else {
            pairs = [RoundTripMonitor { [unowned self] in take($0) }]
        }
        return pairs + (tcp.map { [$0] } ?? [])
    }

    /// A request was answered.
    package func take(_ trip: RoundTripMonitor.RoundTrip) {
        if trips.count < 1_024 { trips.append(trip) }
    }

    private func put(_ detail: FrameDetail? = nil) {
        if let event = latest.event { queue.put(PageItem(.event(event), detail: detail)) }
        latest.event = nil
    }

    package func opened(_ connection: TracedConnection) {
        reported(connection)?.opened(connection)
        events.opened(connection)
        put()
    }

    /// The report, if it has something of this: what both sides sent.
    private func reported(_ connection: TracedConnection) -> ReportCollector? {
        connection.leg == .out ? nil : report
    }

    package func tls(_ facts: TLSFacts, at time: Timestamp, on connection: TracedConnection) {
        events.tls(facts, at: time, on: connection)
        put()
    }

    package func action(_ report: ActionReport, on connection: TracedConnection) {
        events.action(report, on: connection)
        put()
    }

    package func recognised(_ connection: TracedConnection) {
        reported(connection)?.recognised(connection)
        if let format = sharedFormat(of: connection) {
            queue.put(PageItem(.format(format, of: connection.connectionLeg)))
        }
        events.recognised(connection)
        put()
    }

    /// The format of a connection, as all of its connections have it; nil if it has none.
    private func sharedFormat(of connection: TracedConnection) -> SharedFormat? {
        guard let format = connection.format, let kinds = connection.kinds(of: .fromClient) else { return nil }
        if let known = formats[ObjectIdentifier(kinds)] { return known.shared }
        let shared = SharedFormat(format)
        formats[ObjectIdentifier(kinds)] = (kinds: kinds, shared: shared)
        return shared
    }

    package func chunk(_ chunk: TracedChunk, on connection: TracedConnection) {
        // Nothing is asked for of connections that are not framed.
        guard connection.format?.isFramed == true else { return }
        chunks[connection.connectionLeg, default: PerDirection(fromClient: ChunkPlaces(), fromServer: ChunkPlaces())][
            chunk.direction
        ].append(chunk)
    }

    package func frame(_ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection) {
        reported(connection)?.frame(frame, bytes: bytes, on: connection)
        events.frame(frame, bytes: bytes, on: connection)
        guard let kinds = connection.kinds(of: frame.direction) else { return }
        put(detail(of: frame, bytes, on: connection, kinds))
        for trip in trips { queue.put(PageItem(.trip(trip))) }
        trips.removeAll(keepingCapacity: true)
    }

    private func detail(
        of frame: TracedFrame, _ bytes: RawSpan, on connection: TracedConnection, _ kinds: FrameKinds
    ) -> FrameDetail {
        let info = frame.info
        var detail = FrameDetail()
        (detail.shape, detail.missing, detail.offset) = (frame.shape, info.missing, info.offset)
        (detail.segments, detail.started, detail.packet) = (info.segments, info.started, info.packet)
        (detail.isMerged, detail.isStreamed) = (info.merged, info.streamed > 0)
        detail.isTransformed = frame.shape != info.partsAtHand
        if !kinds.hidesNothing(frame.kind) || frame.isSecret {
            detail.isHidden = !FrameSecrets.mayDump(frame, bytes, kinds)
        }
        detail.isTruncated = bytes.byteCount > FrameDetail.mostBytes || info.streamed > 0
        if !detail.isHidden { detail.bytes = bytes.copied(0..<min(bytes.byteCount, FrameDetail.mostBytes)) }
        let range = info.offset..<info.offset + info.length
        detail.cuts = chunks[connection.connectionLeg]?[frame.direction].cuts(of: range) ?? []
        return detail
    }

    package func missing(_ gap: Gap, on connection: TracedConnection) {
        reported(connection)?.missing(gap, on: connection)
        events.missing(gap, on: connection)
        put()
    }

    package func dropped(_ gap: Gap, reason: String, on connection: TracedConnection) {
        events.dropped(gap, reason: reason, on: connection)
        put()
    }

    package func unframed(_ run: UnframedRun, from direction: Direction, on connection: TracedConnection) {
        chunks[connection.connectionLeg]?[direction].forget(before: run.offset + run.byteCount)
        reported(connection)?.unframed(run, from: direction, on: connection)
        events.unframed(run, from: direction, on: connection)
        put()
    }

    package func finding(_ finding: Finding) {
        report?.finding(finding)
        events.finding(finding)
        put()
    }

    package func closed(_ closing: Closing, counts: PerDirection<ByteCounts>, on connection: TracedConnection) {
        chunks[connection.connectionLeg] = nil
        // A recording of the proxy has a handshake that took no time: its acknowledgments are not a host's.
        if connection.leg != .out, let times = tcp?.times(of: connection.number), times.handshake?.nanoseconds != 0 {
            queue.put(PageItem(.tcp(connection: connection.number, times)))
        }
        reported(connection)?.closed(closing, counts: counts, on: connection)
        events.closed(closing, counts: counts, on: connection)
        put()
    }

    package func summary(_ summary: Summary) {
        if let report {
            report.summary(summary)
            let bytes = ReportJSON.bytes(report.report(source: names.source), tool: names.tool)
            queue.put(PageItem(.report(bytes)))
        }
        events.summary(summary)
        put()
    }
}
