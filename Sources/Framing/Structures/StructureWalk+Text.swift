import Expressions
import Streams

extension StructureWalk {
    mutating func take<Visitor: StructureVisitor>(
        _ text: TextEnd, _ item: Structure.Item, _ bytes: RawSpan, _ end: Int?, _ visitor: inout Visitor
    ) -> Step {
        let known = bytes.extracting(0..<min(bytes.byteCount, end ?? .max, at + text.most + Self.longestEnd(text.ends)))
        var from = max(at, searched)
        if text.mayBeQuoted, at < known.byteCount, known[byte: at] == UInt8(ascii: "\"") {
            guard let quote = Self.closingQuote(known, from: at + 1) else {
                return known.byteCount - at > text.most
                    ? bad("\(item.name) has no closing quote") : .incomplete(known.byteCount - at + 1)
            }
            from = quote + 1
        }
        guard let found = known.firstEnd(of: text.ends, from: from) else {
            if known.byteCount - at >= text.most + Self.longestEnd(text.ends) {
                return bad("\(item.name) has no end within \(text.most) bytes")
            }
            searched = max(at, known.byteCount - Self.longestEnd(text.ends) + 1)
            return .incomplete(known.byteCount - at + 1)
        }
        guard found.lowerBound - at <= text.most else {
            return bad("\(item.name) has no end within \(text.most) bytes")
        }
        if Visitor.wantsValues || item.isNeeded {
            let kind = text.isText ? SizedValue.text(padding: nil) : .bytes
            let value = kind.value(in: bytes.extracting(at..<found.lowerBound))
            if !item.allowed.allow(value) { return bad(value.isNotAllowed(as: item.name)) }
            give(item, value, at..<found.lowerBound, &visitor)
        }
        visitor.literal(found)
        advance(to: found.upperBound)
        return .done
    }

    /// How many bytes the longest end has.
    private static func longestEnd(_ ends: [[UInt8]]) -> Int { ends.first?.count ?? 1 }

    private static func closingQuote(_ bytes: RawSpan, from start: Int) -> Int? {
        var at = start
        while at < bytes.byteCount {
            if bytes[byte: at] == UInt8(ascii: "\"") { return at }
            at += bytes[byte: at] == UInt8(ascii: "\\") ? 2 : 1
        }
        return nil
    }

    mutating func take<Visitor: StructureVisitor>(
        _ line: WordLine, _ item: Structure.Item, _ bytes: RawSpan, _ end: Int?, _ visitor: inout Visitor
    ) -> Step {
        let known = bytes.extracting(0..<min(bytes.byteCount, end ?? .max, at + line.most + Self.longestEnd(line.ends)))
        let begun = known.extracting(at..<known.byteCount)
        guard line.mayBegin(begun) else { return bad(line.complaint(about: begun)) }
        guard let found = known.firstEnd(of: line.ends, from: max(at, searched)) else {
            if known.byteCount - at >= line.most + Self.longestEnd(line.ends) {
                return bad("a line has no end within \(line.most) bytes")
            }
            searched = max(at, known.byteCount - Self.longestEnd(line.ends) + 1)
            return .incomplete(known.byteCount - at + 1)
        }
        guard found.lowerBound - at <= line.most, let words = line.places(in: bytes.extracting(at..<found.lowerBound))
        else {
            let text = explains ? WordLine.shortDescription(bytes.extracting(at..<found.lowerBound)) : ""
            return bad("the line \(text) is not \(line.words.map(\.name).joined(separator: " "))")
        }
        for word in words {
            scope.add(word.name, Value(word.value))
            visitor.value(word.name, word.value, item, at..<found.lowerBound)
        }
        visitor.literal(found)
        advance(to: found.upperBound)
        return .done
    }

    mutating func take<Visitor: StructureVisitor>(
        _ lines: HeaderLines, _ item: Structure.Item, _ bytes: RawSpan, _ end: Int?, isRead: Bool,
        _ visitor: inout Visitor
    ) -> Step {
        let known = bytes.extracting(0..<min(bytes.byteCount, end ?? .max, at + lines.most + 1))
        let linesEnd: Int
        var content: KnownLines.Content?
        if let (found, base) = knownLines,
            let (end, same) = found.find(lines, isReferenced: item.isReferenced, at: base + at),
            end - base <= known.byteCount
        {
            (linesEnd, content) = (end - base, same)
        } else {
            guard let end = self.end(of: lines, in: known) else {
                if known.byteCount - at > lines.most {
                    return bad("\(item.name) has no empty line within \(lines.most) bytes")
                }
                return .incomplete(known.byteCount - at + 1)
            }
            linesEnd = end
            if isRead { content = examine(lines, item, bytes, upTo: linesEnd) }
        }
        guard linesEnd - at <= lines.most, content?.areValid ?? true else {
            return bad("a line of \(item.name) is no text, or has no name")
        }
        if let values = content?.values { scope.add(item.name, values) }
        if Visitor.wantsValues, isRead {
            var text: [UInt8] = []
            JSONOutput.object(lines.read(bytes.extracting(at..<linesEnd)) ?? [], into: &text)
            visitor.value(item.name, .json(String(decoding: text, as: UTF8.self)), item, at..<linesEnd)
        }
        visitor.literal(linesEnd - (lines.ends.last?.count ?? 1)..<linesEnd)
        advance(to: linesEnd)
        return .done
    }

    /// Where lines end, the empty one included; nil if it is not available yet.
    private mutating func end(of lines: HeaderLines, in bytes: RawSpan) -> Int? {
        guard let base = knownLines?.base else { return lines.end(in: bytes, from: at, searched: &searched) }
        return knownLines?.lines.end(of: lines, in: bytes, from: at, base: base)
    }

    /// Examines lines, and remembers them if a search may come upon them again.
    private mutating func examine(
        _ lines: HeaderLines, _ item: Structure.Item, _ bytes: RawSpan, upTo linesEnd: Int
    ) -> KnownLines.Content {
        let content = KnownLines.Content(lines, bytes.extracting(at..<linesEnd), isReferenced: item.isReferenced)
        if let base = knownLines?.base {
            knownLines?.lines.note(
                lines, isReferenced: item.isReferenced, at: base + at..<base + linesEnd, content)
        }
        return content
    }
}
