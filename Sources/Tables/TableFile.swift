import Streams
import Trace

/// One file of a table.
final class TableFile {
    let table: Table
    let path: String
    private let columns: [TableColumn]
    private let writer: ParquetWriter
    /// How many bytes the rows hold that are not written yet, approximately.
    private(set) var held = 0

    /// How many rows, and how many bytes, a group of rows has at most, approximately: whoever reads a file holds a group.
    private static let mostRows = 20_480
    private static let mostBytes = 8 << 20

    init(
        _ table: Table, path: String, application: String, _ compression: PageCompression, to output: any ByteOutput
    ) {
        (self.table, self.path, columns) = (table, path, table.columns)
        writer = ParquetWriter(table.stored, application: application, compression, to: output)
    }

    /// How many rows it has.
    var rows: Int { writer.rows + writer.pendingRows }
    /// How many bytes were written.
    var size: Int { writer.written }

    /// Takes a row's values, as `RowBuffer` has them.
    func append(_ values: RawSpan, of connection: [UInt8]) {
        writer.buffers[0].append(connection.span.bytes)
        var (place, at) = (1, 0)
        for column in columns {
            switch column {
            case .text, .name:
                let length = values.count(at: at)
                at += 4
                if length == 0 {
                    writer.buffers[place].appendNull()
                } else {
                    writer.buffers[place].append(values.extracting(at..<at + length - 1))
                    at += length - 1
                }
                place += 1
            case .boolean:
                let value = values[byte: at]
                if value == 0 { writer.buffers[place].appendNull() } else { writer.buffers[place].append(value == 2) }
                (place, at) = (place + 1, at + 1)
            case .integer, .nanoseconds, .time, .duration:
                append(number(values, &at), column, at: &place)
            }
        }
        held += values.byteCount + connection.count
        if writer.pendingRows >= Self.mostRows || held >= Self.mostBytes { endGroup() }
    }

    private func number(_ values: RawSpan, _ at: inout Int) -> Int64? {
        let isNull = values[byte: at] == 0
        at += 1
        guard !isNull else { return nil }
        defer { at += 8 }
        return values.integer(at: at)
    }

    private func append(_ value: Int64?, _ column: TableColumn, at place: inout Int) {
        func next(_ append: (inout ColumnBuffer, Int64) -> Void) {
            if let value { append(&writer.buffers[place], value) } else { writer.buffers[place].appendNull() }
            place += 1
        }
        switch column {
        case .time:
            next { $0.append(Self.microseconds($1)) }
            next { $0.append($1) }
        case .duration:
            next { $0.append($1) }
            next { $0.append(Double($1) / 1e9) }
        default: next { $0.append($1) }
        }
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

    /// Writes the rest.
    func finish() { writer.finish() }
}
