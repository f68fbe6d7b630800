import Framing

/// The human-readable summary: a line for each format.
package enum SummaryText {
    package static func lines(_ summary: Summary) -> [String] {
        let named = summary.formats.sorted { left, right in
            // Connections without a format come last.
            (left.key == nil ? 1 : 0, left.key ?? "") < (right.key == nil ? 1 : 0, right.key ?? "")
        }
        var lines = named.map { name, totals in "\(name ?? "not recognized"): \(line(totals))" }
        if lines.isEmpty { lines.append("no TCP connections") }
        if let out = summary.passedOn { lines.append("passed on: " + line(out)) }
        if summary.dropped > 0 {
            lines.append("\(Quantities.counted(summary.dropped, "byte")) forwarded but not recorded")
        }
        if summary.unrecorded > 0 {
            let connections = Quantities.counted(summary.unrecorded, "connection")
            lines.append("\(connections) came and went unrecorded")
        }
        if let skipped = Self.skipped(summary.skipped) { lines.append(skipped) }
        return lines
    }

    /// How many packets were skipped, by kind; nil if none were.
    package static func skipped(_ kinds: [(kind: String, packets: Int)]) -> String? {
        guard !kinds.isEmpty else { return nil }
        let counts = kinds.map { "\(Quantities.grouped($0.packets)) \($0.kind)" }
        return "packets skipped: " + counts.joined(separator: ", ")
    }

    private static func line(_ totals: Summary.Totals) -> String {
        var parts = [Quantities.counted(totals.connections, "connection")]
        var cut: [String] = []
        if totals.split > 0 { cut.append("\(Quantities.grouped(totals.split)) split") }
        if totals.merged > 0 { cut.append("\(Quantities.grouped(totals.merged)) merged") }
        let frames = Quantities.counted(totals.bytes.frames, "frame")
        parts.append(cut.isEmpty ? frames : "\(frames) (\(cut.joined(separator: ", ")))")
        if totals.heartbeats > 0 { parts.append(Quantities.counted(totals.heartbeats, "heartbeat")) }
        for (kind, count) in totals.findings.sorted(by: { $0.key.rawValue < $1.key.rawValue })
        where kind != .heartbeatResumed {  // each ends a gap, which is counted
            parts.append(Quantities.counted(count, kind.noun))
        }
        let missing = "\(Quantities.counted(totals.bytes.missing, "byte")) missing"
        return "\(parts.joined(separator: ", ")); \(missing), \(Quantities.grouped(totals.bytes.unframed)) unframed"
    }
}
