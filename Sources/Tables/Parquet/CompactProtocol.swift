import Streams

/// Writes structures in Thrift's compact protocol, as Parquet's page headers and footer are.
///
/// Source: `thrift-compact-protocol.md` of the Apache Thrift project.
struct CompactProtocol {
    private(set) var bytes: [UInt8] = []
    /// The field written last of the structure at hand: numbers of fields are written as differences.
    private var last = 0

    private enum Kind: UInt8 {
        case yes = 1
        case no = 2
        case int32 = 5
        case int64 = 6
        case binary = 8
        case list = 9
        case structure = 12
    }

    /// The bytes of a structure.
    static func bytes(of content: (inout CompactProtocol) -> Void) -> [UInt8] {
        var writer = CompactProtocol()
        content(&writer)
        writer.bytes.append(0)
        return writer.bytes
    }

    mutating func int32(_ field: Int, _ value: Int) {
        begin(field, .int32)
        bytes.append(signed: Int64(value))
    }

    mutating func int64(_ field: Int, _ value: Int) {
        begin(field, .int64)
        bytes.append(signed: Int64(value))
    }

    mutating func boolean(_ field: Int, _ value: Bool) { begin(field, value ? .yes : .no) }

    mutating func binary(_ field: Int, _ value: some Collection<UInt8>) {
        begin(field, .binary)
        put(value)
    }

    mutating func structure(_ field: Int, _ content: (inout CompactProtocol) -> Void) {
        begin(field, .structure)
        nested(content)
    }

    mutating func structures<Element>(
        _ field: Int, _ elements: [Element], _ content: (Element, inout CompactProtocol) -> Void
    ) {
        beginList(field, .structure, elements.count)
        for element in elements { nested { content(element, &$0) } }
    }

    mutating func int32s(_ field: Int, _ values: [Int]) {
        beginList(field, .int32, values.count)
        for value in values { bytes.append(signed: Int64(value)) }
    }

    mutating func binaries(_ field: Int, _ values: [String]) {
        beginList(field, .binary, values.count)
        for value in values { put(value.utf8) }
    }

    // MARK: Parts

    private mutating func begin(_ field: Int, _ kind: Kind) {
        let difference = field - last
        if 1...15 ~= difference {
            bytes.append(UInt8(difference) << 4 | kind.rawValue)
        } else {
            bytes.append(kind.rawValue)
            bytes.append(signed: Int64(field))
        }
        last = field
    }

    private mutating func beginList(_ field: Int, _ kind: Kind, _ count: Int) {
        begin(field, .list)
        if count < 15 {
            bytes.append(UInt8(count) << 4 | kind.rawValue)
        } else {
            bytes.append(0xf0 | kind.rawValue)
            bytes.append(varint: UInt64(count))
        }
    }

    private mutating func nested(_ content: (inout CompactProtocol) -> Void) {
        let outer = last
        last = 0
        content(&self)
        bytes.append(0)
        last = outer
    }

    private mutating func put(_ value: some Collection<UInt8>) {
        bytes.append(varint: UInt64(value.count))
        bytes.append(contentsOf: value)
    }
}
