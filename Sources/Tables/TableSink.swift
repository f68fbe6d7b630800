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
    private var connections: [Int: PendingConnection] = [:]
    /// The connection that had an event last. It is only read or replaced, never changed in place, so accesses do not overlap.
    @exclusivity(unchecked) private var last: (number: Int, connection: PendingConnection)?
    /// How many bytes of rows wait.
    private var waiting = 0
    private let mostWaiting: Int
    /// Buffers of connections that are over; their memory is used again.
    private var spare: [RowBuffer] = []
    private static let (mostSpare, largestSpare) = (32, 64 << 10)

    /// What was written, when the trace is over.
    package private(set) var outcome = TableOutcome()

    /// How many bytes of rows wait in memory.
    package static let mostWaiting = 32 << 20
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
        guard connections[connection.number] == nil else { return }
        connections[connection.number] = PendingConnection(
            connection, alike: keys.count(connection.opening), isWanted: selection.wants(connection.opening))
    }

    package func recognised(_ connection: TracedConnection) {
        if let format = connection.format { outcome.formats[format.name] = format.heartbeat != nil }
    }

    package func tls(_ facts: TLSFacts, at time: Timestamp, on connection: TracedConnection) {
        guard let pending = pending(connection.number), pending.tls == nil else { return }
        pending.tls = facts.text(of: Self.tlsMembers)
    }

    private static let tlsMembers = [
        "decrypted", "version", "suite", "serverName", "protocol", "clientRandom", "resumed", "certificate",
    ]

    package func closed(_ closing: Closing, counts: PerDirection<ByteCounts>, on connection: TracedConnection) {
        guard let pending = pending(connection.number) else { return }
        var ending = PendingConnection.LegEnding(leg: connection.leg, closing: closing, counts: counts)
        if let format = connection.format, let choice = connection.choice {
            ending.format = (format.name, choice.by.rawValue)
        }
        pending.endings.append(ending)
        if pending.endings.count == (connection.leg == nil ? 1 : 2) { settle(connection.number, pending) }
    }

    package func summary(_ summary: Summary) {
        // Of two legs, one may never have opened.
        for (number, pending) in connections.sorted(by: { $0.key < $1.key }) { settle(number, pending) }
        // Other shards and runs may have what this one has not; without a connection nothing may have been read.
        if !selection.isShard, selection.finalBefore == nil, outcome.connections > 0 { files.complete() }
        outcome.files = files.finish().map {
            TableOutcome.File(table: $0.table, path: $0.path, rows: $0.rows, bytes: $0.size)
        }
    }

    private func pending(_ number: Int) -> PendingConnection? {
        if let last, last.number == number { return last.connection }
        guard let connection = connections[number] else { return nil }
        last = (number, connection)
        return connection
    }

    // MARK: Rows

    package func frame(_ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection) {
        guard let kinds = connection.kinds?[frame.direction] else { return }
        guard let row = begin(.frames, at: frame.info.time, of: connection.number) else { return }
        row.pending.rows.frame(frame, bytes, kinds, on: connection, bodyLimit: bodyLimit)
        row.pending.frames += 1
        end(row)
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
        let isHidden = connection.kinds?[direction].hidesUnframed == true
        let shown = isHidden ? [] : Array(run.bytes.prefix(Self.mostUnframed))
        add(.findings, at: run.time, to: connection.number) { row in
            row.finding(connection.leg, direction, run.time, "unframed") {
                RunText.write(run, detail: run.shownDetail(direction, on: connection), shown, into: &$0)
            }
        }
    }

    package func finding(_ finding: Finding) {
        if selection.isShard, finding.kind == .reconnectStorm { return }
        guard let row = begin(.findings, at: finding.time, of: finding.connection) else {
            return addLate(.findings, at: finding.time, to: finding.connection) { $0.finding(finding) }
        }
        row.pending.rows.finding(finding)
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
        row.pending.rows.roundTrip(trip)
        end(row)
    }

    private func add(_ table: Table, at time: Timestamp, to number: Int, _ write: (inout RowBuffer) -> Void) {
        guard let row = begin(table, at: time, of: number) else { return addLate(table, at: time, to: number, write) }
        write(&row.pending.rows)
        end(row)
    }

    /// A row that is being written. Its values are appended to the connection's rows between `begin` and `end`, without a closure, whose
    /// context would have a copy of what they are taken from.
    private struct OpenRow {
        var pending: PendingConnection
        var start: Int
        /// How much memory the connection's rows took.
        var before: Int
    }

    /// Begins a row; nil if the connection is over, or not wanted.
    @inline(__always)
    private func begin(_ table: Table, at time: Timestamp, of number: Int) -> OpenRow? {
        guard let pending = pending(number), pending.isWanted else { return nil }
        let before = pending.rows.bytes.capacity
        if before == 0, let spare = spare.popLast() { pending.rows = spare }
        return OpenRow(pending: pending, start: pending.rows.begin(table, at: time), before: before)
    }

    @inline(__always)
    private func end(_ row: OpenRow) {
        row.pending.rows.end(row.start)
        waiting += row.pending.rows.bytes.capacity - row.before
        if waiting > mostWaiting { relieve() }
    }

    /// Adds a row to a connection that is over: findings that compare connections may come a little later.
    private func addLate(_ table: Table, at time: Timestamp, to number: Int, _ write: (inout RowBuffer) -> Void) {
        // One that is not wanted has no rows.
        guard connections[number] == nil else { return }
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
        var owners: [(PendingConnection, Int)] = []
        for pending in connections.values where !pending.rows.bytes.isEmpty {
            all += pending.rows.bytes
            owners.append((pending, pending.rows.bytes.count))
            pending.rows = RowBuffer()
        }
        var start = store.append(all).lowerBound
        for (pending, count) in owners {
            pending.stored.append(start..<start + count)
            start += count
        }
        waiting = 0
    }

    // MARK: The end of a connection

    /// Writes a connection's rows to the files that they belong to.
    private func settle(_ number: Int, _ pending: PendingConnection) {
        connections[number] = nil
        last = nil
        waiting -= pending.rows.bytes.capacity
        guard pending.isWanted else { return }
        let fate = selection.fate(of: pending.endings.map(\.closing))
        guard fate != .leftOut else { return }
        let opening = pending.connection.opening
        let ends = ConnectionTexts(opening)
        outcome.connections += 1
        outcome.frames += pending.frames
        if fate == .live { outcome.live.append(TableOutcome.Live(ends: ends.pair, opened: opening.time)) }
        for ending in pending.endings {
            pending.rows.append(.connections, at: opening.time) { $0.connection(opening, ends, pending, ending) }
        }
        let key = ConnectionKeys.key(opening.time, ends, alike: pending.alike)
        for place in pending.stored { write(store.read(place), of: key, number, isFinal: fate == .final) }
        write(pending.rows.bytes, of: key, number, isFinal: fate == .final)
        if !selection.isShard { recent.add(number, key, isFinal: fate == .final, at: opening.time) }
        if spare.count < Self.mostSpare, pending.rows.bytes.capacity <= Self.largestSpare {
            pending.rows.removeAll()
            spare.append(pending.rows)
        }
    }

    private func write(_ rows: [UInt8], of key: [UInt8], _ number: Int, isFinal: Bool) {
        RowBuffer.forEach(in: rows.span.bytes) { table, day, values in
            files.append(table, day, isFinal: isFinal, values, of: key, number)
        }
    }
}
