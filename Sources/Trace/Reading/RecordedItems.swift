import Framing
import Streams

/// The items of a connection, in the order of the trace.
///
/// A trace may have millions of frames. So each is kept as a record of 56 bytes, and its fields and its body as the JSON of its
/// line, once for all frames that say the same; an item is made of them whenever you read one. To look at an item several times,
/// keep it.
public struct RecordedItems: Sendable {
    /// What frames of a list have in common with many others.
    package struct Kind: Hashable, Sendable {
        /// The connection's number.
        package var connection: Int
        /// Which leg of it.
        package var leg: Leg?
        /// Who sent it.
        package var from: Direction
        /// Whether it shared a chunk with another.
        package var merged: Bool
        /// Whether it is a heartbeat.
        package var isHeartbeat: Bool
        /// Its type.
        package var type: String?

        /// Types with other bytes are others, even where Unicode calls them equivalent.
        package static func == (left: Kind, right: Kind) -> Bool {
            left.type == right.type && left.from == right.from && left.merged == right.merged
                && left.isHeartbeat == right.isHeartbeat && left.connection == right.connection && left.leg == right.leg
                && (left.type ?? "").utf8.elementsEqual((right.type ?? "").utf8)
        }
    }

    /// A frame; or a run, which `index` is the place of.
    private struct Record {
        var time: Timestamp
        var started: Timestamp
        var offset: Int
        var length: Int
        var index: Int
        /// 4,294,967,295 also stands for more.
        var segments: UInt32
        var content: Content

        static let run = Content(kind: .max, fields: 0, body: 0)
    }

    /// What a frame says, as numbers of its list.
    package struct Content: Hashable, Sendable {
        /// The number of its kind in `kinds`.
        package var kind: UInt32
        /// The number of its fields in `texts`.
        package var fields: UInt32
        /// The number of its body in `texts`.
        package var body: UInt32

        /// These numbers.
        package init(kind: UInt32, fields: UInt32, body: UInt32) {
            (self.kind, self.fields, self.body) = (kind, fields, body)
        }
    }

    private var records: [Record] = []
    /// The items that are not frames.
    private var runs: [RecordedItem] = []
    /// The kinds of its frames.
    package private(set) var kinds: [Kind] = []
    /// The fields and bodies of its frames, as JSON.
    package private(set) var texts = TextPool()
    /// Where kinds are that are not among the first.
    private var laterKinds: [Kind: UInt32] = [:]

    /// No items.
    public init() {}

    // MARK: Adding

    /// Adds a frame that a sink received, with its secrets redacted.
    ///
    /// - Parameters:
    ///   - bytes: the bytes that the sink received with it.
    ///   - connection: its connection; without a format, it has no frames.
    ///   - bodyLimit: at most how many bytes of the decoded body are kept.
    ///   - scratch: memory that is used again.
    package mutating func append(
        _ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection, bodyLimit: Int, scratch: inout [UInt8]
    ) {
        guard let kinds = connection.kinds(of: frame.direction) else { return }
        scratch.removeAll(keepingCapacity: true)
        let split = FrameContent.write(frame, bytes, kinds, bodyLimit: bodyLimit, separator: "", into: &scratch)
        let info = frame.info
        let kind = Kind(
            connection: connection.number, leg: connection.leg, from: frame.direction, merged: info.merged,
            isHeartbeat: frame.isHeartbeat, type: kinds.type(of: frame, bytes))
        records.append(
            Record(
                time: info.time, started: info.started, offset: info.offset, length: info.length, index: info.index,
                segments: UInt32(clamping: info.segments),
                content: Content(
                    kind: number(of: kind),
                    fields: UInt32(texts.number(of: scratch.span.bytes.extracting(0..<split))),
                    body: UInt32(texts.number(of: scratch.span.bytes.extracting(split..<scratch.count))))))
    }

