import CZstd
import Testing

/// Reads Parquet files as far as frametap writes them, independently of the writer: by the format's specification.
struct ParquetReader {
    /// A value; nil is null.
    enum Value: Hashable {
        case boolean(Bool)
        case integer(Int64)
        case number(Double)
        case text(String)
    }

    /// The names of the columns.
    private(set) var names: [String] = []
    /// The values of each row.
    private(set) var rows: [[Value?]] = []
    /// How many groups of rows there are.
    private(set) var groups = 0
    /// The least and greatest integer that the footer states for each column of each group.
    private(set) var bounds: [[ClosedRange<Int64>?]] = []

    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) throws {
        self.bytes = bytes
        try #require(
            bytes.count > 12 && bytes.prefix(4) == [0x50, 0x41, 0x52, 0x31] && bytes.suffix(4) == bytes.prefix(4))
        let length = Int(Self.littleEndian(bytes, bytes.count - 8, 4))
        var at = bytes.count - 8 - length
        let footer = try Thrift.structure(bytes, &at)
        #expect(at == bytes.count - 8)
        let schema = try #require(footer[2]?.list)
        names = schema.dropFirst().compactMap { $0[4]?.text }
        #expect(schema.first?[5]?.integer == Int64(names.count))
        for group in try #require(footer[4]?.list) { try read(group) }
        #expect(footer[3]?.integer == Int64(rows.count))
    }

    private mutating func read(_ group: Thrift) throws {
        groups += 1
        let count = Int(try #require(group[3]?.integer))
        var columns: [[Value?]] = []
        var stated: [ClosedRange<Int64>?] = []
        for chunk in try #require(group[1]?.list) {
            let data = try #require(chunk[3])
            let values = try column(data)
            #expect(values.count == count && data[5]?.integer == Int64(count))
            #expect(data[12]?[3]?.integer == Int64(values.count { $0 == nil }))
            columns.append(values)
            if let least = data[12]?[6]?.bytes, let greatest = data[12]?[5]?.bytes {
                stated.append(Self.integer(least, 0)...Self.integer(greatest, 0))
            } else {
                stated.append(nil)
            }
        }
        bounds.append(stated)
        for row in 0..<count { rows.append(columns.map { $0[row] }) }
    }

    /// The values of a column of a group.
    private func column(_ data: Thrift) throws -> [Value?] {
        let kind = Int(try #require(data[1]?.integer))
        var dictionary: [Value] = []
        if let place = data[11]?.integer {
            let (page, header) = try self.page(Int(place))
            dictionary = Self.plain(page[...], kind, count: Int(try #require(header[7]?[1]?.integer)))
        }
        let (page, header) = try self.page(Int(try #require(data[9]?.integer)))
        let count = Int(try #require(header[5]?[1]?.integer))
        let levels = 4 + Int(Self.littleEndian(page, 0, 4))
        let present = Self.hybrid(page[4..<levels], width: 1, count: count)
        let some = present.count { $0 == 1 }
        let values: [Value]
        switch header[5]?[2]?.integer {
        case 8:
            let indices = Self.hybrid(page[(levels + 1)...], width: Int(page[levels]), count: some)
            values = indices.map { dictionary[$0] }
        case 5: values = try Self.differences(Array(page[levels...])).map { .integer($0) }
        default: values = Self.plain(page[levels...], kind, count: some)
        }
        try #require(values.count == some)
        var next = values.makeIterator()
        return present.map { $0 == 1 ? next.next() : nil }
    }

    /// A page and its header.
    private func page(_ place: Int) throws -> (page: [UInt8], header: Thrift) {
        var at = place
        let header = try Thrift.structure(bytes, &at)
        let count = Int(try #require(header[2]?.integer))
        let compressed = Array(bytes[at..<at + Int(try #require(header[3]?.integer))])
        var page = [UInt8](repeating: 0, count: count)
        #expect(ZSTD_decompress(&page, count, compressed, compressed.count) == count)
        return (page, header)
    }

    private static func plain(_ bytes: ArraySlice<UInt8>, _ kind: Int, count: Int) -> [Value] {
        let bytes = Array(bytes)
        var at = 0
        return (0..<count).map { index in
            switch kind {
            case 0: return .boolean(bytes[index / 8] >> UInt8(index % 8) & 1 == 1)
            case 2: return .integer(integer(bytes, 8 * index))
            case 5: return .number(Double(bitPattern: UInt64(bitPattern: integer(bytes, 8 * index))))
            default:
                let length = Int(littleEndian(bytes, at, 4))
                at += 4 + length
                return .text(String(decoding: bytes[at - length..<at], as: UTF8.self))
            }
        }
    }

    /// Run lengths and packed bits.
    private static func hybrid(_ bytes: ArraySlice<UInt8>, width: Int, count: Int) -> [Int] {
        let bytes = Array(bytes)
        var at = 0
        var values: [Int] = []
        while values.count < count {
            let header = Int(Thrift.varint(bytes, &at))
            if header & 1 == 0 {
                values += Array(repeating: Int(littleEndian(bytes, at, (width + 7) / 8)), count: header >> 1)
                at += (width + 7) / 8
            } else {
                for index in 0..<8 * (header >> 1) {
                    let bits = (0..<width).map { bit in
                        let place = index * width + bit
                        return Int(bytes[at + place / 8] >> UInt8(place % 8) & 1) << bit
                    }
                    values.append(bits.reduce(0, |))
                }
                at += (header >> 1) * width
            }
        }
        return Array(values.prefix(count))
    }

    /// Integers by what each adds to the one before.
    static func differences(_ bytes: [UInt8]) throws -> [Int64] {
        var at = 0
        let block = Int(Thrift.varint(bytes, &at))
        let miniblocks = Int(Thrift.varint(bytes, &at))
        let count = Int(Thrift.varint(bytes, &at))
        try #require(block % 128 == 0 && block % miniblocks == 0 && block / miniblocks % 32 == 0)
        var values = [Thrift.zigzag(bytes, &at)]
        while values.count < count {
            let least = Thrift.zigzag(bytes, &at)
            let widths = bytes[at..<at + miniblocks].map { Int($0) }
            at += miniblocks
            for width in widths where values.count < count {
                for index in 0..<block / miniblocks {
                    let bits = (0..<width).map { bit in
                        let place = index * width + bit
                        return Int64(bytes[at + place / 8] >> UInt8(place % 8) & 1) << Int64(bit)
                    }
                    values.append(values[values.count - 1] &+ least &+ bits.reduce(0, |))
                }
                at += block / miniblocks * width / 8
            }
        }
        #expect(at == bytes.count)
        return Array(values.prefix(count))
    }

    private static func littleEndian(_ bytes: [UInt8], _ at: Int, _ count: Int) -> UInt64 {
        (0..<count).reduce(0) { $0 | UInt64(bytes[at + $1]) << (8 * UInt64($1)) }
    }

    private static func integer(_ bytes: [UInt8], _ at: Int) -> Int64 { Int64(bitPattern: littleEndian(bytes, at, 8)) }
}

/// A value in Thrift's compact protocol.
indirect enum Thrift {
    case integer(Int64)
    case bytes([UInt8])
    case list([Thrift])
    case structure([Int: Thrift])

    subscript(_ field: Int) -> Thrift? { if case .structure(let fields) = self { fields[field] } else { nil } }
    var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    var bytes: [UInt8]? { if case .bytes(let value) = self { value } else { nil } }
    var list: [Thrift]? { if case .list(let value) = self { value } else { nil } }
    var text: String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

    struct Unknown: Error {
        var kind: UInt8
    }

    static func structure(_ bytes: [UInt8], _ at: inout Int) throws -> Thrift {
        var fields: [Int: Thrift] = [:]
        var last = 0
        while true {
            let head = bytes[at]
            at += 1
            if head == 0 { return .structure(fields) }
            last = head >> 4 == 0 ? Int(zigzag(bytes, &at)) : last + Int(head >> 4)
            fields[last] = try value(head & 15, bytes, &at)
        }
    }

    private static func value(_ kind: UInt8, _ bytes: [UInt8], _ at: inout Int) throws -> Thrift {
        switch kind {
        case 1, 2: return .integer(kind == 1 ? 1 : 0)
        case 5, 6: return .integer(zigzag(bytes, &at))
        case 8:
            let length = Int(varint(bytes, &at))
            at += length
            return .bytes(Array(bytes[at - length..<at]))
        case 9:
            let head = bytes[at]
            at += 1
            let count = head >> 4 == 15 ? Int(varint(bytes, &at)) : Int(head >> 4)
            return .list(try (0..<count).map { _ in try value(head & 15, bytes, &at) })
        case 12: return try structure(bytes, &at)
        default: throw Unknown(kind: kind)
        }
    }

    static func varint(_ bytes: [UInt8], _ at: inout Int) -> UInt64 {
        var (value, shift): (UInt64, UInt64) = (0, 0)
        while true {
            let byte = bytes[at]
            at += 1
            value |= UInt64(byte & 0x7f) << shift
            shift += 7
            if byte < 0x80 { return value }
        }
    }

    static func zigzag(_ bytes: [UInt8], _ at: inout Int) -> Int64 {
        let value = varint(bytes, &at)
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }
}
