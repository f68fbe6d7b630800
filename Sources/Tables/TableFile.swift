import Streams
import Trace

/// One file of a table.
final class TableFile {
    let table: Table
    let path: String
    private let columns: [TableColumn.Form]
    private let writer: ParquetWriter
    /// The rows that are no columns yet. Nothing that is done with them comes back here.
    @exclusivity(unchecked) private var batch = RowBatch()
    /// The number of the connection that the last row is of.
    private var latest: Int?
    /// How many bytes the rows hold that are not written yet, approximately.
    private(set) var held = 0

    /// Approximately how many rows and bytes a group of rows has at most: readers hold a whole group.
    private static let mostRows = 20_480
    private static let mostBytes = 2 << 20
    /// What columns take, however few rows there are.
    private static let leastHeld = 8 << 10

    init(
        _ table: Table, path: String, application: String, _ compression: PageCompression, to output: any ByteOutput
    ) {
        (self.table, self.path, columns) = (table, path, table.columns.map(\.form))
        writer = ParquetWriter(table.stored, application: application, compression, to: output)
    }

    /// How many rows it has.
    var rows: Int { writer.rows + pending }
    /// How many rows the group at hand has.
    private var pending: Int { writer.pendingRows + batch.count }
    /// How many bytes were written.
    var size: Int { writer.written }

    /// Takes a row's values, as `RowBuffer` has them.
    ///
    /// - Parameters:
    ///   - connection: the connection's key.
    ///   - number: its number in the trace.
    func append(_ values: RawSpan, of connection: [UInt8], _ number: Int) {
        // Most rows are of the same connection as the one before.
        batch.append(values, of: continues(number) ? nil : connection)
        count(values.byteCount + connection.count, of: number)
    }

    /// Takes all rows of a buffer, which are of its table and day.
    func append(_ rows: RowBuffer, of connection: [UInt8], _ number: Int) {
        guard rows.count > 0 else { return }
        batch.append(rows, of: continues(number) ? nil : connection)
        count(rows.bytes.count + rows.count * (connection.count - RowBuffer.head), of: number)
    }

    private func continues(_ number: Int) -> Bool { number == latest && batch.count > 0 }

    private func count(_ bytes: Int, of number: Int) {
        latest = number
        if held == 0 { held = Self.leastHeld }
        held += bytes
        if batch.isFull { move() }
        if pending >= Self.mostRows || held >= Self.mostBytes { endGroup() }
    }

    private func move() { batch.move(columns, to: &writer.buffers) }

    /// Writes what it holds as a group of rows.
    func endGroup() {
        move()
        writer.endGroup()
        held = 0
    }

    /// Gives back memory that it does not need as long as others have the next rows.
    func rest() {
        move()
        batch = RowBatch()
        writer.release()
    }

    /// Writes the rest.
    func finish() {
        move()
        writer.finish()
    }
}
