import Analysis
import Framing
import Streams
import Trace

/// Makes tables of a trace, and writes them as Parquet.
///
/// The rows of a connection wait until it is over, since only then it is known which files they belong to; what is too much goes to
/// a store.
package final class TableSink: TraceSink {
    package let bodyLimit: Int
    package var takesBothLegs: Bool { true }

    private let selection: TableSelection
    private let store: any RowStore
    private let files: TableFiles
    private var keys = ConnectionKeys()
    private var recent = RecentConnections()
    // What is done with it never comes back here.
    @exclusivity(unchecked) private var pending = PendingConnections()
    /// How many bytes of rows wait.
    private var waiting = 0
    private let mostWaiting: Int
    /// Buffers of connections that are over; their memory is used again.
    private var spare: [RowBuffer] = []
    private static let (mostSpare, largestSpare) = (32, 64 << 10)

    /// What was written, when the trace is over.
    package private(set) var outcome = TableOutcome()

    /// How many bytes of rows wait in memory.
    package static let mostWaiting = 64 << 20
    /// How much of a run of unframed bytes a finding has.
    private static let mostUnframed = 4_096

    /// - Parameters:
    ///   - application: what the files say that they were written by.
    ///   - bodyLimit: at most how many bytes of a body are shown.
    ///   - store: keeps rows that wait for too long.
    ///   - create: creates a file, by its path in the tables' folder.
    package init(
        _ selection: TableSelection, name: FileName, application: String, bodyLimit: Int, store: any RowStore,
        mostWaiting: Int = TableSink.mostWaiting, create: @escaping (String) -> any ByteOutput
    ) {
        (self.selection, self.bodyLimit, self.store) = (selection, bodyLimit, store)
        self.mostWaiting = mostWaiting
        files = TableFiles(name, application: application, create: create)
    }

    // MARK: Connections

    package func opened(_ connection: TracedConnection) {
        guard !pending.contains(connection.number) else { return }
        let opening = connection.opening
        pending.add(
            PendingConnection(
                connection: connection, alike: keys.count(opening), isWanted: selection.wants(opening)),
            number: connection.number)
    }

    package func recognised(_ connection: TracedConnection) {
        guard let known = connection.known else { return }
        outcome.formats[known.format.name] = known.format.heartbeat != nil
    }

    package func tls(_ facts: TLSFacts, at time: Timestamp, on connection: TracedConnection) {
        guard let place = pending.place(of: connection.number), pending[place].tls == nil else { return }
        pending[place].tls = facts.text(of: Self.tlsMembers)
    }

    private static let tlsMembers = [
        "decrypted", "version", "suite", "serverName", "protocol", "clientRandom", "resumed", "certificate",
    ]

    package func closed(_ closing: Closing, counts: PerDirection<ByteCounts>, on connection: TracedConnection) {
        guard let place = pending.place(of: connection.number) else { return }
        var ending = PendingConnection.LegEnding(leg: connection.leg, closing: closing, counts: counts)
        if let known = connection.known, let choice = connection.choice {
            ending.format = (known.format.name, choice.by.rawValue)
        }
        pending[place].endings.append(ending)
        if pending[place].endings.count == (connection.leg == nil ? 1 : 2) { settle(connection.number) }
    }

    package func summary(_ summary: Summary) {
        // Of two legs, one may never have opened.
        for number in pending.numbers { settle(number) }
        // Other shards and runs may have what this one has not; without a connection nothing may have been read.
        if !selection.isShard, selection.finalBefore == nil, outcome.connections > 0 { files.complete() }
        outcome.files = files.finish().map {
            TableOutcome.File(table: $0.table, path: $0.path, rows: $0.rows, bytes: $0.size)
        }
    }

    // MARK: Rows

    package func frame(_ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection) {
        guard let kinds = connection.kinds(of: frame.direction),
            let place = pending.place(of: connection.number), pending[place].isWanted
        else { return }
        let before = prepare(&pending[place].frames)
        let start = pending[place].frames.begin(.frames, at: frame.info.time)
        pending[place].frames.frame(frame, bytes, kinds, on: connection, bodyLimit: bodyLimit)
        pending[place].frames.end(start)
        pending[place].frameCount += 1
        count(pending[place].frames, before)
    }

    package func missing(_ gap: Gap, on connection: TracedConnection) {
        add(.findings, at: gap.time, to: connection.number) { row in
            row.finding(connection.leg, gap.direction, gap.time, "missing") { RunText.write(gap, into: &$0) }
        }
    }

    package func dropped(_ gap: Gap, reason: String, on connection: TracedConnection) {
        add(.findings, at: gap.time, to: connection.number) { row in
            row.finding(connection.leg, gap.direction, gap.time, "dropped") {
                RunText.write(gap, reason: reason, into: &$0)
            }
        }
    }

    package func unframed(_ run: UnframedRun, from direction: Direction, on connection: TracedConnection) {
        let isHidden = connection.kinds(of: direction)?.hidesUnframed == true
        let shown = isHidden ? [] : Array(run.bytes.prefix(Self.mostUnframed))
        add(.findings, at: run.time, to: connection.number) { row in
            row.finding(connection.leg, direction, run.time, "unframed") {
                RunText.write(run, detail: run.shownDetail(direction, on: connection), shown, into: &$0)
            }
        }
    }

    package func finding(_ finding: Finding) {
        // A decoder with all analyses finds them in a shard, too: some of them, and some that are none.
        if selection.isShard, finding.kind == .reconnectStorm { return }
        guard let row = begin(.findings, at: finding.time, of: finding.connection) else {
            return addLate(.findings, at: finding.time, to: finding.connection) { $0.finding(finding) }
        }
        pending[row.place].others.finding(finding)
        end(row)
    }

    package func action(_ report: ActionReport, on connection: TracedConnection) {
        add(.findings, at: report.time, to: connection.number) { row in
            row.finding(nil, report.direction, report.time, "action") {
                $0 += ActionEvent(report, on: connection).text(of: Self.actionMembers).utf8
            }
        }
    }

    private static let actionMembers = [
        "rule", "action", "index", "type", "offset", "length", "passed", "detail", "proven", "before", "after",
    ]

    /// A request was answered.
    ///
    /// - Parameters:
    ///   - trip: what is known of the round trip.
    package func answered(_ trip: borrowing RoundTripMonitor.RoundTrip) {
        guard let row = begin(.roundTrips, at: trip.requested, of: trip.connection) else {
            return addLate(.roundTrips, at: trip.requested, to: trip.connection) { $0.roundTrip(trip) }
        }
        pending[row.place].others.roundTrip(trip)
        end(row)
    }

    private func add(_ table: Table, at time: Timestamp, to number: Int, _ write: (inout RowBuffer) -> Void) {
        guard let row = begin(table, at: time, of: number) else { return addLate(table, at: time, to: number, write) }
        write(&pending[row.place].others)
        end(row)
    }

    /// A row that is being written. Its values are appended to the connection's rows between `begin` and `end`, without a closure, whose
    /// context would have a copy of what they are taken from.
    private struct OpenRow {
        var place: Int
        var start: Int
        /// How much memory the connection's rows took.
        var before: Int
    }

    /// Begins a row that is no frame; nil if the connection is over, or not wanted.
    private func begin(_ table: Table, at time: Timestamp, of number: Int) -> OpenRow? {
        guard let place = pending.place(of: number), pending[place].isWanted else { return nil }
        let before = prepare(&pending[place].others)
        return OpenRow(place: place, start: pending[place].others.begin(table, at: time), before: before)
    }

    private func end(_ row: OpenRow) {
        pending[row.place].others.end(row.start)
        count(pending[row.place].others, row.before)
    }

    /// Gives rows memory that was used before, if they have none; returns how much they had.
    @inline(__always)
    private func prepare(_ rows: inout RowBuffer) -> Int {
        let before = rows.bytes.capacity
        if before == 0, let spare = spare.popLast() { rows = spare }
        return before
    }

    /// Notes how much memory rows took and take.
    @inline(__always)
    private func count(_ rows: borrowing RowBuffer, _ before: Int) {
        waiting += rows.bytes.capacity - before
        if waiting > mostWaiting { relieve() }
    }

    /// Adds a row to a connection that is over: findings that compare connections may come a little later.
    private func addLate(_ table: Table, at time: Timestamp, to number: Int, _ write: (inout RowBuffer) -> Void) {
        // One that is not wanted has no rows.
        guard !pending.contains(number) else { return }
        guard let (key, isFinal) = recent[number] else {
            outcome.late += 1
            return
        }
        var rows = RowBuffer()
        rows.append(table, at: time, write)
        self.write(rows.bytes, of: key, number, isFinal: isFinal)
    }

    /// Moves what waits to the store.
    private func relieve() {
        var all: [UInt8] = []
        all.reserveCapacity(waiting)
        var owners: [(place: Int, count: Int)] = []
        for place in pending.indices {
            let before = all.count
            all += pending[place].frames.bytes
            all += pending[place].others.bytes
            if all.count == before { continue }
            owners.append((place, all.count - before))
            (pending[place].frames, pending[place].others) = (RowBuffer(), RowBuffer())
        }
        var start = store.append(all).lowerBound
        for (place, count) in owners {
            pending[place].stored.append(start..<start + count)
            start += count
        }
        waiting = 0
    }

    // MARK: The end of a connection

    /// Writes a connection's rows to the files that they belong to.
    private func settle(_ number: Int) {
        guard var ended = pending.remove(number), let opening = ended.connection?.opening else { return }
        waiting -= ended.capacity
        guard ended.isWanted else { return }
        let fate = selection.fate(of: ended.endings.map(\.closing))
        guard fate != .leftOut else { return }
        let ends = ConnectionTexts(opening)
        outcome.connections += 1
        outcome.frames += ended.frameCount
        if fate == .live { outcome.live.append(TableOutcome.Live(ends: ends.pair, opened: opening.time)) }
        var others = RowBuffer()
        swap(&others, &ended.others)
        _ = prepare(&others)
        for ending in ended.endings {
            others.append(.connections, at: opening.time) { $0.connection(opening, ends, ended, ending) }
        }
        let key = ConnectionKeys.key(opening.time, ends, alike: ended.alike)
        for place in ended.stored { write(store.read(place), of: key, number, isFinal: fate == .final) }
        files.append(ended.frames, in: .frames, isFinal: fate == .final, of: key, number)
        write(others.bytes, of: key, number, isFinal: fate == .final)
        if !selection.isShard { recent.add(number, key, isFinal: fate == .final, at: opening.time) }
        reuse(&ended.frames)
        reuse(&others)
    }

    /// Keeps the memory of rows that were written.
    private func reuse(_ rows: inout RowBuffer) {
        guard spare.count < Self.mostSpare, 1...Self.largestSpare ~= rows.bytes.capacity else { return }
        rows.removeAll()
        spare.append(rows)
        rows = RowBuffer()
    }

    private func write(_ rows: [UInt8], of key: [UInt8], _ number: Int, isFinal: Bool) {
        files.append(rows.span.bytes, isFinal: isFinal, of: key, number)
    }
}
