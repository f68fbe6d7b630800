import Framing
import Streams

/// The parts of a frame's bytes by name, so that a cut can be said in the words of its format.
struct FrameAnatomy: Sendable {
    /// A part.
    struct Part: Hashable, Sendable {
        enum Kind: String, Hashable, Sendable { case field, head, body, delimiter, frame }

        var kind: Kind
        /// The kind; that of what is around it for a field.
        var area: Kind
        /// The field's name, or the kind.
        var name: String
        var range: Range<Int>
        /// Whether it is a field that is not text, whatever its bytes look like.
        var isBinary = false
    }

    /// The parts, one after the other; together they are the frame.
    let parts: [Part]
    private let bytes: [UInt8]

    /// A frame whose parts are not known.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        parts = [Part(kind: .frame, area: .frame, name: "frame", range: 0..<bytes.count)]
    }

    init(_ bytes: [UInt8], _ shape: FrameShape, _ format: DirectionFormat) {
        self.bytes = bytes
        guard !format.rule.transforms, shape.total == bytes.count else {
            parts = [Part(kind: .frame, area: .frame, name: "frame", range: 0..<bytes.count)]
            return
        }
        let content = bytes.span.bytes
        var fields: [Part] = []
        for field in format.fields(of: content, shape) {
            guard var range = format.place(ofField: field.name, in: content, shape), !range.isEmpty else { continue }
            // A text's quotes are the head's.
            if format.layouts[shape.layout].head is JSONHead, range.count > 2, bytes[range.lowerBound] == 0x22 {
                range = range.lowerBound + 1..<range.upperBound - 1
            }
            let isBinary = format.isBinary(field: field.name, in: content, shape)
            fields.append(
                Part(kind: .field, area: .field, name: field.name, range: range, isBinary: isBinary))
        }
        fields.sort { $0.range.lowerBound < $1.range.lowerBound }
        let body = shape.head..<shape.head + shape.body
        // The line ends after a head of text are its delimiter.
        var headEnd = shape.head
        let lastField = fields.last { $0.range.upperBound <= shape.head }?.range.upperBound ?? 0
        while headEnd > lastField, [0x0a, 0x0d].contains(bytes[headEnd - 1]) { headEnd -= 1 }
        let areas = [
            Part(kind: .head, area: .head, name: "head", range: 0..<headEnd),
            Part(kind: .delimiter, area: .delimiter, name: "delimiter", range: headEnd..<shape.head),
            Part(kind: .body, area: .body, name: "body", range: body),
            Part(kind: .delimiter, area: .delimiter, name: "delimiter", range: body.upperBound..<bytes.count),
        ]
        var parts: [Part] = []
        for area in areas {
            var start = area.range.lowerBound
            for field in fields where area.range.contains(field.range.lowerBound) && field.range.lowerBound >= start {
                guard area.kind != .body, field.range.upperBound <= area.range.upperBound else { continue }
                if start < field.range.lowerBound {
                    parts.append(
                        Part(kind: area.kind, area: area.kind, name: area.name, range: start..<field.range.lowerBound))
                }
                var field = field
                field.area = area.kind
                parts.append(field)
                start = field.range.upperBound
            }
            if start < area.range.upperBound {
                parts.append(
                    Part(kind: area.kind, area: area.kind, name: area.name, range: start..<area.range.upperBound))
            }
        }
        self.parts = parts
    }

    var byteCount: Int { bytes.count }

    /// The part that a cut splits, or before which it is.
    func part(at offset: Int) -> Part? { parts.first { $0.range.contains(offset) } }

    /// The part of the frame that a cut splits: its head, body, delimiter; nil if it is between two of them.
    func area(at offset: Int) -> String? {
        guard offset > 0, let place = parts.firstIndex(where: { $0.range.contains(offset) }) else { return nil }
        let before = offset == parts[place].range.lowerBound && place > 0 ? parts[place - 1].area : parts[place].area
        return before == parts[place].area && before != .frame ? before.rawValue : nil
    }

    /// Where a cut is, after the words "breaks where": `size` of frame 3 (`img`) is split after its 2nd digit.
    func text(at offset: Int, of frame: String) -> String {
        guard let part = part(at: offset) else { return "\(frame) is split after its last byte" }
        let name = part.kind == .field ? "`\(part.name)`" : "the \(part.name)"
        let inside = offset - part.range.lowerBound
        if inside == 0 { return "\(frame) is split before \(name)" }
        let place = "\(part.kind == .frame ? frame : "\(name) of \(frame)") is split"
        if !part.isBinary, let width = character(at: offset, in: part.range) {
            return "\(place) inside a character of \(width) bytes"
        }
        return "\(place) after its \(Self.ordinal(inside)) \(unit(of: part))"
    }

    private func unit(of part: Part) -> String {
        guard part.kind == .field, !part.isBinary else { return "byte" }
        let bytes = bytes[part.range]
        if bytes.allSatisfy({ $0 >= 0x30 && $0 < 0x3a }) { return "digit" }
        if bytes.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) { return "character" }
        return "byte"
    }

    /// The width of the character (RFC 3629) that a cut splits; nil if it splits none.
    private func character(at offset: Int, in range: Range<Int>) -> Int? {
        guard bytes[offset] & 0xc0 == 0x80 else { return nil }
        var start = offset
        while start > range.lowerBound, bytes[start] & 0xc0 == 0x80 { start -= 1 }
        let width = (~bytes[start]).leadingZeroBitCount
        guard (2...4).contains(width), start + width > offset, start + width <= range.upperBound else { return nil }
        return String(validating: bytes[start..<start + width], as: UTF8.self) == nil ? nil : width
    }

    static func ordinal(_ number: Int) -> String {
        switch (number % 10, number % 100) {
        case (1, let tens) where tens != 11: "\(number)st"
        case (2, let tens) where tens != 12: "\(number)nd"
        case (3, let tens) where tens != 13: "\(number)rd"
        default: "\(number)th"
        }
    }
}

