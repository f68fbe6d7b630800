import Streams
import Trace

/// The files of the tables: one for each table and day, and for rows that a later run replaces another one.
final class TableFiles {
    private struct Place: Hashable {
        var table: Table
        var day: Day
        var isFinal: Bool
    }

    private let name: FileName
    private let application: String
    private let create: (String) -> any ByteOutput
    private let compression = PageCompression()
    private var files: [Place: TableFile] = [:]
    /// The file of each table that had a row last. Appending to a file never calls back, so accesses do not overlap.
    @exclusivity(unchecked) private var latest: [(place: Place, file: TableFile)?] = Table.allCases.map { _ in nil }
    /// How many bytes all files hold.
    private(set) var held = 0

    /// How many bytes they may hold together: captures of many days have many files.
    private static let most = 24 << 20
    /// At most how many bytes of rows are copied at once: groups of rows are bounded.
    private static let mostAtOnce = 256 << 10

    /// - Parameter create: creates a file, by its path in the tables' folder.
    init(_ name: FileName, application: String, create: @escaping (String) -> any ByteOutput) {
        (self.name, self.application, self.create) = (name, application, create)
    }

    /// Appends rows of any tables and days.
    func append(_ rows: RawSpan, isFinal: Bool, of connection: [UInt8], _ number: Int) {
        // One table after the other: most rows then go to the same file as the one before.
        for table in Table.allCases { append(rows, in: table, isFinal: isFinal, of: connection, number) }
    }

    /// Appends those of the rows that are of a table.
    private func append(_ rows: RawSpan, in table: Table, isFinal: Bool, of connection: [UInt8], _ number: Int) {
        var current: (day: Day, file: TableFile)?
        RowBuffer.forEach(of: table, in: rows) { day, values in
            let file: TableFile
            if let current, current.day == day {
                file = current.file
            } else {
                file = self.file(Place(table: table, day: day, isFinal: isFinal))
                current = (day, file)
            }
            let before = file.held
            file.append(values, of: connection, number)
            count(file.held - before)
        }
    }

    /// Appends rows of one table.
    func append(_ rows: RowBuffer, in table: Table, isFinal: Bool, of connection: [UInt8], _ number: Int) {
        guard let day = rows.onlyDay, rows.bytes.count <= Self.mostAtOnce else {
            return append(rows.bytes.span.bytes, in: table, isFinal: isFinal, of: connection, number)
        }
        let file = file(Place(table: table, day: day, isFinal: isFinal))
        let before = file.held
        file.append(rows, of: connection, number)
        count(file.held - before)
    }

    /// Counts bytes that a file holds more, or fewer.
    @inline(__always)
    private func count(_ bytes: Int) {
        held += bytes
        if held > Self.most { relieve() }
    }

    private func file(_ place: Place) -> TableFile {
        if let latest = latest[place.table.rawValue], latest.place == place { return latest.file }
        let file = files[place] ?? made(place)
        // There may be a file for each of many days: one keeps memory only while it has rows.
        latest[place.table.rawValue]?.file.rest()
        latest[place.table.rawValue] = (place, file)
        return file
    }

    private func made(_ place: Place) -> TableFile {
        let path = "\(place.table.name)/day=\(place.day.text)/\(name.text(isFinal: place.isFinal))"
        let file = TableFile(place.table, path: path, application: application, compression, to: create(path))
        files[place] = file
        return file
    }

    /// Writes what those files hold that hold the most.
    private func relieve() {
        for file in files.values.filter({ $0.held > 0 }).sorted(by: { $0.held > $1.held }) {
            if held <= Self.most / 2 { return }
            held -= file.held
            file.endGroup()
            file.rest()
        }
    }

    /// Gives a file without rows to each table that has none: a query over a table that is not there fails.
    func complete() {
        guard let day = files.keys.map(\.day).min() else { return }
        let present = Set(files.keys.map(\.table))
        for table in Table.allCases where !present.contains(table) {
            _ = made(Place(table: table, day: day, isFinal: true))
        }
    }

    /// Writes the rest; returns the files, by path.
    func finish() -> [TableFile] {
        let all = files.values.sorted { $0.path < $1.path }
        for file in all { file.finish() }
        return all
    }
}

/// What files are called.
package struct FileName: Sendable {
    private let name: String
    /// Whether rows that a later run replaces have files of their own.
    private let isSplit: Bool

    /// - Parameters:
    ///   - name: what it begins with.
    ///   - isSplit: whether rows that a later run replaces have files of their own.
    package init(_ name: String, isSplit: Bool) { (self.name, self.isSplit) = (name, isSplit) }

    func text(isFinal: Bool) -> String {
        isSplit ? "\(name)-\(isFinal ? "final" : "live").parquet" : "\(name).parquet"
    }

    /// All that files may be called.
    package var all: [String] { isSplit ? [text(isFinal: true), text(isFinal: false)] : [text(isFinal: true)] }
}
