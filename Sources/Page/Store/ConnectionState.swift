import Framing
import Streams
import Trace

/// What the store knows of a connection without reading its events.
struct ConnectionState: Sendable {
    /// What one side sent, as far as it was seen.
    struct Side: Sendable {
        var frames = 0
        var bytes = 0
        var heartbeats = 0
        var unframed = 0
        var missing = 0
        /// How many frames there are of each type, by the type's number.
        var types: [UInt32: Int] = [:]

        /// The largest number of types that are counted separately.
        static let mostTypes = 256
    }

    /// A time without heartbeats.
    struct HeartbeatGap: Sendable {
        var start: Int64
        var end: Int64?
        var from: Direction
        var blame: String?
        var event: Int
        var message: String
        var severity: String

        /// At most how many of a connection are remembered.
        static let most = 256
    }

    var number: Int
    var opened: Int64
    /// The time of its last event.
    var latest: Int64
    var client = "unknown"
    var server = "unknown"
    var handshake = true
    var clientGuessed = false
    var hasLegs = false
    var format: FormatEvent?
    var tls: TLSEvent?
    var closed: ClosedEvent?
    var sides = PerDirection(fromClient: Side(), fromServer: Side())
    /// How many findings there are of each severity.
    var findings: [String: Int] = [:]
    var gaps: [HeartbeatGap] = []
    var rates: Rates
    var list = EventList()
    var roundTrips = RoundTripTable(most: 8)
    var tcp: TCPTimes?

    init(_ number: Int, at time: Int64) {
        (self.number, opened, latest, rates) = (number, time, time, Rates(start: time))
    }

    /// How many frames both sides sent.
    var frames: Int { sides.fromClient.frames + sides.fromServer.frames }
    /// How many bytes.
    var bytes: Int { sides.fromClient.bytes + sides.fromServer.bytes }
    /// How many findings there are.
    var findingCount: Int { findings.values.reduce(0, +) }
    /// When it ended, or was last heard of.
    var end: Int64 { closed?.time.nanoseconds ?? latest }

    /// Takes an event of what both sides sent. What the proxy passed on is only in the list.
    mutating func take(_ event: TraceEvent, _ record: EventRecord, number: Int) {
        latest = max(latest, record.time)
        if record.leg == .out {
            hasLegs = true
            return
        }
        switch event {
        case .opened(let event):
            (opened, rates) = (record.time, Rates(start: record.time))
            (client, server) = (event.client, event.server)
            (handshake, clientGuessed) = (event.handshake, event.clientGuessed)
            hasLegs = hasLegs || event.leg != nil
        case .tls(let event): tls = event
        case .format(let event): format = event
        case .frame(let frame): take(frame, record)
        case .missing(let run):
            sides[run.from].missing += run.length
            sides[run.from].bytes += run.length
        case .unframed(let run):
            sides[run.from].unframed += run.length
            sides[run.from].bytes += run.length
        case .finding(let finding): take(finding, number)
        case .closed(let event):
            closed = event
            // The counts of the decoder have what lines do not: padding, and what the page's queue has lost.
            for direction in Direction.allCases {
                let counts = event.counts[direction]
                (sides[direction].bytes, sides[direction].unframed) = (counts.bytes, counts.unframed)
                sides[direction].missing = counts.missing
            }
        case .trace, .dropped, .action, .summary: break
        }
    }

    private mutating func take(_ frame: FrameEvent, _ record: EventRecord) {
        sides[frame.from].frames += 1
        sides[frame.from].bytes += frame.length
        if frame.isHeartbeat { sides[frame.from].heartbeats += 1 }
        rates.add(frame.from == .fromClient ? 0 : 1, at: record.time)
        let types = sides[frame.from].types
        if record.name != 0, types[record.name] != nil || types.count < Side.mostTypes {
            sides[frame.from].types[record.name, default: 0] += 1
        }
    }

    private mutating func take(_ finding: FindingEvent, _ number: Int) {
        findings[finding.severity, default: 0] += 1
        switch finding.kind {
        case "heartbeat-gap" where gaps.count < HeartbeatGap.most:
            let silence = finding.data["silentFor"].flatMap { $0.plainText }.flatMap { Double($0) } ?? 0
            gaps.append(
                HeartbeatGap(
                    start: (finding.time + .seconds(-silence)).nanoseconds, from: finding.from, event: number,
                    message: finding.message, severity: finding.severity))
        case "heartbeat-resumed", "heartbeat-stopped":
            guard let last = gaps.lastIndex(where: { $0.from == finding.from && $0.end == nil }) else { return }
            gaps[last].end = finding.time.nanoseconds
            gaps[last].blame = finding.data["blame"]?.string
        default: return
        }
    }
}
