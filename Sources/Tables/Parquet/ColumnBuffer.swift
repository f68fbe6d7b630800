import Streams

/// The values of a column in a group of rows.
struct ColumnBuffer {
    let kind: ParquetColumn.Kind
    /// How many rows there are.
    private(set) var count = 0
    private(set) var nulls = 0
    /// Whether each row has a value, a bit each; nil as long as all have one.
    private var present: Bits?
    /// Texts or doubles as they are stored, after room for what says that all rows have one.
    private var plain: [UInt8] = []
    private static let roomForLevels = 16
    private var integers: [Int64] = []
    private var booleans = Bits()
    private var dictionary = ValueDictionary()
    private var indices: [Int32] = []
    /// The least and the greatest integer.
    private var (least, greatest) = (Int64.max, Int64.min)

    init(_ kind: ParquetColumn.Kind) { self.kind = kind }

    /// Removes all rows; their memory is used again.
    mutating func removeAll() {
        (count, nulls, present) = (0, 0, nil)
        (least, greatest) = (.max, .min)
        plain.removeAll(keepingCapacity: true)
        integers.removeAll(keepingCapacity: true)
        indices.removeAll(keepingCapacity: true)
        booleans.removeAll()
        dictionary.removeAll()
    }

    mutating func appendNull() {
        if present == nil { present = Bits(repeating: true, count: count) }
        present?.append(false)
        count += 1
        nulls += 1
    }

    mutating func append(_ value: Bool) {
        begin()
        booleans.append(value)
    }

    mutating func append(_ value: Int64?) {
        guard let value else { return appendNull() }
        begin()
        integers.append(value)
        (least, greatest) = (min(least, value), max(greatest, value))
    }

    /// Appends many values at once.
    ///
    /// - Parameter null: what stands for null.
    mutating func append(_ values: [Int64], null: Int64) {
        let nulls = values.reduce(0) { $1 == null ? $0 + 1 : $0 }
        if nulls == values.count { return appendNulls(nulls) }
        if nulls > 0 || present != nil {
            for value in values { append(value == null ? nil : value) }
            return
        }
        integers += values
        count += values.count
        for value in values { (least, greatest) = (min(least, value), max(greatest, value)) }
    }

    private mutating func appendNulls(_ times: Int) {
        for _ in 0..<times { appendNull() }
    }

    mutating func append(_ value: Double) {
        begin()
        beginPlain()
        plain.append(first: 8, of: value.bitPattern)
    }

    mutating func append(_ text: RawSpan) {
        begin()
        if kind == .name {
            indices.append(Int32(dictionary.index(of: text)))
        } else {
            beginPlain()
            plain.append(first: 4, of: UInt64(text.byteCount))
            plain.append(contentsOf: text)
        }
    }

    /// The value of the last row again, in a column of names.
    mutating func appendSame(_ times: Int) {
        for _ in 0..<times {
            begin()
            indices.append(indices[indices.count - 1])
        }
    }

    private mutating func begin() {
        if nulls > 0 { present?.append(true) }
        count += 1
    }

    private mutating func beginPlain() {
        if plain.isEmpty { plain.append(contentsOf: repeatElement(0, count: Self.roomForLevels)) }
    }

    // MARK: Pages

    /// The distinct values: what a dictionary page has; nil if the column has no such page.
    var dictionaryPage: (values: [UInt8], count: Int)? {
        kind == .name ? (dictionary.page, dictionary.count) : nil
    }

    /// How the values of the data page are encoded.
    var encoding: Int {
        switch kind {
        case .name: ParquetCode.Encoding.dictionary
        case .integer, .timestamp: ParquetCode.Encoding.delta
        case .boolean, .number, .text: ParquetCode.Encoding.plain
        }
    }

