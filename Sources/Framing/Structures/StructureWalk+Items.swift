import Expressions
import Streams

extension StructureWalk {
    mutating func take<Visitor: StructureVisitor>(
        _ item: Structure.Item, _ structure: Structure, _ available: RawSpan, _ end: Int?, _ visitor: inout Visitor
    ) -> Step {
        // Nothing after the bytes of the enclosing item belongs to it.
        let bytes = available.extracting(0..<min(end ?? .max, available.byteCount))
        if let condition = item.condition, !condition.evaluate(scope) {
            advance(to: at)
            return .done
        }
        var start = at
        var area: Int?
        if let size = item.size {
            switch self.size(size, item, bytes, end) {
            case .known(let from, let upTo): (start, area) = (from, upTo)
            case .null(let next):
                give(item, .null, at..<next, &visitor)
                advance(to: next)
                return .done
            case .step(let step): return step
            }
        }
        switch item.content {
        case .literal(let literal, let ignoresCase): return take(literal, ignoresCase, bytes, &visitor)
        case .field(let field): return take(field, item, bytes, &visitor)
        case .computed(let expression):
            give(item, FieldValue(expression.value(scope)), at..<at, &visitor)
            advance(to: at)
            return .done
        case .sized(let kind):
            guard let area else { return bad("\(item.name) has no size") }
            guard area <= bytes.byteCount else { return .incomplete(area - at) }
            if Visitor.wantsValues || item.isNeeded {
                let value = kind.value(in: bytes.extracting(start..<area))
                if !item.allowed.allow(value) { return bad(value.isNotAllowed(as: item.name)) }
                give(item, value, start..<area, &visitor)
            }
            advance(to: area)
            return .done
        case .body(let chain):
            guard let area else { return bad("\(item.name) has no size") }
            guard area <= bytes.byteCount else { return .incomplete(area - at) }
            if Visitor.wantsValues || item.isNeeded {
                give(item, decoded(bytes.extracting(start..<area), chain), start..<area, &visitor)
            }
            advance(to: area)
            return .done
        case .ended(let text): return take(text, item, bytes, area ?? end, &visitor)
        case .words(let line): return take(line, item, bytes, area ?? end, &visitor)
        case .lines(let lines):
            // A head that was walked over before is not read again for what comes after it: nothing does.
            let isLast = levels.count == 1 && levels[0].item == structure.sequences[0].items.count - 1
            return take(lines, item, bytes, area ?? end, isRead: Visitor.wantsLines || !isLast, &visitor)
        case .group(let sequence):
            at = start
            return enter(sequence, item, .once, end: area, isSized: area != nil, &visitor)
        case .choice(let sequences): return choose(sequences, item, structure, bytes, start, area, &visitor)
        case .repeated(let sequence, let iterations):
            let begun = at
            at = start
            let step = iterate(iterations, sequence, item, bytes, area, &visitor)
            // The size before the count is read again with it.
            if case .incomplete(let count) = step {
                at = begun
                return .incomplete(count + start - begun)
            }
            return step
        }
    }

    private enum KnownSize {
        case known(from: Int, upTo: Int)
        /// A null string of Kafka or RESP has the length -1.
        case null(after: Int)
        case step(Step)
    }

    /// Where the bytes of an item with a size begin and end.
    private func size(_ size: Structure.Size, _ item: Structure.Item, _ bytes: RawSpan, _ end: Int?) -> KnownSize {
        var start = at
        let count: Int
        switch size {
        case .rest:
            guard let end else {
                return .step(bad("\(item.name) takes what is left, and nothing says how much that is"))
            }
            return .known(from: start, upTo: end)
        case .count(let expression):
            guard let number = scope.number(expression) else {
                return .step(bad("the size of \(item.name) is no whole number"))
            }
            count = number
        case .prefix(let field):
            switch number(field, bytes) {
            case .success(let (number, next)): (count, start) = (number, next)
            case .failure(let stop): return .step(stop.step)
            }
            if count == -1 { return .null(after: start) }
        }
        guard count >= 0 else { return .step(bad("the size of \(item.name) is \(count)")) }
        let (upTo, overflow) = start.addingReportingOverflow(count)
        guard !overflow, upTo <= end ?? Structured.longest else {
            return .step(bad("the size of \(item.name) is \(count), which is more than there can be"))
        }
        return .known(from: start, upTo: upTo)
    }

    private struct Stop: Error { var step: Step }

