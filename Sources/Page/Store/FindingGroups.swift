import Streams
import Trace

/// The findings by kind.
struct FindingGroups: Sendable {
    struct Group: Sendable {
        var kind: String
        /// The highest one.
        var severity: String
        var count = 0
        /// The first event.
        var first: Int
        var firstTime: Int64
        var lastTime: Int64
        var example: String
        /// The first connections.
        var connections: [Int] = []
    }

    /// The groups, in the order in which they began.
    private(set) var groups: [Group] = []
    private var places: [String: Int] = [:]

    /// At most how many kinds there are, and how many connections each names.
    private static let most = (kinds: 256, connections: 20)

    /// The place of a severity in an order that begins with the highest one.
    static func rank(_ severity: String) -> Int {
        switch severity {
        case "error": 0
        case "warning": 1
        default: 2
        }
    }

    /// Counts a finding.
    mutating func take(_ finding: FindingEvent, number: Int) {
        let time = finding.time.nanoseconds
        if places[finding.kind] == nil {
            guard groups.count < Self.most.kinds else { return }
            places[finding.kind] = groups.count
            groups.append(
                Group(
                    kind: finding.kind, severity: finding.severity, first: number, firstTime: time, lastTime: time,
                    example: String(finding.message.prefix(1_024))))
        }
        guard let place = places[finding.kind] else { return }
        groups[place].count.add(finding.occurrences)
        if Self.rank(finding.severity) < Self.rank(groups[place].severity) { groups[place].severity = finding.severity }
        groups[place].firstTime = min(groups[place].firstTime, time)
        groups[place].lastTime = max(groups[place].lastTime, time)
        if groups[place].connections.count < Self.most.connections,
            !groups[place].connections.contains(finding.connection)
        {
            groups[place].connections.append(finding.connection)
        }
    }
}
