import Streams
import Trace

/// Rows of several tables, one after the other, until it is known which files they belong to.
///
///     row      u8 table   u32 length   i64 day   value …
///     value    text       u32 length + 1, or 0 for null   bytes
///              boolean    u8
///              others     i64, the least one for null
///
/// All numbers are in little-endian order; they never leave the process.
struct RowBuffer {
    /// What rows are appended to.
    var bytes: [UInt8] = []
    /// How many rows there are.
    private(set) var count = 0
    /// The day of all rows; nil if they are of several, or if there are none.
    var onlyDay: Day? { isOfOneDay && count > 0 ? day : nil }
    private var day = Day(number: 0)
    private var isOfOneDay = true

    /// How many bytes a row has before its values.
    static let head = 13

    /// Begins a row; its values are appended in the order of the table's columns.
    ///
    /// - Returns: what `end` takes.
    mutating func begin(_ table: Table, at time: Timestamp) -> Int {
        let start = bytes.count
        bytes.append(first: 5, of: UInt64(table.rawValue))
        let day = Day(of: time)
        bytes.append(first: 8, of: UInt64(bitPattern: day.number))
        if count > 0, day != self.day { isOfOneDay = false }
        self.day = day
        count += 1
        return start
    }

    /// Ends a row.
    mutating func end(_ start: Int) { patch(UInt64(bytes.count - start - Self.head), at: start + 1) }

    /// Appends a row whose values `write` appends.
    mutating func append(_ table: Table, at time: Timestamp, _ write: (inout RowBuffer) -> Void) {
        let start = begin(table, at: time)
        write(&self)
        end(start)
    }

    /// Removes all rows; the memory is used again.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        (count, isOfOneDay) = (0, true)
    }

    mutating func text(_ value: String?) {
        guard let value else { return bytes.append(first: 4, of: 0) }
        let utf8 = value.utf8
        bytes.append(first: 4, of: UInt64(utf8.count + 1))
        // Almost every text is contiguous.
        if utf8.withContiguousStorageIfAvailable({ bytes.append(copying: UnsafeRawBufferPointer($0)) }) == nil {
            bytes += utf8
        }
    }

    mutating func text(_ value: StaticString) {
        bytes.append(first: 4, of: UInt64(value.utf8CodeUnitCount + 1))
        value.withUTF8Buffer { bytes.append(copying: UnsafeRawBufferPointer($0)) }
    }

    /// `client` or `server`, as text.
    mutating func sender(_ direction: Direction) { text(Self.name(of: direction)) }

    /// What `sender` has.
    static func name(of direction: Direction) -> StaticString { direction == .fromClient ? "client" : "server" }

    /// What `leg` has.
    static func name(of leg: Leg) -> StaticString {
        switch leg {
        case .in: "in"
        case .out: "out"
        }
    }

    /// A text that `write` appends.
    mutating func text(_ write: (inout [UInt8]) -> Void) {
        let start = beginText()
        write(&bytes)
        endText(start)
    }

    /// Begins a text that is then appended to `bytes`; returns what `endText` takes.
    mutating func beginText() -> Int {
        bytes.append(first: 4, of: 0)
        return bytes.count - 4
    }

    mutating func endText(_ start: Int) { patch(UInt64(bytes.count - start - 4 + 1), at: start) }

    /// Two texts that `write` appends at once, with a separator between them; it returns the length of the first one.
    mutating func texts(_ write: (inout [UInt8], _ separator: StaticString) -> Int) {
        let start = bytes.count
        bytes.append(first: 4, of: 0)
        // The separator becomes the length of the second one.
        let first = write(&bytes, "\0\0\0\0")
        patch(UInt64(first + 1), at: start)
        let second = start + 4 + first
        patch(UInt64(bytes.count - second - 4 + 1), at: second)
    }

    mutating func boolean(_ value: Bool) { bytes.append(value ? 1 : 0) }

    /// What stands for null.
    static let null = Int64.min

    mutating func integer(_ value: Int?) {
        bytes.append(first: 8, of: UInt64(bitPattern: value.map { Int64($0) } ?? Self.null))
    }

    mutating func time(_ value: Timestamp) { bytes.append(first: 8, of: UInt64(bitPattern: value.nanoseconds)) }

    private mutating func patch(_ value: UInt64, at place: Int) {
        var span = bytes.mutableSpan
        var memory = span.mutableBytes
        memory.storeBytes(of: UInt32(truncatingIfNeeded: value).littleEndian, toByteOffset: place, as: UInt32.self)
    }

    // MARK: Reading

    /// Passes on the rows of a table: their days and values.
    @inline(__always)
    static func forEach(of table: Table, in bytes: RawSpan, _ take: (Day, RawSpan) -> Void) {
        var at = 0
        while at < bytes.byteCount {
            let start = at + head
            let end = start + bytes.count(at: at + 1)
            if Int(bytes[byte: at]) == table.rawValue {
                take(Day(number: bytes.integer(at: at + 5)), bytes.extracting(start..<end))
            }
            at = end
        }
    }
}

extension RawSpan {
    /// Numbers, the lowest byte first.
    func count(at place: Int) -> Int {
        Int(UInt32(littleEndian: unsafeLoadUnaligned(fromByteOffset: place, as: UInt32.self)))
    }

    func integer(at place: Int) -> Int64 {
        Int64(littleEndian: unsafeLoadUnaligned(fromByteOffset: place, as: Int64.self))
    }
}

/// A day in UTC.
struct Day: Hashable, Sendable, Comparable {
    /// Days since 1970.
    var number: Int64

    private static let length: Int64 = 86_400_000_000_000

    init(number: Int64) { self.number = number }

    init(of time: Timestamp) {
        let (quotient, remainder) = time.nanoseconds.quotientAndRemainder(dividingBy: Self.length)
        number = remainder < 0 ? quotient - 1 : quotient
    }

    /// `2026-11-21`.
    var text: String {
        // The first day that there is began before the first time that there is.
        let (start, isTooEarly) = number.multipliedReportingOverflow(by: Self.length)
        return String(Timestamp(nanoseconds: isTooEarly ? .min : start).rfc3339.prefix(10))
    }

    static func < (left: Day, right: Day) -> Bool { left.number < right.number }
}
