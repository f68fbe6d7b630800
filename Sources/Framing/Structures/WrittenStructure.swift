import Streams

/// The bytes of a header that was read, item by item: where it is written again, what is still the same keeps them.
///
/// Values do not say all: 007 is 7, a varint may be longer than it must be, and words have spaces between them and one of several
/// ends after them.
struct WrittenStructure: StructureVisitor {
    static var wantsValues: Bool { false }
    static var wantsPieces: Bool { true }

    private let bytes: [UInt8]
    private var places: [[Int]: Range<Int>] = [:]

    init(_ structure: Structure, _ head: RawSpan) {
        bytes = head.copied()
        var walk = StructureWalk()
        _ = walk.go(structure, head, end: head.byteCount, &self)
    }

    mutating func begin(_ name: String, isList: Bool, isFlat: Bool) {}
    mutating func end() {}
    mutating func value(_ name: String, _ value: FieldValue, _ item: Structure.Item, _ place: Range<Int>) {}
    mutating func literal(_ place: Range<Int>) {}
    mutating func piece(_ path: [Int], _ place: Range<Int>) { if !place.isEmpty { places[path] = place } }

    /// The bytes of an item, with the size before it and the end after it; of a list or a group those before its items. Nil if it
    /// was not there.
    subscript(path: [Int]) -> [UInt8]? { places[path].map { Array(bytes[$0]) } }

    /// Which of several ends occurs; nil if none does.
    func end(of ends: [[UInt8]]) -> [UInt8]? { ends.first { bytes.span.bytes.firstRange(of: $0, from: 0) != nil } }
}

extension [[UInt8]] {
    /// The first of these with which bytes end.
    func ending(_ bytes: [UInt8]) -> [UInt8]? { first { bytes.suffix($0.count).elementsEqual($0) } }
}
