import Streams

/// Lines of a name and a value up to an empty line: the header fields of HTTP (RFC 9112 section 5), SIP, RTSP, STOMP, SMTP.
///
/// Names are compared in lower case, and shown as written. A line that starts with a space continues the value before it
/// (RFC 5322 section 2.2.3). A name that occurs several times has a list of values.
struct HeaderLines: Sendable, Equatable {
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
        /// Where all of it is, its end included.
        var place: Range<Int>
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

    /// Visits the lines of a header that ends with an empty line.
    ///
    /// - Parameter visit: takes where a line's name is, its value (nil without a separator), all of it, and whether it continues the
    ///   value of the line before it.
    /// - Returns: false if a line has no name.
    private func visit(
        _ bytes: RawSpan,
        _ visit: (_ name: Range<Int>, _ value: Range<Int>?, _ place: Range<Int>, _ continues: Bool) -> Void
    ) -> Bool {
        var start = 0
        var hasValue = false
        while start < bytes.byteCount, let end = bytes.firstEnd(of: ends, from: start) {
            defer { start = end.upperBound }
            if end.lowerBound == start { break }
            let first = bytes[byte: start]
            let place = start..<end.upperBound
            if first == 0x20 || first == 0x09, hasValue {
                visit(start..<start, start..<end.lowerBound, place, true)
                continue
            }
            let colon = bytes.extracting(0..<end.lowerBound).firstIndex(of: separator, from: start)
            let name = start..<(colon ?? end.lowerBound)
            guard !name.isEmpty, bytes.extracting(name).isPrintable else { return false }
            var value = colon.map { $0 + 1..<end.lowerBound }
            if hasSpace, let found = value, !found.isEmpty, bytes[byte: found.lowerBound] == 0x20 {
                value = found.lowerBound + 1..<found.upperBound
            }
            visit(name, value, place, false)
            hasValue = value != nil
        }
        return true
    }

    /// Whether all lines of a header that ends with an empty line have a name.
    func areValid(_ bytes: RawSpan) -> Bool { visit(bytes) { _, _, _, _ in } }

    /// The lines of a header that ends with an empty line; nil if one of them has no name.
    func lines(_ bytes: RawSpan) -> [Line]? {
        var lines: [Line] = []
        let areValid = visit(bytes) { name, value, place, continues in
            if continues, let last = lines.last, let begun = last.value, let value {
                lines[lines.count - 1].value = begun.lowerBound..<value.upperBound
                lines[lines.count - 1].place = last.place.lowerBound..<place.upperBound
            } else {
                let text = bytes.extracting(name).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
                lines.append(Line(name: text, value: value, place: place))
            }
        }
        return areValid ? lines : nil
    }

    /// Whether a line of this name, in lower case, may be among lines, as far as a quick check can tell.
    func mayHaveLine(named key: String, in bytes: RawSpan) -> Bool {
        let key = Array(key.utf8)
        guard key.allSatisfy({ $0 < 0x80 }) else { return true }
        var mayHave = false
        let areValid = visit(bytes) { name, _, _, continues in
            guard !mayHave, !continues else { return }
            var start = name.lowerBound
            while start < name.upperBound, bytes[byte: start] == 0x20 || bytes[byte: start] == 0x09 { start += 1 }
            // The lower case of other letters may be in ASCII, such as that of U+212A.
            for at in start..<name.upperBound where bytes[byte: at] >= 0x80 { mayHave = true }
            guard name.upperBound - start >= key.count else { return }
            for (index, byte) in key.enumerated() where bytes[byte: start + index].lowercased != byte { return }
            mayHave = true
        }
        return mayHave || !areValid
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
    func write(_ fields: [Field], end: [UInt8]) throws(EncodingError) -> [UInt8] {
        var bytes: [UInt8] = []
        for field in fields {
            let value = JSONValue(field.value)
            if case .array(let values) = value {
                for value in values { bytes += try line(field.name, value) + end }
            } else {
                bytes += try line(field.name, value) + end
            }
        }
        return bytes + end
    }

    /// The bytes of lines that are rewritten, the empty one included. One that is the same keeps its bytes, one with another
    /// value all but that. If no line comes or goes, they keep their order.
    ///
    /// - Parameter end: how other lines end.
    func rewrite(_ old: [UInt8], _ fields: [Field], end: [UInt8]) throws(EncodingError) -> [UInt8] {
        let known = (lines(old.span.bytes) ?? []).map { OldLine($0, in: old) }
        // By name: where lines are that are not used yet, the first one last; and how the first is written.
        var places: [String: [Int]] = [:]
        var firstNames: [String: String] = [:]
        for (place, line) in known.enumerated().reversed() {
            places[line.key, default: []].append(place)
            firstNames[line.key] = line.line.name
        }
        var written: [(place: Int?, bytes: [UInt8])] = []
        for field in fields {
            let value = JSONValue(field.value)
            var values = [value]
            if case .array(let several) = value { values = several }
            // Lines of one name are shown with the name of the first.
            let key = field.name.lowercased()
            let isRenamed = firstNames[key] != field.name
            for value in values {
                guard let place = places[key]?.popLast() else {
                    written.append((nil, try line(field.name, value) + end))
                    continue
                }
                let name = isRenamed ? field.name : known[place].line.name
                written.append((place, try line(name, value, like: known[place], in: old)))
            }
        }
        var names: Set<String> = []
        let order = known.map(\.key).filter { names.insert($0).inserted }
        if places.values.allSatisfy(\.isEmpty), written.count == known.count,
            order == fields.map({ $0.name.lowercased() })
        {
            written.sort { ($0.place ?? 0) < ($1.place ?? 0) }
        }
        return written.flatMap(\.bytes) + (ends.ending(old) ?? end)
    }

    /// A line that is rewritten.
    private struct OldLine {
        let line: Line
        let value: FieldValue
        /// The name by which lines are the same.
        let key: String

        init(_ line: Line, in block: [UInt8]) {
            self.line = line
            key = line.name.lowercased()
            value = line.value.map { WordLine.text(Array(block[$0]).span.bytes) } ?? .null
        }
    }

    private func line(
        _ name: String, _ value: JSONValue, like old: OldLine, in block: [UInt8]
    ) throws(EncodingError) -> [UInt8] {
        let place = old.line.place
        let nameEnd = place.lowerBound + old.line.name.utf8.count
        if JSONValue(old.value) == value { return Array(name.utf8) + block[nameEnd..<place.upperBound] }
        let end = ends.ending(Array(block[place])) ?? []
        guard let start = old.line.value?.lowerBound, let text = value.plainText else {
            return try line(name, value) + end
        }
        return Array(name.utf8) + block[nameEnd..<start] + Array(text.utf8) + end
    }

    /// A line without its end.
    private func line(_ name: String, _ value: JSONValue) throws(EncodingError) -> [UInt8] {
        if value == .null { return Array(name.utf8) }
        guard let text = value.plainText else {
            throw EncodingError("the header line \(name) should be text, or a list of texts")
        }
        return Array(name.utf8) + [separator] + (hasSpace ? [0x20] : []) + Array(text.utf8)
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
