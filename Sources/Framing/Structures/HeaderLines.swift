import Streams

/// Lines of a name and a value up to an empty line: the header fields of HTTP (RFC 9112 section 5), SIP, RTSP, STOMP, SMTP.
///
/// Names are compared in lower case, and shown as written. A line that starts with a space continues the value before it
/// (RFC 5322 section 2.2.3). A name that occurs several times has a list of values.
struct HeaderLines: Sendable {
    /// What ends a line, longest first.
    var ends: [[UInt8]]
    /// Between name and value.
    var separator: UInt8
    /// Whether a space after the separator is usual, and does not belong to the value.
    var hasSpace: Bool
    /// The most bytes, the empty line included.
    var most: Int

    /// A line: its name and its value, continuations included.
    struct Line {
        var name: String
        /// Where its value is; nil if the line has no separator, which some senders' lines do not have.
        var value: Range<Int>?
    }

    /// Where the lines end, the empty one included; nil if it is not available yet.
    ///
    /// - Parameter searched: an index before which no line ends; moved as far as this call looked.
    func end(in bytes: RawSpan, from start: Int, searched: inout Int) -> Int? {
        var line = max(start, searched)
        while let end = bytes.firstEnd(of: ends, from: line) {
            if end.lowerBound == line { return end.upperBound }
            line = end.upperBound
            searched = line
        }
        return nil
    }

    /// The lines of a header that ends with an empty line; nil if one of them has no name.
    func lines(_ bytes: RawSpan) -> [Line]? {
        var lines: [Line] = []
        var start = 0
        while start < bytes.byteCount, let end = bytes.firstEnd(of: ends, from: start) {
            defer { start = end.upperBound }
            if end.lowerBound == start { break }
            let first = bytes[byte: start]
            if first == 0x20 || first == 0x09, let before = lines.last?.value {
                lines[lines.count - 1].value = before.lowerBound..<end.lowerBound
                continue
            }
            let line = bytes.extracting(start..<end.lowerBound)
            let colon = line.firstRange(of: [separator], from: 0)
            guard colon != 0, case .text(let name) = WordLine.text(line.extracting(0..<(colon ?? line.byteCount))),
                line.extracting(0..<(colon ?? line.byteCount)).isPrintable
            else { return nil }
            guard let colon else {
                lines.append(Line(name: name, value: nil))
                continue
            }
            var value = start + colon + 1..<end.lowerBound
            if hasSpace, !value.isEmpty, bytes[byte: value.lowerBound] == 0x20 {
                value = value.lowerBound + 1..<value.upperBound
            }
            lines.append(Line(name: name, value: value))
        }
        return lines
    }

    /// The values by name, in the order of their first lines; those of equal names as a list.
    func read(_ bytes: RawSpan) -> [Field]? {
        guard let lines = lines(bytes) else { return nil }
        var fields: [(field: Field, values: [FieldValue])] = []
        var places: [String: Int] = [:]
        for line in lines {
            let value = line.value.map { WordLine.text(bytes.extracting($0)) } ?? .null
            if let known = places[line.name.lowercased()] {
                fields[known].values.append(value)
            } else {
                places[line.name.lowercased()] = fields.count
                fields.append((Field(line.name, value), [value]))
            }
        }
        return fields.map { field, values in
            guard values.count > 1 else { return field }
            var list: [UInt8] = []
            JSONValue.array(values.map { JSONValue($0) }).write(into: &list)
            return Field(field.name, .json(String(decoding: list, as: UTF8.self)))
        }
    }

    /// The values as conditions read them: by their names in lower case, the first of several, without spaces around them.
    static func plain(_ fields: [Field]) -> [(name: String, value: FieldValue)] {
        fields.map { field in
            var value = field.value
            if case .json(let text) = value, case .array(let values) = JSONValue(compact: Array(text.utf8).span.bytes) {
                value = values.first?.scalar ?? .null
            }
            if case .text(let text) = value { value = .text(text.trimmed) }
            return (field.name.lowercased().trimmed, value)
        }
    }

    /// The bytes of these lines, the empty one included.
    func write(_ fields: [Field]) throws(EncodingError) -> [UInt8] {
        var bytes: [UInt8] = []
        let end = ends.first ?? []
        func put(_ name: String, _ value: JSONValue) throws(EncodingError) {
            if value == .null {
                bytes += Array(name.utf8) + end
                return
            }
            guard let text = value.plainText else {
                throw EncodingError("the header line \(name) should be text, or a list of texts")
            }
            bytes += Array(name.utf8) + [separator] + (hasSpace ? [0x20] : []) + Array(text.utf8) + end
        }
        for field in fields {
            let value = JSONValue(field.value)
            if case .array(let values) = value {
                for value in values { try put(field.name, value) }
            } else {
                try put(field.name, value)
            }
        }
        return bytes + end
    }
}

extension String {
    /// Without spaces and tabs at both ends.
    var trimmed: String {
        let bytes = Array(utf8)
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        let inside = bytes.drop(while: isSpace)
        let end = inside.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? inside.startIndex
        return String(decoding: inside[..<end], as: UTF8.self)
    }
}
