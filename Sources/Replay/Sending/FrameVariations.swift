import Framing
import Streams
import Trace

/// Values that take the place of one in a frame, each once.
package struct FrameVariations: Sendable {
    /// Where: `fields.NAME` or `body.…`.
    package let path: String
    /// The values.
    package let values: [JSONValue]

    /// Reads `fields.size=0,1,65535,-1`; nil if the text is not like that.
    package init?(_ text: String) {
        guard let equals = text.firstIndex(of: "=") else { return nil }
        path = String(text[..<equals])
        guard path.hasPrefix("fields.") || path.hasPrefix("body.") else { return nil }
        values = Self.values(text[text.index(after: equals)...], areTexts: path == "body.text" || path == "body.hex")
    }

    /// What commas separate: JSON, which may have commas of its own, or text.
    ///
    /// - Parameter areTexts: whether a number is its digits.
    private static func values(_ text: Substring, areTexts: Bool) -> [JSONValue] {
        func parsed(_ text: Substring) -> JSONValue? {
            guard let value = try? JSONValue(parsing: Array(text.utf8).span.bytes) else { return nil }
            return areTexts && value.string == nil ? nil : value
        }
        var values: [JSONValue] = []
        var rest = text
        while true {
            var end = rest.firstIndex(of: ",") ?? rest.endIndex
            var value = parsed(rest[..<end])
            // The commas of a text, a list or an object; if there is no end of it, it is text up to the first one.
            if value == nil, let first = rest.first, "\"[{".contains(first) {
                var longer = end
                while value == nil, longer < rest.endIndex {
                    longer = rest[rest.index(after: longer)...].firstIndex(of: ",") ?? rest.endIndex
                    value = parsed(rest[..<longer])
                }
                if value != nil { end = longer }
            }
            values.append(value ?? .text(String(rest[..<end])))
            if end == rest.endIndex { return values }
            rest = rest[rest.index(after: end)...]
        }
    }

    /// A frame's bytes with one of the values.
    ///
    /// A field is overwritten where it is, so that a length or a checksum may be wrong; everything that follows from a body is
    /// computed from the new one.
    package func bytes(
        of line: JSONValue, with value: JSONValue, _ format: Format, from direction: Direction = .fromClient
    ) throws(EncodingError) -> [UInt8] {
        let names = path.split(separator: ".").map(String.init)
        if names[0] == "body" {
            return try Self.encode(line.setting(names[...], to: value), format, from: direction)
        }
        let bytes = try Self.encode(line, format, from: direction)
        let name = names.dropFirst().joined(separator: ".")
        guard let shape = ShapeReading.shape(of: bytes, format, direction) else {
            throw EncodingError("the frame is none that the format can take apart, so that \(path) has no place in it")
        }
        let side = format.directions[direction]
        let edited = try side.withEditableContent(of: bytes, shape) { content, shape throws(EncodingError) in
            // A negative number in a field without a sign has the bits that C would give it.
            var number = value.fieldValue
            if case .integer(let negative) = number, negative < 0,
                let width = side.place(ofField: name, in: content, shape)?.count, width < 8,
                side.field(name, of: content, shape)?.isInteger ?? false
            {
                let signed = try? side.edit(content, shape, changes: [Field(name, number)], body: nil, isRaw: true)
                if let signed { return signed }
                number = .integer((1 << Int64(8 * width)) + negative)
            }
            return try side.edit(content, shape, changes: [Field(name, number)], body: nil, isRaw: true)
        }
        return edited
    }

    /// A frame's bytes.
    package static func encode(
        _ line: JSONValue, _ format: Format, from direction: Direction = .fromClient
    ) throws(EncodingError) -> [UInt8] {
        guard let frame = try FrameLine(parsing: Array(line.compactText.utf8).span.bytes) else { return [] }
        return try format.encode(frame, from: direction)
    }
}

extension DirectionFormat {
    fileprivate func withEditableContent(
        of bytes: [UInt8], _ shape: FrameShape, _ use: (RawSpan, FrameShape) throws(EncodingError) -> [UInt8]
    ) throws(EncodingError) -> [UInt8] {
        guard let content = rule.content(of: bytes.span.bytes, shape) else { return try use(bytes.span.bytes, shape) }
        return try use(content.bytes.span.bytes, content.shape)
    }
}

extension FieldValue {
    fileprivate var isInteger: Bool {
        switch self {
        case .integer, .unsigned: true
        default: false
        }
    }
}

extension JSONValue {
    fileprivate var fieldValue: FieldValue { scalar ?? .json(compactText) }
}

/// Finds the shape of one frame.
private final class ShapeReading: FrameReceiver {
    private var shape: FrameShape?

    static func shape(of bytes: [UInt8], _ format: Format, _ direction: Direction) -> FrameShape? {
        let reading = ShapeReading()
        var framer = Framer(rule: format.directions[direction].rule, direction: direction, aligned: true)
        framer.receive(
            bytes.span.bytes, at: Timestamp(nanoseconds: 0), packet: 0, scratch: FramingScratch(), into: reading)
        return reading.shape?.total == bytes.count ? reading.shape : nil
    }

    func framed(_ frame: FrameInfo, bytes: RawSpan, from direction: Direction) { shape = shape ?? frame.shape }

    func unframed(_ run: UnframedRun, from direction: Direction) {}

    func missing(offset: Int, byteCount: Int, from direction: Direction, at time: Timestamp) {}
}