extension FrameAnatomy {
    /// The most places at which one frame is cut.
    static let mostPlaces = 4096

    /// The places at which the frame is cut: all, or for a large one those near its ends and at its parts' bounds, and others spread
    /// evenly.
    var places: [Int] {
        let count = bytes.count
        if count <= Self.mostPlaces { return Array(1..<max(1, count)) }
        let part = Self.mostPlaces / 4
        var places = Set(1...part).union(count - part..<count)
        let step = max(1, count / (2 * part))
        places.formUnion(stride(from: part, to: count - part, by: step))
        for part in parts { places.formUnion([part.range.lowerBound, part.range.upperBound]) }
        return places.filter { 0 < $0 && $0 < count }.sorted()
    }

    /// The places at and inside each part.
    var partPlaces: [Int] {
        var places: Set<Int> = []
        for part in parts {
            places.formUnion([part.range.lowerBound, part.range.upperBound])
            if part.range.count > 1 { places.insert(part.range.lowerBound + part.range.count / 2) }
        }
        for part in parts where part.kind == .body && part.range.count <= Self.mostPlaces {
            places.formUnion(part.range.filter { bytes[$0] & 0xc0 == 0x80 })
        }
        return places.filter { 0 < $0 && $0 < bytes.count }.sorted()
    }

    /// The places at which receive loops most often break: at and inside each part, but not inside every character.
    var tellingPlaces: [Int] { Set(partPlaces.prefix(64)).union(unfinished).sorted() }

    /// The places of unfinished frames after whole ones: one byte, in its head, at its body, in the middle, before its last byte.
    var unfinished: [Int] {
        let head = parts.first { $0.kind == .body }?.range.lowerBound ?? 0
        let places = Set([1, head / 2, head, bytes.count / 2, bytes.count - 1])
        return places.filter { 0 < $0 && $0 < bytes.count }.sorted()
    }
}

/// Finds the parts of the frames of one direction of a stream.
final class AnatomyReading: FrameReceiver {
    private let format: DirectionFormat
    private var anatomies: [Int: FrameAnatomy] = [:]

    private init(_ format: DirectionFormat) { self.format = format }

    /// The parts of each message of a stream, in order.
    static func anatomies(of messages: [[UInt8]], _ format: Format, from direction: Direction) -> [FrameAnatomy] {
        let reading = AnatomyReading(format.directions[direction])
        var framer = Framer(rule: reading.format.rule, direction: direction, aligned: true)
        let scratch = FramingScratch()
        for bytes in messages {
            framer.receive(bytes.span.bytes, at: Timestamp(nanoseconds: 0), packet: 0, scratch: scratch, into: reading)
        }
        var start = 0
        return messages.map { bytes in
            defer { start += bytes.count }
            guard let anatomy = reading.anatomies[start], anatomy.parts.last?.range.upperBound == bytes.count else {
                return FrameAnatomy(bytes)
            }
            return anatomy
        }
    }

    func framed(_ frame: FrameInfo, bytes: RawSpan, from direction: Direction) {
        guard frame.streamed == 0 else { return }
        anatomies[frame.offset] = FrameAnatomy(bytes.copied(0..<bytes.byteCount), frame.shape, format)
    }

    func unframed(_ run: UnframedRun, from direction: Direction) {}

    func missing(offset: Int, byteCount: Int, from direction: Direction, at time: Timestamp) {}
}