    /// A number that precedes an item, and the index after it.
    private func number(_ field: HeaderField, _ bytes: RawSpan) -> Result<(Int, Int), Stop> {
        let size: Int?
        do throws(HeaderField.Fault) {
            size = try field.size(in: bytes, at: at)
        } catch {
            return .failure(Stop(step: .bad(error.message)))
        }
        guard let size, at + size <= bytes.byteCount else { return .failure(Stop(step: .incomplete(size ?? 1))) }
        switch field.value(in: bytes, at: at, size: size) {
        case .integer(let number): return .success((Int(number), at + size))
        case .unsigned: return .success((.max, at + size))
        case let value:
            return .failure(Stop(step: bad("\(field.name) is \(value.shortDescription), expected a number")))
        }
    }

    mutating func take<Visitor: StructureVisitor>(
        _ literal: [UInt8], _ ignoresCase: Bool, _ bytes: RawSpan, _ visitor: inout Visitor
    ) -> Step {
        let available = min(literal.count, bytes.byteCount - at)
        for index in 0..<available where !bytes[byte: at + index].equals(literal[index], ignoringCase: ignoresCase) {
            return bad("\(FieldValue.text(String(decoding: literal, as: UTF8.self)).shortDescription) is not there")
        }
        guard available == literal.count else { return .incomplete(literal.count) }
        visitor.literal(at..<at + literal.count)
        advance(to: at + literal.count)
        return .done
    }

    mutating func take<Visitor: StructureVisitor>(
        _ field: HeaderField, _ item: Structure.Item, _ bytes: RawSpan, _ visitor: inout Visitor
    ) -> Step {
        let size: Int?
        do throws(HeaderField.Fault) {
            size = try field.size(in: bytes, at: at)
        } catch {
            return .bad(error.message)
        }
        guard let size, at + size <= bytes.byteCount else { return .incomplete(size ?? bytes.byteCount - at + 1) }
        let place = at..<at + size
        if Visitor.wantsValues || item.isNeeded || field.constant != nil || !field.allowed.isEmpty
            || !field.bits.isEmpty
        {
            let value = value(of: field, item, in: bytes, size: size)
            if !item.allowed.allow(value) { return bad(value.isNotAllowed(as: item.name)) }
            if let mismatch = field.mismatch(value) { return bad(field.message(mismatch, value)) }
            if case .text = value, !field.isText {
                return bad("\(item.name) is \(value.shortDescription), which is no number")
            }
            give(item, value, place, &visitor)
            if let number = value.bitPattern {
                for bits in field.bits {
                    let part = FieldValue.integer(bits.value(in: number))
                    if item.isReferenced { refer(bits.name, Value(part)) }
                    if Visitor.wantsValues { visitor.value(bits.name, part, item, place.lowerBound..<place.lowerBound) }
                }
            }
        }
        advance(to: at + size)
        return .done
    }

    private func value(of field: HeaderField, _ item: Structure.Item, in bytes: RawSpan, size: Int) -> FieldValue {
        guard let flag = item.littleEndian else { return field.value(in: bytes, at: at, size: size) }
        var field = field
        field.order = flag.evaluate(scope) ? .little : .big
        return field.value(in: bytes, at: at, size: size)
    }

    /// Makes a value known by its name, and by the names of the groups that it is in.
    private mutating func refer(_ name: String, _ value: Value) {
        scope.add(name, value)
        let groups = levels.isEmpty ? [] : levels[levels.count - 1].path
        if !groups.isEmpty { scope.add(name, value, in: groups) }
    }

    mutating func give<Visitor: StructureVisitor>(
        _ item: Structure.Item, _ value: FieldValue, _ place: Range<Int>, _ visitor: inout Visitor
    ) {
        if item.isReferenced { refer(item.name, Value(value)) }
        visitor.value(item.name, value, item, place)
    }

    /// How many bytes the bodies inside one structure may be decoded to: a few bytes may be the beginning of many.
    private static let mostDecoded = 16 << 20

    /// A body inside a structure as a value; its bytes if those before it have taken too much.
    private mutating func decoded(_ bytes: RawSpan, _ chain: BodyChain) -> FieldValue {
        let mayHide = hidesSecrets && chain.hasInnerSecrets
        guard decodedBytes < Self.mostDecoded else {
            hasUnreadBodies = true
            return mayHide ? .text(JSONRedaction.mark) : .bytes(bytes.copied())
        }
        let body = chain.decode(bytes, type: nil)
        if !body.faults.isEmpty || body.bytes?.isEmpty == true && bytes.byteCount > 0 { hasUnreadBodies = true }
        // Frames that could not be read are hidden, unless nobody can read them.
        if mayHide, body.faults.contains(where: { $0.kind != .wrongKey }) { return .text(JSONRedaction.mark) }
        let value = Self.value(bytes, mayHide ? body.withoutInnerSecrets : body)
        switch value {
        case .json(let text), .text(let text): decodedBytes += text.utf8.count
        case .bytes(let bytes): decodedBytes += bytes.count
        case .null, .boolean, .integer, .unsigned, .number: break
        }
        return value
    }

