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

    /// At most how many characters of an address, of a name and of the evidence for a format are kept: a trace's lines may have any.
    private static let most = (address: 128, name: 256, evidence: 1_024)

    var number: Int
    var opened: Int64
    /// The time of its last event.
    var latest: Int64
    /// Whether one of its events had a time.
    private var isTimed = false
    var client = "unknown"
    var server = "unknown"
    /// The addresses in lower case, for searches.
    private(set) var addresses = "unknown\nunknown"
    var handshake = true
    var clientGuessed = false
    var hasLegs = false
    var format: FormatEvent?
    /// The formats themselves; nil where only the name is known.
    private var formats: (sent: SharedFormat?, passedOn: SharedFormat?) = (nil, nil)
    var tls: TLSEvent?
    var closed: ClosedEvent?
    var sides = PerDirection(fromClient: Side(), fromServer: Side())
    /// How many findings there are of each severity.
    var findings: [String: Int] = [:]
    var gaps = HeartbeatGaps()
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
    var bytes: Int {
        var sum = sides.fromClient.bytes
        sum.add(sides.fromServer.bytes)
        return sum
    }
    /// How many findings there are.
    var findingCount: Int { findings.values.reduce(into: 0) { $0.add($1) } }
    /// When it ended, or was last heard of.
    var end: Int64 { closed?.time.nanoseconds ?? latest }

    /// Whether one of its formats has secrets, or may have some: of one that the queue has lost, only the name is known.
    var mayHaveSecrets: Bool {
        func hasSecrets(_ format: SharedFormat) -> Bool { !format.format.secrets.isEmpty }
        return (formats.sent.map(hasSecrets) ?? (format != nil)) || (formats.passedOn.map(hasSecrets) ?? false)
    }

    /// The format of a leg. What was passed on may have been recognized as another one.
    func sharedFormat(of leg: Leg?) -> SharedFormat? { leg == .out ? formats.passedOn : formats.sent }

    /// Takes the format of a leg.
    mutating func take(_ format: SharedFormat, of leg: Leg?) {
        if leg == .out { formats.passedOn = format } else { formats.sent = format }
    }

    /// Takes an event of what both sides sent. What the proxy passed on is only in the list.
    mutating func take(_ event: TraceEvent, _ record: EventRecord, number: Int) {
        if event.time != nil {
            // An event without a time, such as the format, may be the first one.
            if !isTimed {
                (opened, latest, rates, isTimed) = (record.time, record.time, Rates(start: record.time), true)
            }
            latest = max(latest, record.time)
        }
        if record.leg == .out {
            hasLegs = true
            return
        }
        switch event {
        case .opened(let event):
            (opened, rates) = (record.time, Rates(start: record.time))
            (client, server) = (
                String(event.client.prefix(Self.most.address)), String(event.server.prefix(Self.most.address))
            )
            addresses = "\(client)\n\(server)".lowercased()
            (handshake, clientGuessed) = (event.handshake, event.clientGuessed)
            hasLegs = hasLegs || event.leg != nil
        case .tls(let event): tls = event
        case .format(var event):
            event.format = String(event.format.prefix(Self.most.name))
            event.evidence = String(event.evidence.prefix(Self.most.evidence))
            format = event
        case .frame(let frame): take(frame, record)
        case .missing(let run):
            sides[run.from].missing.add(run.length)
            sides[run.from].bytes.add(run.length)
        case .unframed(let run):
            sides[run.from].unframed.add(run.length)
            sides[run.from].bytes.add(run.length)
        case .closed(let event):
            closed = event
            gaps.close(at: event.time.nanoseconds)
            // The counts of the decoder have what lines do not: padding, and what the page's queue has lost.
            for direction in Direction.allCases {
                let counts = event.counts[direction]
                (sides[direction].bytes, sides[direction].unframed) = (counts.bytes, counts.unframed)
                sides[direction].missing = counts.missing
            }
        case .finding(let finding): take(finding, number)
        case .trace, .dropped, .action, .summary: break
        }
    }

    private mutating func take(_ frame: FrameEvent, _ record: EventRecord) {
        sides[frame.from].frames += 1
        sides[frame.from].bytes.add(frame.length)
        if frame.isHeartbeat { sides[frame.from].heartbeats += 1 }
        rates.add(frame.from == .fromClient ? 0 : 1, at: record.time)
        let types = sides[frame.from].types
        if record.name != 0, types[record.name] != nil || types.count < Side.mostTypes {
            sides[frame.from].types[record.name, default: 0] += 1
        }
    }

    private mutating func take(_ finding: FindingEvent, _ number: Int) {
        // There are three severities; a line may have any text.
        if findings[finding.severity] != nil || findings.count < 8 {
            findings[finding.severity, default: 0].add(finding.occurrences)
        }
        gaps.take(finding, event: number)
    }
}

extension Int {
    /// Adds a number; a sum that is too large stays the largest one.
    mutating func add(_ other: Int) {
        let (sum, overflow) = addingReportingOverflow(other)
        self = overflow ? .max : sum
    }
}
