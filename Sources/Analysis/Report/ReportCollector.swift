import Framing
import Histogram
import Streams
import Trace

/// Collects the content of a report, in bounded memory: everything about the first connections, and counts for the others.
package final class ReportCollector: TraceSink {
    private var connections: [Int: ConnectionReport] = [:]
    private var unlisted = 0
    private var pairs: [Pair: RoundTripTimes] = [:]
    private var ownPairs: [Int: [Pair: RoundTripTimes]] = [:]
    private var findings: [Finding.Severity: [Finding]] = [:]
    private var findingCount = 0
    private var summary = Summary()
    private let deliveries = Deliveries()
    private let broadcasts = BroadcastSkew()
    private let tcp = TCPRoundTrips(most: Report.mostConnections)

    private struct Pair: Hashable {
        var format: String
        var request: String
        var answer: String
        var from: Direction
    }

    /// For how many pairs of types times are kept, in total and per connection.
    private static let most = (all: 256, own: 8)

    /// Has seen nothing.
    package init() {}

    /// The analyses that report to it what a sink does not see; in place of the usual ones of their kinds.
    ///
    /// - Parameter also: takes each round trip, too.
    package func analyses(
        also: @escaping (RoundTripMonitor.RoundTrip) -> Void = { _ in }
    ) -> [any Analysis] {
        measurements(also: also) + [LearnedHeartbeats()]
    }

    /// The same without those that only look for something.
    package func measurements(also: @escaping (RoundTripMonitor.RoundTrip) -> Void) -> [any Analysis] {
        [
            RoundTripMonitor { [unowned self] in
                take($0)
                also($0)
            },
            tcp, deliveries, broadcasts,
        ]
    }

    private func take(_ trip: RoundTripMonitor.RoundTrip) {
        let pair = Pair(
            format: trip.format, request: trip.request ?? "-", answer: trip.answer ?? "-", from: trip.from)
        if pairs[pair] != nil || pairs.count < Self.most.all {
            pairs[pair, default: RoundTripTimes(digits: .three)].add(trip.time)
        }
        guard connections[trip.connection] != nil else { return }
        let own = ownPairs[trip.connection] ?? [:]
        if own[pair] != nil || own.count < Self.most.own {
            ownPairs[trip.connection, default: [:]][pair, default: RoundTripTimes()].add(trip.time)
        }
    }

    // MARK: The trace

    /// Begins a connection's part, for the first of them.
    package func opened(_ connection: TracedConnection) {
        if connections.count < Report.mostConnections {
            connections[connection.number] = ConnectionReport(connection.opening)
        } else {
            unlisted += 1
        }
    }

    /// Notes the format.
    package func recognised(_ connection: TracedConnection) {
        connections[connection.number]?.format = connection.format?.name
    }

    /// It counts frames, without examining them.
    package var bodyLimit: Int { 0 }

    /// Counts a frame.
    package func frame(_ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection) {
        guard let report = connections[connection.number] else { return }
        let (direction, info) = (frame.direction, frame.info)
        if frame.isHeartbeat { report.heartbeats[direction] += 1 }
        let name = connection.kinds(of: direction)?.format.type(of: bytes, frame.shape) ?? "-"
        if report.types[direction][name] != nil || report.types[direction].count < ConnectionReport.most {
            report.types[direction][name, default: 0] += 1
        }
        let most = report.cuts[direction].frames.count
        report.cuts[direction].frames[min(info.segments, most) - 1] += 1
        if info.position == info.companions || info.segments > 1 {
            report.cuts[direction].chunks[min(max(1, info.companions), most) - 1] += 1
        }
        report.timeLine.add(direction, at: info.time) { cell in
            if frame.isHeartbeat { cell.heartbeats += 1 } else { cell.frames += 1 }
            cell.bytes += info.length
        }
    }

    /// Notes damage.
    package func missing(_ gap: Gap, on connection: TracedConnection) {
        connections[connection.number]?.timeLine.add(gap.direction, at: gap.time) { $0.isDamaged = true }
    }

    /// Notes damage.
    package func unframed(_ run: UnframedRun, from direction: Direction, on connection: TracedConnection) {
        connections[connection.number]?.timeLine.add(direction, at: run.time) { $0.isDamaged = true }
    }

    /// Keeps a finding, and its data about gaps.
    package func finding(_ finding: Finding) {
        findingCount += 1
        if findings[finding.severity, default: []].count < Report.mostFindings {
            findings[finding.severity, default: []].append(finding)
        }
        guard let report = connections[finding.connection] else { return }
        report.findings += finding.occurrences
        switch finding.kind {
        case .heartbeatGap where report.gaps.count < ConnectionReport.most:
            let silence = Interval.seconds(-(finding.data.number("silentFor") ?? 0))
            report.gaps.append(ConnectionReport.Gap(start: finding.time + silence, from: finding.from))
        case .heartbeatResumed, .heartbeatStopped:
            // Several may be open: of both sides, and of several types that were learned.
            let start = finding.time + Interval.seconds(-(finding.data.number("silentFor") ?? 0))
            let open = report.gaps.indices.filter { report.gaps[$0].end == nil && report.gaps[$0].from == finding.from }
            let distance = { (index: Int) in (report.gaps[index].start - start).nanoseconds.magnitude }
            guard let ended = open.min(by: { distance($0) < distance($1) }) else { return }
            report.gaps[ended].end = finding.time
            report.gaps[ended].blame = finding.data.text("blame") ?? ""
            report.gaps[ended].reason = finding.data.text("reason") ?? ""
        default: return
        }
    }

    /// Ends a connection's part.
    package func closed(_ closing: Closing, counts: PerDirection<ByteCounts>, on connection: TracedConnection) {
        guard let report = connections[connection.number] else { return }
        (report.closing, report.counts) = (closing, counts)
        // A proxy recording has a handshake that took no time: its acknowledgments are not a host's.
        report.tcp = tcp.times(of: connection.number).flatMap { $0.handshake?.nanoseconds == 0 ? nil : $0 }
    }

    /// Keeps the counts.
    package func summary(_ summary: Summary) { self.summary = summary }

    // MARK: The report

    /// The report, once the trace is over.
    package func report(source: String) -> Report {
        var report = Report()
        report.source = source
        report.summary = summary
        report.unlisted = unlisted
        report.connections = connections.values.sorted { $0.opening.number < $1.opening.number }
        for connection in report.connections {
            connection.roundTrips = Self.rows(ownPairs[connection.opening.number] ?? [:])
        }
        report.roundTrips = Self.rows(pairs)
        report.deliveries = deliveries.results()
        report.broadcasts = broadcasts.results()
        let byWeight = [Finding.Severity.error, .warning, .info].flatMap { severity in
            (findings[severity] ?? []).sorted { ($0.time, $0.connection) < ($1.time, $1.connection) }
        }
        report.findings = Array(byWeight.prefix(Report.mostFindings))
        report.moreFindings = findingCount - report.findings.count
        return report
    }

    private static func rows(_ pairs: [Pair: RoundTripTimes]) -> [RoundTripRow] {
        pairs.map { pair, times in
            RoundTripRow(
                format: pair.format, request: pair.request, answer: pair.answer, from: pair.from, times: times)
        }.sorted {
            ($0.format, $1.times.count, $0.request, $0.answer, $0.from.rawValue)
                < ($1.format, $0.times.count, $1.request, $1.answer, $1.from.rawValue)
        }
    }
}

extension [Field] {
    /// A number by its name.
    func number(_ name: String) -> Double? {
        switch first(where: { $0.name == name })?.value {
        case .number(let value): value
        case .integer(let value): Double(value)
        default: nil
        }
    }

    /// A text by its name.
    func text(_ name: String) -> String? {
        if case .text(let value) = first(where: { $0.name == name })?.value { value } else { nil }
    }
}