    /// A body inside a structure as a value: JSON as it is.
    static func value(_ bytes: RawSpan, _ chain: BodyChain) -> FieldValue {
        value(bytes, chain.decode(bytes, type: nil))
    }

    private static func value(_ bytes: RawSpan, _ body: DecodedBody) -> FieldValue {
        body.withBytes(of: bytes) { shown in
            switch body.form {
            case .json, .protobuf, .fields: .json(shown.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
            case .text: WordLine.text(shown)
            case .opaque: .bytes(shown.copied())
            }
        }
    }

    // MARK: Lists and choices

    private mutating func iterate<Visitor: StructureVisitor>(
        _ iterations: Structure.Iterations, _ sequence: Int, _ item: Structure.Item, _ bytes: RawSpan, _ area: Int?,
        _ visitor: inout Visitor
    ) -> Step {
        let kind: Level.Iterations
        let start = at
        var count: Int?
        switch iterations {
        case .rest: kind = .toEnd
        case .until(let mark): kind = .until(mark)
        case .again(let condition): kind = .again(condition)
        case .count(let expression):
            guard let number = scope.number(expression) else {
                return bad("the count of \(item.name) is no whole number")
            }
            (kind, count) = (.counted, number)
        case .prefix(let field):
            switch number(field, bytes) {
            case .success(let (number, next)): (kind, count, at) = (.counted, number, next)
            case .failure(let stop): return stop.step
            }
        }
        // A null list has the count -1.
        guard count ?? 0 >= -1 else { return bad("the count of \(item.name) is \(count ?? 0)") }
        if count == -1 {
            if let area, area > bytes.byteCount { return .incomplete(area - start) }
            visitor.value(item.name, .null, item, at..<at)
            advance(to: area ?? at)
            return .done
        }
        if case .toEnd = kind, area == nil, levels.last?.end == nil {
            return bad("\(item.name) repeats to an end that nothing sets")
        }
        return enter(sequence, item, kind, count: count, end: area, isSized: area != nil, &visitor)
    }

    /// Enters the first of several sequences whose first item fits.
    private mutating func choose<Visitor: StructureVisitor>(
        _ sequences: [Int], _ item: Structure.Item, _ structure: Structure, _ bytes: RawSpan, _ start: Int,
        _ area: Int?, _ visitor: inout Visitor
    ) -> Step {
        for sequence in sequences {
            var trial = StructureWalk(scope: scope, explains: false)
            trial.at = start
            guard let first = structure.sequences[sequence].items.first else {
                at = start
                return enter(sequence, item, .once, end: area, isSized: area != nil, &visitor)
            }
            // A line or a constant decides by itself; anything else fits.
            if first.decides {
                guard scope.holds(first.condition) else { continue }
                trial.levels = [Level(sequence: sequence, end: area ?? levels.last?.end, begun: start, scope: 0)]
                var nothing = NoVisitor()
                switch trial.take(first, structure, bytes, area ?? levels.last?.end, &nothing) {
                case .done: break
                case .incomplete(let count): return .incomplete(start - at + count)
                case .bad: continue
                }
            }
            at = start
            return enter(sequence, item, .once, end: area, isSized: area != nil, &visitor)
        }
        return bad("none of the kinds of \(item.name.isEmpty ? "these bytes" : item.name) fits")
    }
}

extension Structure.Item {
    /// Whether its bytes decide whether the sequence that begins with it fits.
    var decides: Bool {
        switch self.content {
        case .literal, .words: true
        case .field(let field): field.constant != nil || field.hasRestriction
        case .ended, .sized: !self.allowed.isEmpty
        case .group, .choice, .repeated, .computed, .body, .lines: false
        }
    }
}

extension FieldValue {
    /// The value of an expression as a field's.
    init(_ value: Value) {
        switch value {
        case .absent: self = .null
        case .boolean(let value): self = .boolean(value)
        case .integer(let value): self = .integer(value)
        case .unsigned(let value): self = .unsigned(value)
        case .number(let value): self = .number(value)
        case .text(let text): self = .text(text)
        case .bytes(let bytes): self = .bytes(bytes)
        }
    }
}
