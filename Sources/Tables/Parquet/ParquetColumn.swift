/// A column of a Parquet file. All may have nulls.
struct ParquetColumn: Hashable, Sendable {
    /// What its values are.
    enum Kind: Sendable {
        case boolean
        /// 64 bits with a sign.
        case integer
        /// Microseconds since 1970, UTC.
        case timestamp
        /// A double.
        case number
        /// UTF-8.
        case text
        /// UTF-8 of few distinct values in a group of rows: each is stored once.
        case name

        var isText: Bool { self == .text || self == .name }
    }

    var name: String
    var kind: Kind
}

/// Numbers that mean something in a Parquet file.
///
/// Source: `parquet.thrift` of the Apache Parquet format.
enum ParquetCode {
    /// How values are stored.
    enum Physical {
        static let boolean = 0
        static let int64 = 2
        static let double = 5
        static let byteArray = 6
    }

    /// What they mean, for old readers.
    enum Converted {
        static let utf8 = 0
        static let timestampMicroseconds = 10
    }

    enum Encoding {
        static let plain = 0
        static let runLength = 3
        static let delta = 5
        static let dictionary = 8
    }

    enum Page {
        static let data = 0
        static let dictionary = 2
    }

    static let optional = 1
    static let zstd = 6
    static let version = 1
    static let magic = Array("PAR1".utf8)
}

extension ParquetColumn.Kind {
    var physical: Int {
        switch self {
        case .boolean: ParquetCode.Physical.boolean
        case .integer, .timestamp: ParquetCode.Physical.int64
        case .number: ParquetCode.Physical.double
        case .text, .name: ParquetCode.Physical.byteArray
        }
    }

    var converted: Int? {
        switch self {
        case .boolean, .integer, .number: nil
        case .timestamp: ParquetCode.Converted.timestampMicroseconds
        case .text, .name: ParquetCode.Converted.utf8
        }
    }
}
