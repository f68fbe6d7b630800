import Framing
import Streams
import Trace

/// The text shared by all forms of a report.
enum ReportWords {
    /// A time of round trips: `83 µs`, `12.3 ms`, `1.23 s`.
    static func short(_ interval: Interval) -> String {
        let micros = Double(interval.nanoseconds) / 1_000
        if micros < 1_000 { return "\(Int(micros.rounded())) µs" }
        if micros < 999_950 { return "\(decimal(micros / 1_000, 10)) ms" }
        return "\(decimal(micros / 1_000_000, 100)) s"
    }

    private static func decimal(_ value: Double, _ parts: Int) -> String {
        let rounded = Int((value * Double(parts)).rounded())
        let digits = String(rounded % parts)
        let zeros = String(repeating: "0", count: String(parts).utf8.count - 1 - digits.utf8.count)
        return "\(rounded / parts).\(zeros)\(digits)"
    }

    /// `08:59:47.568`
    static func clock(_ time: Timestamp) -> String { String(time.rfc3339.dropFirst(11).prefix(12)) }

    /// The same, after the date if it is another one than that of `other`: `2026-11-22 00:00:05.200`.
    static func clock(_ time: Timestamp, besides other: Timestamp) -> String {
        date(time) == date(other) ? clock(time) : "\(date(time)) \(clock(time))"
    }

    /// `2026-11-21`
    static func date(_ time: Timestamp) -> String { String(time.rfc3339.prefix(10)) }

    /// `127.0.0.1:40330 → 127.0.0.1:8088`
    static func ends(_ connection: ConnectionReport) -> String {
        "\(connection.opening.client) → \(connection.opening.server)"
    }

    /// `2026-11-21 08:59:47.568 for 5.2 s, fin by client`
    static func life(_ connection: ConnectionReport) -> String {
        let opened = connection.opening.time
        var text = "\(date(opened)) \(clock(opened)) for \((connection.end - opened).text(digits: true))"
        if let closing = connection.closing {
            text += ", \(closing.reason.rawValue)"
            if let by = closing.by { text += " by \(by.sender)" }
        }
        return text
    }

    /// `34 frames (2 split), 5 heartbeats, 2.3 kB`
    static func amount(_ connection: ConnectionReport, _ direction: Direction) -> String {
        let counts = connection.counts[direction]
        let split = connection.cuts[direction].frames.dropFirst().reduce(0, +)
        var parts = [
            Quantities.counted(counts.frames, "frame") + (split > 0 ? " (\(Quantities.grouped(split)) split)" : "")
        ]
        if connection.heartbeats[direction] > 0 {
            parts.append(Quantities.counted(connection.heartbeats[direction], "heartbeat"))
        }
        parts.append(Quantities.size(counts.bytes))
        if counts.missing > 0 { parts.append("\(Quantities.size(counts.missing)) missing") }
        if counts.unframed > 0 { parts.append("\(Quantities.size(counts.unframed)) unframed") }
        return parts.joined(separator: ", ")
    }

    /// The heads of the table of round trips.
    static let roundTripHeads =
        ["format", "request → answer", "count"] + timeHeads(RoundTripTimes.limits)

    /// A row of it.
    static func cells(_ row: RoundTripRow) -> [String] {
        let times = row.times
        let arrow = row.from == .fromClient ? "→" : "←"
        return [row.format, "\(arrow) \(row.request) → \(row.answer)", Quantities.grouped(times.count)]
            + self.times(times)
    }

    /// The outcome of messages and broadcasts: tables with their titles.
    static func deliveryTables(_ report: Report) -> [(title: String, rows: [[String]])] {
        var tables: [(title: String, rows: [[String]])] = []
        if !report.deliveries.isEmpty {
            let heads = ["format", "passed on", "sent", "delivered", "missing", "twice", "out of order", "absent"]
            let rows = report.deliveries.map { format, outcome in
                [format, ""]
                    + [
                        outcome.sent, outcome.delivered, outcome.missing, outcome.twice, outcome.outOfOrder,
                        outcome.absent,
                    ].map { Quantities.grouped($0) } + times(outcome.times)
            }
            tables.append(("Deliveries", [heads + timeHeads(RoundTripTimes.limits)] + rows))
        }
        if !report.broadcasts.isEmpty {
            let heads = ["format", "first to last receipt", "rounds", "incomplete"]
            let rows = report.broadcasts.flatMap { format, outcome in
                [("as seen", outcome.seen), ("by their stamps", outcome.stamped)].map { name, skew in
                    [format, name, Quantities.grouped(skew.count), Quantities.grouped(outcome.incomplete)] + times(skew)
                }
            }
            tables.append(("Broadcasts", [heads + timeHeads(BroadcastSkew.limits)] + rows))
        }
        return tables
    }

    private static func timeHeads(_ limits: [Int64]) -> [String] {
        ["min", "p50", "p90", "p99", "max"] + limits.map { "≤\($0) ms" } + [">\(limits.last ?? 0) ms"]
    }

    private static func times(_ times: RoundTripTimes) -> [String] {
        [times.minimum, times.percentile(50), times.percentile(90), times.percentile(99), times.maximum].map(short)
            + times.buckets.map { Quantities.grouped($0) }
    }

    /// TCP's own round trips of a connection, `handshake 0.1 ms; acknowledged by the server after …`; nil if there are none.
    static func tcp(_ connection: ConnectionReport) -> String? {
        guard let tcp = connection.tcp else { return nil }
        var parts: [String] = []
        if let handshake = tcp.handshake { parts.append("handshake \(short(handshake))") }
        for direction in Direction.allCases {
            let times = tcp.acknowledgments[direction]
            guard times.count > 0 else { continue }
            parts.append(
                "\(direction.opposite.sender) acknowledges after \(short(times.percentile(50))) (p50), \(short(times.percentile(99))) (p99)"
            )
        }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    /// How the frames of a direction were segmented: `in 1 segment 30, in 2 3; segments with 2 frames 4`; nil if none was split.
    static func cuts(_ connection: ConnectionReport, _ direction: Direction) -> String? {
        let cuts = connection.cuts[direction]
        func list(_ counts: [Int]) -> String {
            counts.enumerated().filter { $1 > 0 }.map { index, count in
                let number = index + 1 == counts.count ? "\(index + 1) or more" : "\(index + 1)"
                return "\(number): \(Quantities.grouped(count))"
            }.joined(separator: ", ")
        }
        guard cuts.frames.dropFirst().contains(where: { $0 > 0 }) || cuts.chunks.dropFirst().contains(where: { $0 > 0 })
        else { return nil }
        return "frames by segments, \(list(cuts.frames)); segments by frames, \(list(cuts.chunks))"
    }
}
