import Analysis
import Framing
import Streams
import Trace

/// Makes the stored form of events: what goes into the files, before it is written. One thread uses it.
struct StoreWriter {
    /// An event with its record.
    struct Entry {
        var number: Int
        var event: TraceEvent
        var record: EventRecord
    }

    /// What is to be written, and where it begins.
    var data: [UInt8] = []
    var dataStart: Int64 = 0
    var number = 0
    var names = NameTable()
    /// The time of the last event that had one, for those that have none.
    private var lastTime: Int64 = 0
    private let output = LineOutput()
    private let lines: NDJSONWriter
    private var recent = RecentFrames()

    private final class LineOutput: ByteOutput {
        var bytes: [UInt8] = []
        func write(_ bytes: [UInt8]) { self.bytes += bytes }
    }

    init() { lines = NDJSONWriter(to: output) }

    /// Makes the stored form of an event.
    mutating func entry(of event: TraceEvent, _ detail: FrameDetail?) -> Entry {
        var record = EventRecord()
        fill(&record, from: event)
        output.bytes.removeAll(keepingCapacity: true)
        lines.write(event)
        lines.flush()
        let line = output.bytes
        var isSecret = detail?.isHidden ?? false
        if case .frame = event, !isSecret { isSecret = EventRow.hasSecrets(line) }
        if isSecret { record.flags |= EventRecord.Flag.secret }
        record.position = dataStart + Int64(data.count)
        record.lineLength = UInt32(line.count)
        data += line
        let row = EventRow.of(event, number: number, record, isSecret: isSecret)
        record.rowLength = UInt32(row.count)
        data += row
        if let detail {
            let start = data.count
            detail.append(to: &data)
            record.detailLength = UInt32(data.count - start)
        }
        if case .frame(let frame) = event, frame.leg != .out {
            recent.append(RecentFrames.Key(frame.connection, frame.from, frame.index), event: number)
        }
        defer { number += 1 }
        return Entry(number: number, event: event, record: record)
    }

    /// Forgets the last events, which could not be written: their numbers are given again.
    ///
    /// - Parameter first: the number of the first of them.
    mutating func discard(from first: Int) {
        number = first
        data.removeAll()
        recent = RecentFrames()
    }

    /// A round trip with its names as numbers.
    mutating func stored(_ trip: RoundTripMonitor.RoundTrip) -> StoredTrip {
        let (request, answer) = (names.number(of: trip.request), names.number(of: trip.answer))
        let pair = RoundTripTable.Pair(format: trip.format, request: request, answer: answer, from: trip.from)
        return StoredTrip(connection: trip.connection, pair: pair, time: trip.time.nanoseconds)
    }

    /// The event of a frame of not long ago that one side sent; nil if it is not known any more.
    func event(of connection: Int, _ from: Direction, index: Int) -> Int? {
        recent[RecentFrames.Key(connection, from, index)]
    }

    private mutating func fill(_ record: inout EventRecord, from event: TraceEvent) {
        if let time = event.time?.nanoseconds { lastTime = time }
        record.time = event.time?.nanoseconds ?? lastTime
        record.connection = UInt32(clamping: event.connection ?? 0)
        record.rawLeg = EventRecord.leg(event.leg)
        switch event {
        case .trace: record.rawKind = EventRecord.Kind.trace.rawValue
        case .opened: record.rawKind = EventRecord.Kind.opened.rawValue
        case .tls: record.rawKind = EventRecord.Kind.tls.rawValue
        case .format: record.rawKind = EventRecord.Kind.format.rawValue
        case .frame(let frame):
            record.rawKind = EventRecord.Kind.frame.rawValue
            record.rawSide = EventRecord.side(frame.from)
            record.index = UInt32(clamping: frame.index)
            record.length = UInt32(clamping: frame.length)
            record.name = names.number(of: frame.type)
            if frame.isHeartbeat { record.flags |= EventRecord.Flag.heartbeat }
        case .missing(let run): fill(&record, .missing, from: run)
        case .unframed(let run): fill(&record, .unframed, from: run)
        case .dropped(let run): fill(&record, .dropped, from: run)
        case .finding(let finding):
            record.rawKind = EventRecord.Kind.finding.rawValue
            record.rawSide = EventRecord.side(finding.from)
            record.name = names.number(of: finding.kind)
        case .action(let action):
            record.rawKind = EventRecord.Kind.action.rawValue
            record.rawSide = EventRecord.side(action.report.direction)
            record.name = names.number(of: action.report.action)
        case .closed(let closed):
            record.rawKind = EventRecord.Kind.closed.rawValue
            record.rawSide = EventRecord.side(closed.by)
            record.name = names.number(of: closed.reason)
        case .summary: record.rawKind = EventRecord.Kind.summary.rawValue
        }
    }

    private func fill(_ record: inout EventRecord, _ kind: EventRecord.Kind, from run: RunEvent) {
        record.rawKind = kind.rawValue
        record.rawSide = EventRecord.side(run.from)
        record.length = UInt32(clamping: run.length)
    }
}

/// Which events the last frames are, so that requests and answers are found.
struct RecentFrames {
    struct Key: Hashable {
        private var connection: Int32
        private var index: UInt32
        private var side: UInt8

        init(_ connection: Int, _ from: Direction, _ index: Int) {
            (self.connection, self.index) = (Int32(clamping: connection), UInt32(clamping: index))
            side = from.rawValue
        }
    }

    private var events: [Key: Int] = [:]
    private var ring: [Key] = []
    private var next = 0

    /// How many are known.
    static let most = 65_536

    mutating func append(_ key: Key, event: Int) {
        events[key] = event
        if ring.count < Self.most {
            ring.append(key)
        } else {
            // A connection's number may be used again after a restart: then the key stands for the newer one.
            if let old = events[ring[next]], old <= event - Self.most { events[ring[next]] = nil }
            ring[next] = key
            next = (next + 1) % Self.most
        }
    }

    subscript(key: Key) -> Int? { events[key] }
}
