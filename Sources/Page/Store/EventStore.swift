import Analysis
import Framing
import Platform
import Streams
import Synchronization
import Trace

/// The events of a trace, for the page: in files, with an index, so that memory does not grow with them.
///
/// One thread adds events, any thread reads those that were published.
package final class EventStore: Sendable {
    /// Lines, rows and details, one event after the other.
    private let data: TemporaryFile
    /// A record for each event.
    private let index: TemporaryFile
    /// The blocks of the connections' lists.
    let lists: TemporaryFile
    private let writer = Mutex(StoreWriter())
    private let state = Mutex(StoreState())

    /// The most events. Their numbers have 32 bits.
    static let most = Int(UInt32.max) - 1

    /// An empty store.
    ///
    /// - Throws: a `CustomStringConvertible` if there is no room for files.
    package convenience init() throws {
        try self.init(data: TemporaryFile(), index: TemporaryFile(), lists: TemporaryFile())
    }

    /// An empty store in these files.
    init(data: TemporaryFile, index: TemporaryFile, lists: TemporaryFile) {
        (self.data, self.index, self.lists) = (data, index, lists)
    }

    // MARK: Adding

    /// Some of the input could not be read: the page says so.
    package func complain(_ complaint: String) { state.withLock { $0.complain(complaint) } }

    /// At most how many items are written, and published, at a time.
    private static let slice = 512

    /// Adds items.
    ///
    /// - Parameter lost: how many events were lost before they came here.
    package func take(_ items: [PageItem], lost: Int = 0) {
        if lost > 0 { state.withLock { $0.missed += lost } }
        var place = 0
        while place < items.count {
            let end = min(place + Self.slice, items.count)
            writer.withLock { write(items[place..<end], &$0) }
            place = end
        }
    }

    private func write(_ items: ArraySlice<PageItem>, _ writer: inout StoreWriter) {
        var entries: [StoreWriter.Entry] = []
        var (pairs, others): ([(request: Int, answer: Int)], [PageItem.Content]) = ([], [])
        var trips: [StoredTrip] = []
        let first = writer.number
        for item in items {
            switch item.content {
            case .event(let event):
                if writer.number < Self.most { entries.append(writer.entry(of: event, item.detail)) }
            case .trip(let trip):
                trips.append(writer.stored(trip))
                let answerer = trip.from.opposite
                if let request = writer.event(of: trip.connection, trip.from, index: trip.requestIndex),
                    let answer = writer.event(of: trip.connection, answerer, index: trip.answerIndex)
                {
                    pairs.append((request, answer))
                }
            case .format, .tcp, .report, .end: others.append(item.content)
            }
        }
        for pair in pairs { join(pair.request, pair.answer, first, &entries) }
        var records: [UInt8] = []
        records.reserveCapacity(entries.count * EventRecord.size)
        for entry in entries { entry.record.append(to: &records) }
        guard data.write(writer.data, at: writer.dataStart),
            index.write(records, at: Int64(first * EventRecord.size))
        else {
            // What was written of them is overwritten by the next ones.
            writer.discard(from: first)
            state.withLock { $0.missed += entries.count }
            return publish([], trips, others, writer.names)
        }
        writer.dataStart += Int64(writer.data.count)
        writer.data.empty(keeping: 1 << 20)
        publish(entries, trips, others, writer.names)
    }

    private func publish(
        _ entries: [StoreWriter.Entry], _ trips: [StoredTrip], _ others: [PageItem.Content], _ names: NameTable
    ) {
        state.withLock { state in
            if names.names.count > state.names.count { state.names = names.names }
            for entry in entries { state.take(entry.event, entry.record, number: entry.number, lists: lists) }
            for trip in trips {
                state.roundTrips.add(trip)
                if let place = state.places[trip.connection] { state.connections[place].roundTrips.add(trip) }
            }
            for other in others {
                switch other {
                case .format(let format, let leg):
                    if let place = state.places[leg.number] { state.connections[place].take(format, of: leg.leg) }
                case .tcp(let connection, let measured):
                    let times = TCPTimes(measured)
                    if state.tcp == nil { state.tcp = times } else { state.tcp?.add(times) }
                    if let place = state.places[connection] { state.connections[place].tcp = times }
                case .report(let report): state.report = report
                case .end: state.isFinished = true
                case .event, .trip: break
                }
            }
        }
    }

    /// Notes in both records that two frames are a pair. One that is in a pair already stays there.
    private func join(_ request: Int, _ answer: Int, _ first: Int, _ entries: inout [StoreWriter.Entry]) {
        for (event, other, flag) in [(request, answer, 0), (answer, request, EventRecord.Flag.answer)] {
            if event >= first {
                let place = event - first
                guard entries.indices.contains(place), entries[place].record.pair == 0 else { continue }
                entries[place].record.pair = UInt32(other + 1)
                entries[place].record.flags |= flag
            } else if var record = records(event..<event + 1).first, record.pair == 0 {
                record.pair = UInt32(other + 1)
                record.flags |= flag
                var bytes: [UInt8] = []
                record.append(to: &bytes)
                _ = index.write(bytes, at: Int64(event * EventRecord.size))
            }
        }
    }

    // MARK: Reading

    /// Reads what is in memory. It must not take long: nothing is added meanwhile.
    func read<Value: Sendable>(_ use: (borrowing StoreState) -> Value) -> Value { state.withLock { use($0) } }

    /// The format of a connection; nil if it is not known, or only its name is.
    ///
    /// - Parameter leg: of which leg; nil for that of what both sides sent.
    package func format(of connection: Int, _ leg: Leg? = nil) -> Format? {
        read { state in state.places[connection].flatMap { state.connections[$0].sharedFormat(of: leg) } }?.format
    }

    /// The addresses of a connection's ends, as far as they are known.
    func ends(of connection: Int) -> (client: String, server: String) {
        let known = read { $0.connection(connection) }
        return (client: known?.client ?? "unknown", server: known?.server ?? "unknown")
    }

    /// How many events there are.
    var count: Int { read { $0.events } }

    /// The records of events; those that are not published do not count.
    func records(_ events: Range<Int>) -> [EventRecord] {
        EventRecord.all(
            in: index.read(events.count * EventRecord.size, at: Int64(events.lowerBound * EventRecord.size)))
    }

    /// The records of some events, in their order.
    func records(of events: [UInt32]) -> [EventRecord] {
        guard let first = events.first, let last = events.last else { return [] }
        if Int(last) - Int(first) == events.count - 1, first <= last { return records(Int(first)..<Int(last) + 1) }
        return events.flatMap { records(Int($0)..<Int($0) + 1) }
    }

    /// The record of an event; nil if there is none of this number.
    func record(_ event: Int) -> EventRecord? {
        guard event >= 0, event < count else { return nil }
        return records(event..<event + 1).first
    }

    /// The first event at a time or later. Events are in order of time but for a few, such as findings.
    func event(at time: Int64) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if (record(middle)?.time ?? .max) < time { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The record of a frame of not long ago that a side sent; nil if it is not known any more.
    func frame(_ index: Int, of connection: Int, _ from: Direction) -> EventRecord? {
        writer.withLock { $0.event(of: connection, from, index: index) }.flatMap { record($0) }
    }

    /// An event as a value; nil if it cannot be read.
    func event(_ record: EventRecord) -> TraceEvent? { try? EventReader.event(of: line(record)) }

    /// A line of the trace, with its line feed.
    func line(_ record: EventRecord) -> [UInt8] { data.read(Int(record.lineLength), at: record.position) }

    /// What lists show of an event.
    func row(_ record: EventRecord) -> [UInt8] {
        data.read(Int(record.rowLength), at: record.position + Int64(record.lineLength))
    }

    /// What is kept of a frame beside its line; nil if nothing is.
    func detail(_ record: EventRecord) -> FrameDetail? {
        guard record.detailLength > 0 else { return nil }
        let start = record.position + Int64(record.lineLength) + Int64(record.rowLength)
        return FrameDetail(data.read(Int(record.detailLength), at: start))
    }
}
