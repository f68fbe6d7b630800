import Streams
import Trace

/// One file of a table.
final class TableFile {
    let table: Table
    let path: String
    private let columns: [TableColumn.Form]
    private let writer: ParquetWriter
    /// The number of the connection that the last row is of.
    private var latest: Int?
    /// How many bytes the rows hold that are not written yet, approximately.
    private(set) var held = 0

    /// Approximately how many rows and bytes a group of rows has at most: readers hold a whole group.
    private static let mostRows = 20_480
    private static let mostBytes = 2 << 20
    /// What the buffers of the columns take, however few rows there are.
    private static let leastHeld = 8 << 10

    init(
        _ table: Table, path: String, application: String, _ compression: PageCompression, to output: any ByteOutput
    ) {
        (self.table, self.path, columns) = (table, path, table.columns.map(\.form))
        writer = ParquetWriter(table.stored, application: application, compression, to: output)
    }

    /// How many rows it has.
    var rows: Int { writer.rows + writer.pendingRows }
    /// How many bytes were written.
    var size: Int { writer.written }

    /// Takes a row's values, as `RowBuffer` has them.
    ///
    /// - Parameters:
    ///   - connection: the connection's key.
    ///   - number: its number in the trace.
    func append(_ values: RawSpan, of connection: [UInt8], _ number: Int) {
        // Most rows are of the same connection as the one before.
        if number == latest, writer.pendingRows > 0 {
            writer.buffers[0].appendSame()
        } else {
            writer.buffers[0].append(connection.span.bytes)
            latest = number
        }
        Self.append(values, columns, to: &writer.buffers)
        if held == 0 { held = Self.leastHeld }
        held += values.byteCount + connection.count
        if writer.pendingRows >= Self.mostRows || held >= Self.mostBytes { endGroup() }
    }

    private static func append(
        _ values: RawSpan, _ columns: [TableColumn.Form], to buffers: inout [ColumnBuffer]
    ) {
        var buffers = buffers.mutableSpan
        var (place, at) = (1, 0)
        for column in columns {
            switch column {
            case .text:
                let length = values.count(at: at)
                at += 4
                if length == 0 {
                    buffers[place].appendNull()
                } else {
                    buffers[place].append(values.extracting(at..<at + length - 1))
                    at += length - 1
                }
            case .boolean:
                buffers[place].append(values[byte: at] == 1)
                at += 1
            case .integer:
                buffers[place].append(number(values, &at))
            case .time:
                let time = number(values, &at)
                buffers[place].append(time.map(microseconds))
                place += 1
                buffers[place].append(time)
            case .duration:
                let duration = number(values, &at)
                buffers[place].append(duration)
                place += 1
                if let duration { buffers[place].append(Double(duration) / 1e9) } else { buffers[place].appendNull() }
            }
            place += 1
        }
    }

    private static func number(_ values: RawSpan, _ at: inout Int) -> Int64? {
        defer { at += 8 }
        let number = values.integer(at: at)
        return number == RowBuffer.null ? nil : number
    }

    /// Rounded down, before 1970, too.
    private static func microseconds(_ nanoseconds: Int64) -> Int64 {
        let (quotient, remainder) = nanoseconds.quotientAndRemainder(dividingBy: 1_000)
        return remainder < 0 ? quotient - 1 : quotient
    }

    /// Writes what it holds as a group of rows.
    func endGroup() {
        writer.endGroup()
        held = 0
    }

    /// Gives back the memory of groups that were written.
    func release() { writer.release() }

    /// Writes the rest.
    func finish() { writer.finish() }
}
