import Framing
import Streams
import Trace

/// A time without heartbeats.
struct HeartbeatGap: Sendable {
    var start: Int64
    var end: Int64?
    var from: Direction
    var blame: String?
    /// The finding that reported it, and the one that reported its end.
    var event: Int
    var endEvent: Int?
    var message: String
    var severity: String
}

/// The times without heartbeats of a connection: what `source/marks.js` makes of findings, too.
struct HeartbeatGaps: Sendable {
    private(set) var all: [HeartbeatGap] = []
    /// The place of each side's last gap, until heartbeats resume or stop.
    private var open = PerDirection<Int?>(fromClient: nil, fromServer: nil)

    /// At most how many of a connection are remembered, and how long their messages are.
    static let most = (gaps: 32, message: 256)

    /// Takes a finding.
    mutating func take(_ finding: FindingEvent, event: Int) {
        switch finding.kind {
        case "heartbeat-gap", "heartbeat-never":
            guard all.count < Self.most.gaps else {
                // It cannot be remembered, and neither can its end.
                open[finding.from] = nil
                return
            }
            open[finding.from] = all.count
            let silence = Self.number(finding, "silentFor") ?? Self.number(finding, "expectedEvery") ?? 0
            all.append(
                HeartbeatGap(
                    start: (finding.time + .seconds(-silence)).nanoseconds, from: finding.from, event: event,
                    message: Self.message(of: finding), severity: String(finding.severity.prefix(16))))
        case "heartbeat-resumed", "heartbeat-stopped":
            guard let place = open[finding.from] else { return }
            open[finding.from] = nil
            (all[place].end, all[place].endEvent) = (finding.time.nanoseconds, event)
            all[place].blame = finding.data["blame"]?.string.map { String($0.prefix(64)) } ?? "unknown"
            all[place].message = Self.message(of: finding)
        default: return
        }
    }

    /// The connection ended, and with it the gaps that had not.
    mutating func close(at time: Int64) {
        for place in all.indices where all[place].end == nil { all[place].end = time }
    }

    /// Whether a finding is shown as a gap, and needs no mark of its own.
    func has(_ event: Int) -> Bool { all.contains { $0.event == event || $0.endEvent == event } }

    private static func number(_ finding: FindingEvent, _ name: String) -> Double? {
        finding.data[name].flatMap { $0.plainText }.flatMap { Double($0) }
    }

    private static func message(of finding: FindingEvent) -> String {
        String(finding.message.prefix(Self.most.message))
    }
}