    /// Passes on what a data page has: which rows have a value, and the values.
    ///
    /// Source: the Parquet format's `Encodings.md`: definition levels (RLE, after their length), PLAIN, RLE_DICTIONARY,
    /// DELTA_BINARY_PACKED.
    ///
    /// - Parameter page: where it is put together, unless it can be passed on as it is.
    mutating func withDataPage(_ page: inout [UInt8], _ take: (RawSpan) -> Void) {
        page.removeAll(keepingCapacity: true)
        let levels =
            present.map { RunLengthEncoding.packed($0) } ?? RunLengthEncoding.run(of: 1, count: count, width: 1)
        page.append(first: 4, of: UInt64(levels.count))
        page += levels
        switch kind {
        case .boolean: page += booleans.bytes
        case .integer, .timestamp: DeltaEncoding.append(integers, to: &page)
        case .number, .text:
            let start = Self.roomForLevels - page.count
            if start >= 0, !plain.isEmpty {
                // Most of a table is text: it is not copied.
                for (index, byte) in page.enumerated() { plain[start + index] = byte }
                return take(plain.span.bytes.extracting(start..<plain.count))
            }
            page.append(contentsOf: plain.span.bytes.extracting(min(Self.roomForLevels, plain.count)..<plain.count))
        case .name:
            let width = max(1, Int.bitWidth - max(0, dictionary.count - 1).leadingZeroBitCount)
            page.append(UInt8(width))
            page += RunLengthEncoding.indices(indices, width: width)
        }
        take(page.span.bytes)
    }

    /// The least and the greatest value, as they are stored; nil if there are none, or if they are no whole numbers.
    var storedBounds: (least: [UInt8], greatest: [UInt8])? {
        guard least <= greatest else { return nil }
        func stored(_ value: Int64) -> [UInt8] {
            var bytes: [UInt8] = []
            bytes.append(first: 8, of: UInt64(bitPattern: value))
            return bytes
        }
        return (stored(least), stored(greatest))
    }
}

/// Bits, the first in the lowest bit of the first byte.
struct Bits {
    private(set) var bytes: [UInt8] = []
    private(set) var count = 0

    init() {}

    init(repeating bit: Bool, count: Int) {
        bytes = Array(repeating: bit ? 0xff : 0, count: count / 8)
        self.count = count & ~7
        for _ in self.count..<count { append(bit) }
    }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        count = 0
    }

    mutating func append(_ bit: Bool) {
        if count & 7 == 0 { bytes.append(0) }
        if bit { bytes[bytes.count - 1] |= 1 << UInt8(count & 7) }
        count += 1
    }
}

/// Parquet's hybrid of run lengths and packed bits.
///
/// Source: the Parquet format's `Encodings.md`, "Run Length Encoding / Bit-Packing Hybrid".
enum RunLengthEncoding {
    /// The same value many times.
    static func run(of value: Int, count: Int, width: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(varint: UInt64(count) << 1)
        bytes.append(first: (width + 7) / 8, of: UInt64(value))
        return bytes
    }

    /// Values of one bit.
    static func packed(_ bits: Bits) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(varint: UInt64(bits.bytes.count) << 1 | 1)
        return bytes + bits.bytes
    }

    /// Indices of `width` bits: one run if all are the same, or all of them packed, in groups of eight.
    static func indices(_ indices: [Int32], width: Int) -> [UInt8] {
        guard let first = indices.first else { return [] }
        if indices.allSatisfy({ $0 == first }) { return run(of: Int(first), count: indices.count, width: width) }
        let groups = (indices.count + 7) / 8
        var bytes: [UInt8] = []
        bytes.reserveCapacity(groups * width + 8)
        bytes.append(varint: UInt64(groups) << 1 | 1)
        var word: UInt64 = 0
        var filled = 0
        for index in indices {
            word |= UInt64(index) << UInt64(filled)
            filled += width
            while filled >= 8 {
                bytes.append(UInt8(truncatingIfNeeded: word))
                word >>= 8
                filled -= 8
            }
        }
        let padding = (groups * 8 - indices.count) * width
        for _ in 0..<(filled + padding) / 8 {
            bytes.append(UInt8(truncatingIfNeeded: word))
            word = 0
        }
        return bytes
    }
}
