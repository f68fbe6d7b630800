import Analysis
import Framing
import Platform
import Streams
import Trace

/// What the store has in memory. Everything in it is bounded; what is not is in files.
struct StoreState: Sendable {
    var source = ""
    var tool = ""
    /// How many events there are, and how many of each sort.
    var events = 0
    var frames = 0
    var findings = 0
    var opened = 0
    /// Events that did not fit the queue, or the disk.
    var missed = 0
    var earliest: Int64?
    var latest: Int64?
    var isFinished = false
    /// What could not be read, in words.
    private(set) var complaints: [String] = []
    /// The summary's event.
    var summary: Int?
    /// The names of types, findings and actions, by their numbers.
    var names = [""]
    /// The connections in order of opening, and their places by number.
    var connections: [ConnectionState] = []
    var places: [Int: Int] = [:]
    /// Where the file of lists ends.
    var listEnd: Int64 = 0
    /// The events that are frames that both sides sent.
    var frameNumbers = NumberList()
    var groups = FindingGroups()
    var roundTrips = RoundTripTable(most: 256)
    /// TCP's round trips of all connections that were timed.
    var tcp: TCPTimes?
    /// The report as JSON, if it was made.
    var report: [UInt8]?
    var seen = SeenNames()
    var held = HeldFrames()
    /// How many frames there are of each type, by the type's number.
    var types = PerDirection<[UInt32: Int]>(fromClient: [:], fromServer: [:])

    /// At most how many connections are listed; more are counted, and so are their events.
    static let mostConnections = 65_536

    /// Whether connections that come now are not listed.
    var isFull: Bool { connections.count >= Self.mostConnections }

    /// The connection of a number; nil if it is not listed.
    func connection(_ number: Int) -> ConnectionState? { places[number].map { connections[$0] } }

    /// The name of a number; nil for that of nothing.
    func name(_ number: UInt32) -> String? {
        number > 0 && Int(number) < names.count ? names[Int(number)] : nil
    }

    /// At most how many complaints are kept, and how many characters of each.
    private static let most = (complaints: 20, characters: 1_000)

    /// Takes a complaint about what could not be read.
    mutating func complain(_ complaint: String) {
        guard complaints.count < Self.most.complaints else { return }
        complaints.append(String(complaint.prefix(Self.most.characters)))
    }

    /// Takes an event that is stored.
    mutating func take(_ event: TraceEvent, _ record: EventRecord, number: Int, lists: TemporaryFile) {
        events = number + 1
        if event.time != nil {
            earliest = min(earliest ?? record.time, record.time)
            latest = max(latest ?? record.time, record.time)
        }
        switch event {
        case .trace(let start): (source, tool, isFinished) = (start.source, start.tool, false)
        case .opened(let event) where event.leg != .out: opened += 1
        case .frame(let frame) where frame.leg != .out: take(frame, record, number)
        case .finding(let finding):
            findings.add(finding.occurrences)
            groups.take(finding, number: number)
        case .summary: (summary, isFinished) = (number, true)
        default: break
        }
        held.take(event)
        guard let connection = event.connection, let place = place(of: connection, at: record.time) else { return }
        connections[place].take(event, record, number: number)
        connections[place].list.append(ListEntry(record, event: UInt32(number)), to: lists, &listEnd)
    }

    private mutating func take(_ frame: FrameEvent, _ record: EventRecord, _ number: Int) {
        frames += 1
        // Without room on the disk, the list ends here; the events themselves do, too.
        try? frameNumbers.append(UInt32(number))
        let known = types[frame.from]
        if known[record.name] != nil || known.count < SeenNames.most.names {
            types[frame.from][record.name, default: 0] += 1
        }
        if let place = places[frame.connection], let format = connections[place].format?.format {
            seen.take(frame, of: format, type: record.name)
        }
    }

    /// The place of a connection. One whose beginning is not known begins here.
    private mutating func place(of number: Int, at time: Int64) -> Int? {
        if let known = places[number] { return known }
        guard !isFull else { return nil }
        places[number] = connections.count
        connections.append(ConnectionState(number, at: time))
        return connections.count - 1
    }
}
