import Streams
import Trace

/// Rows of a table that become columns together: one column after the other takes less time than the values of one row after the other.
struct RowBatch {
    /// The rows' values, as `RowBuffer` has them; what is between rows does not matter.
    private var values: [UInt8] = []
    /// Where in them each row begins.
    private var starts: [Int] = []
    /// How many rows there are of each connection, by its key.
    private var connections: [(key: [UInt8], rows: Int)] = []

    /// How many rows there are.
    var count: Int { starts.count }
    /// Whether there are enough: they must stay in a cache until they are columns.
    var isFull: Bool { values.count >= Self.most }

    private static let most = 128 << 10

    /// Their memory is used again.
    private mutating func removeAll() {
        // A row may be as long as the longest frame.
        values.removeAll(keepingCapacity: values.capacity <= 4 * Self.most)
        starts.removeAll(keepingCapacity: true)
        connections.removeAll(keepingCapacity: true)
    }

    /// Adds a row.
    ///
    /// - Parameters:
    ///   - row: its values.
    ///   - connection: its connection's key; nil if that is the one of the row before.
    mutating func append(_ row: RawSpan, of connection: [UInt8]?) {
        count(1, of: connection)
        starts.append(values.count)
        values.append(contentsOf: row)
    }

    /// Adds all rows of a buffer, which are of one table.
    mutating func append(_ rows: RowBuffer, of connection: [UInt8]?) {
        count(rows.count, of: connection)
        var place = values.count
        // At once: what comes from memory, and is in no cache, comes faster so.
        values.append(contentsOf: rows.bytes.span.bytes)
        for _ in 0..<rows.count {
            let length = values.span.bytes.count(at: place + 1)
            starts.append(place + RowBuffer.head)
            place += RowBuffer.head + length
        }
    }

    private mutating func count(_ rows: Int, of connection: [UInt8]?) {
        if let connection {
            connections.append((connection, rows))
        } else {
            connections[connections.count - 1].rows += rows
        }
    }

    /// Appends all columns, in the order of the table's, and removes the rows.
    mutating func move(_ columns: [TableColumn.Form], to buffers: inout [ColumnBuffer]) {
        for (key, rows) in connections {
            buffers[0].append(key.span.bytes)
            buffers[0].appendSame(rows - 1)
        }
        // Where each row's next value begins.
        var places = starts
        var next = 1
        for column in columns {
            switch column {
            case .text: texts(from: &places, to: &buffers[next])
            case .boolean: booleans(from: &places, to: &buffers[next])
            case .integer: integers(from: &places, to: &buffers[next])
            case .time:
                integers(from: &places, taking: 0, to: &buffers[next], inMicroseconds: true)
                next += 1
                integers(from: &places, to: &buffers[next])
            case .duration:
                integers(from: &places, taking: 0, to: &buffers[next])
                next += 1
                seconds(from: &places, to: &buffers[next])
            }
            next += 1
        }
        removeAll()
    }

    /// Passes on the values of all rows, and the place of each row's next one.
    ///
    /// - Parameter length: after how many bytes the one after it begins.
    @inline(__always)
    private func forEach(_ places: inout [Int], taking length: Int, _ take: (RawSpan, Int) -> Void) {
        let values = values.span.bytes
        var places = places.mutableSpan
        for row in places.indices {
            take(values, places[row])
            places[row] += length
        }
    }

    /// Integers, and instants in nanoseconds.
    private func integers(
        from places: inout [Int], taking length: Int = 8, to buffer: inout ColumnBuffer, inMicroseconds: Bool = false
    ) {
        var numbers: [Int64] = []
        numbers.append(addingCapacity: count) { output in
            let values = values.span.bytes
            var places = places.mutableSpan
            for row in places.indices {
                output.append(values.integer(at: places[row]))
                places[row] += length
            }
        }
        if inMicroseconds {
            for row in numbers.indices { numbers[row] = Self.microseconds(numbers[row]) }
        }
        buffer.append(numbers, null: RowBuffer.null)
    }

    private func booleans(from places: inout [Int], to buffer: inout ColumnBuffer) {
        forEach(&places, taking: 1) { buffer.append($0[byte: $1] == 1) }
    }

    private func seconds(from places: inout [Int], to buffer: inout ColumnBuffer) {
        forEach(&places, taking: 8) { values, place in
            let duration = values.integer(at: place)
            if duration == RowBuffer.null { buffer.appendNull() } else { buffer.append(Double(duration) / 1e9) }
        }
    }

    private func texts(from places: inout [Int], to buffer: inout ColumnBuffer) {
        let values = values.span.bytes
        var places = places.mutableSpan
        for row in places.indices {
            let start = places[row] + 4
            let length = values.count(at: places[row])
            if length == 0 {
                buffer.appendNull()
                places[row] = start
            } else {
                places[row] = start + length - 1
                buffer.append(values.extracting(start..<places[row]))
            }
        }
    }

    /// Rounded down, before 1970, too; null stays null.
    private static func microseconds(_ nanoseconds: Int64) -> Int64 {
        if nanoseconds == RowBuffer.null { return nanoseconds }
        let (quotient, remainder) = nanoseconds.quotientAndRemainder(dividingBy: 1_000)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