    private mutating func record(_ item: RecordedItem) -> Record {
        guard case .frame(let frame) = item else {
            runs.append(item)
            return Record(
                time: item.time, started: item.time, offset: 0, length: 0, index: runs.count - 1, segments: 0,
                content: Record.run)
        }
        let kind = Kind(
            connection: frame.connection, leg: frame.leg, from: frame.from, merged: frame.merged,
            isHeartbeat: frame.isHeartbeat, type: frame.type)
        return Record(
            time: frame.time, started: frame.started, offset: frame.offset, length: frame.length, index: frame.index,
            segments: UInt32(clamping: frame.segments),
            content: Content(
                kind: number(of: kind), fields: number(of: frame.fields), body: number(of: frame.body)))
    }

    private mutating func number(of value: JSONValue) -> UInt32 {
        var text: [UInt8] = []
        value.write(into: &text)
        return UInt32(texts.number(of: text.span.bytes))
    }

    /// Most connections have few kinds, and comparing these is quicker than hashing.
    private static let fewKinds = 8

    private mutating func number(of kind: Kind) -> UInt32 {
        for number in kinds.indices.prefix(Self.fewKinds) where kinds[number] == kind { return UInt32(number) }
        if let known = laterKinds[kind] { return known }
        let number = UInt32(kinds.count)
        if kinds.count >= Self.fewKinds { laterKinds[kind] = number }
        kinds.append(kind)
        return number
    }

    /// Takes no more memory than the items need; adding more of them takes longer once.
    package mutating func compact() {
        records = records.fitted
        texts.compact()
    }

    // MARK: Reading without making items

    /// Whether any items are not frames.
    package var hasRuns: Bool { !runs.isEmpty }

    /// What the frame at a place says; nil if the item is none.
    package func content(at place: Int) -> Content? {
        let content = records[place].content
        return content == Record.run ? nil : content
    }

    /// When the last byte of the item at a place was seen.
    package func time(at place: Int) -> Timestamp { records[place].time }

    /// Who sent the item at a place.
    package func from(at place: Int) -> Direction {
        let record = records[place]
        return record.content == Record.run ? runs[record.index].from : kinds[Int(record.content.kind)].from
    }

    /// Whether the item at a place is a heartbeat.
    package func isHeartbeat(at place: Int) -> Bool {
        content(at: place).map { kinds[Int($0.kind)].isHeartbeat } ?? false
    }

    /// The items at the places that are chosen.
    package func filtered(_ isChosen: (Int) -> Bool) -> RecordedItems {
        indices.allSatisfy(isChosen) ? self : selecting(indices.filter(isChosen))
    }

    /// The items at these places, in their order.
    package func selecting(_ places: [Int]) -> RecordedItems {
        var selected = self
        selected.records = places.map { records[$0] }
        return selected
    }
}

extension RecordedItems: RandomAccessCollection, MutableCollection, RangeReplaceableCollection {
    /// The first item's place: 0.
    public var startIndex: Int { 0 }
    /// How many items there are.
    public var endIndex: Int { records.count }

    /// The item at a place.
    public subscript(place: Int) -> RecordedItem {
        get {
            let record = records[place]
            if record.content == Record.run { return runs[record.index] }
            let kind = kinds[Int(record.content.kind)]
            return .frame(
                FrameEvent(
                    connection: kind.connection, leg: kind.leg, from: kind.from, index: record.index,
                    time: record.time, started: record.started, offset: record.offset, length: record.length,
                    segments: Int(record.segments), merged: kind.merged, type: kind.type,
                    isHeartbeat: kind.isHeartbeat,
                    fields: texts.with(Int(record.content.fields)) { JSONValue(compact: $0) },
                    body: texts.with(Int(record.content.body)) { JSONValue(compact: $0) }))
        }
        set { records[place] = record(newValue) }
    }

    /// Adds an item.
    public mutating func append(_ item: RecordedItem) { records.append(record(item)) }

    /// Replaces items.
    public mutating func replaceSubrange(_ places: Range<Int>, with items: some Collection<RecordedItem>) {
        var new: [Record] = []
        for item in items { new.append(record(item)) }
        records.replaceSubrange(places, with: new)
    }
}

extension RecordedItems: Equatable {
    /// Whether the items are the same, in the same order.
    public static func == (left: RecordedItems, right: RecordedItems) -> Bool { left.elementsEqual(right) }
}

extension RecordedItems: ExpressibleByArrayLiteral {
    /// These items.
    public init(arrayLiteral items: RecordedItem...) { self.init(items) }
}
