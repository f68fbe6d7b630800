import Streams

/// The rule `length-field`: a field of the header has the frame's length.
///
///     header        its fields, one of them the length
///     body
///     trailer       fields after the body (a checksum)
package struct LengthField: EndedRule {
    package static let name = "length-field"

    /// What the length counts.
    package enum Counts: String, Sendable, CaseIterable {
        /// The whole frame.
        case frame
        /// What follows the length field.
        case rest
        /// The body.
        case body
    }

    let head: BinaryHead
    let field: Int
    let counts: Counts
    /// Added to the field's value.
    let adjustment: Int
    /// Bytes after the body: the trailer, then `ends`.
    let tail: Int
    /// The terminator of a frame despite its known length, such as RESP's CR LF.
    let ends: [UInt8]
    package let requiredEnd: FrameEnd?
    package let checksums: SearchedChecksums?
    /// Whether a negative length means a frame without body and terminator (RESP's null).
    let negativeIsEmpty: Bool
    let limit: Int
    /// Where the length is, for the most common headers: an unsigned number at a fixed place.
    private let fixed: FixedLength?
    /// Whether nothing else of such a header has to be looked at; otherwise it has constants.
    private let isBare: Bool
    /// The same if nothing else has to be looked at but constants.
    package private(set) var plainLengths: PlainLengths?
    /// How much evidence a header may have, before that of a long length is subtracted.
    private let mostEvidence: Double
    /// Lengths above this are such strong evidence against a frame that a search does not start at one.
    private let longestHopeful: UInt64

    private struct FixedLength {
        let number: FixedPlace
        /// How long the header is.
        let head: Int
        /// How much longer a frame is than the number.
        let added: Int
        /// Where the number ends.
        var end: Int { number.offset + number.width }
    }

    package init(
        head: BinaryHead, field: Int, counts: Counts, adjustment: Int = 0, trailer: BinaryHead? = nil,
        ends: [UInt8] = [], negativeIsEmpty: Bool = false, limit: Int = 16 << 20
    ) {
        self.head = head
        self.field = field
        self.counts = counts
        self.adjustment = adjustment
        tail = (trailer?.fixedLength ?? 0) + ends.count
        self.ends = ends
        requiredEnd = FrameEnd(trailer: trailer, ends: ends)
        checksums = SearchedChecksums(head: head, trailer: trailer)
        self.negativeIsEmpty = negativeIsEmpty
        self.limit = limit
        longestHopeful = Self.longestHopeful(head, field)
        mostEvidence = head.mostEvidence(lengthField: field)
        var fixed: FixedLength?
        if let length = head.fixedLength, case .unsigned(let width) = head.fields[field].kind,
            let number = FixedPlace(offset: head.fixedOffsets[field], width: width, order: head.fields[field].order)
        {
            let before =
                switch counts {
                case .frame: 0
                case .rest: number.offset + number.width
                case .body: length + tail
                }
            fixed = FixedLength(number: number, head: length, added: adjustment + before)
        }
        self.fixed = fixed
        isBare = !head.hasConstants
        plainLengths = fixed.flatMap { lengths($0) }
    }

    package func scan(
        _ bytes: RawSpan, from start: Int, origin: Int, ended: Bool, memory: inout ScanMemory
    ) -> FrameScan {
        if let fixed, isBare {
            guard bytes.byteCount - start >= fixed.head else { return .incomplete(atLeast: fixed.head) }
            let value = fixed.number.value(in: bytes, at: start)
            return shape(
                Int(exactly: value), headLength: fixed.head, lengthEnd: fixed.end, at: origin + start,
                explains: memory.explains)
        }
        if let fixed, let constants = head.plainConstants, bytes.byteCount - start >= fixed.head,
            constants.match(bytes, at: start)
        {
            let value = fixed.number.value(in: bytes, at: start)
            // A number of 64 bits that is too large has a message of its own.
            if let number = Int(exactly: value) {
                return shape(
                    number, headLength: fixed.head, lengthEnd: fixed.end, at: origin + start,
                    explains: memory.explains)
            }
        }
        return scanVarying(bytes, from: start, origin: origin, explains: memory.explains)
    }

    package func frames(
        in bytes: RawSpan, from start: Int, origin: Int, memory: inout ScanMemory, _ patterns: HeadPatterns,
        into items: inout [FrameItem]
    ) -> FrameRun {
        guard let lengths = plainLengths else { return FrameRun(end: start) }
        let end = bytes.byteCount
        var at = start
        while end &- at >= lengths.head, let total = lengths.total(in: bytes, at: at) {
            let shape = lengths.shape(total)
            guard total <= end &- at else { return FrameRun(end: at, next: shape) }
            items.append(FrameItem(start: at, shape: shape))
            at &+= total
        }
        return FrameRun(end: at)
    }

    private func lengths(_ fixed: FixedLength) -> PlainLengths? {
        // With a length of less than eight bytes nothing overflows: a frame is never longer than its limit.
        guard !negativeIsEmpty, requiredEnd == nil, fixed.number.width < 8, let constants = head.plainConstants else {
            return nil
        }
        return PlainLengths(
            number: fixed.number, constants: constants, head: fixed.head, tail: tail, added: fixed.added,
            limit: limit)
    }

    /// The frame at `start`, whose head has a variable size, or constants.
    private func scanVarying(_ bytes: RawSpan, from start: Int, origin: Int, explains: Bool) -> FrameScan {
        let headLength: Int
        switch head.scan(bytes, at: start) {
        case .complete(let length): headLength = length
        case .incomplete(let atLeast): return .incomplete(atLeast: atLeast)
        case .bad(let message):
            return .bad(
                BadBytes(.badHead, "\(message) (head at offset \(origin + start))", explains: explains))
        }
        guard let place = head.place(of: field, in: bytes, from: start) else {
            return .incomplete(atLeast: headLength)
        }
        let value = head.value(of: field, in: bytes, at: place)
        guard case .integer(let number) = value else {
            return .bad(
                BadBytes(
                    .badLength, "\(name(at: origin + start)) is \(value.shortDescription), expected a number",
                    explains: explains))
        }
        return shape(
            Int(number), headLength: headLength, lengthEnd: place.upperBound - start, at: origin + start,
            explains: explains)
    }

    /// The frame of a given length, or why there cannot be one. A nil length exceeds 64 bits.
    private func shape(
        _ value: Int?, headLength: Int, lengthEnd: Int, at offset: Int, explains: Bool
    ) -> FrameScan {
        if negativeIsEmpty, let value, value < 0 { return .shape(FrameShape(head: headLength, body: 0)) }
        let before: Int
        switch counts {
        case .frame: before = 0
        case .rest: before = lengthEnd
        case .body: before = headLength + tail
        }
        let (sum, overflow) = (value ?? Int.max).addingReportingOverflow(adjustment + before)
        guard !overflow, sum <= limit else {
            let found = explains ? value.map(String.init) ?? "more than 2^63" : ""
            return .bad(
                BadBytes(
                    .tooLong, "\(name(at: offset)) is \(found), the limit of a frame is \(limit)",
                    explains: explains))
        }
        guard sum >= headLength + tail else {
            let least = headLength + tail - before - adjustment
            return .bad(
                BadBytes(
                    .badLength, "\(name(at: offset)) is \(value ?? 0), expected \(least) or more",
                    explains: explains))
        }
        return .shape(FrameShape(head: headLength, body: sum - headLength - tail, tail: tail))
    }

    private func name(at offset: Int) -> String { "\(head.fields[field].name) (head at offset \(offset))" }

    // MARK: Evidence

    package var landmark: Landmark {
        guard !ends.isEmpty else { return .none }
        guard negativeIsEmpty else { return .after([ends], isCertain: false) }
        // A frame without body and terminator ends as its header does.
        guard case .decimal(let digitsEnd, _)? = head.fields.last?.kind else { return .none }
        return .after(digitsEnd == ends ? [ends] : [ends, digitsEnd], isCertain: false)
    }

    package var firstBytes: ByteSet {
        let first = head.firstBytes
        guard let fixed, fixed.number.offset == 0, fixed.number.order == .big, !negativeIsEmpty else {
            return first
        }
        // The limit rules out most of the first bytes of a long length.
        let highest = max(0, limit - fixed.added) >> (8 * (fixed.number.width - 1))
        return ByteSet { first.contains($0) && Int($0) <= highest }
    }

    package var secondBytes: ByteSet { head.secondBytes }

    package func mayStart(_ bytes: RawSpan, at start: Int) -> Bool {
        guard let fixed, !negativeIsEmpty, fixed.number.width < 8 else { return true }
        if !isBare, !head.mayHaveItsConstants(bytes, at: start) { return false }
        guard bytes.byteCount - start >= fixed.head else { return true }
        let value = fixed.number.value(in: bytes, at: start)
        guard value <= longestHopeful else { return false }
        let total = Int(truncatingIfNeeded: value) + fixed.added
        return total >= fixed.head + tail && total <= limit
    }

    package func wholeFrames(in bytes: RawSpan) -> WholeFrames? { plainLengths?.wholeFrames(in: bytes) }

    package func fallsShort(_ bytes: RawSpan, at start: Int, of needed: NeededEvidence) -> Bool {
        guard let fixed, !negativeIsEmpty, fixed.number.width < 8 else { return false }
        guard bytes.byteCount - start >= fixed.head else {
            return needed.isTruncated(fixed.head, at: start, in: bytes)
        }
        let value = fixed.number.value(in: bytes, at: start)
        let least = needed.bits(ofTotal: Int(truncatingIfNeeded: value) + fixed.added, at: start, in: bytes)
        // At most the binary logarithm of the length plus 1.
        let magnitude = UInt64.bitWidth - 1 - (value + 1).leadingZeroBitCount
        let most = mostEvidence - Double(magnitude)
        return most < least || most - head.lackOfNames(in: bytes, at: start, lengthField: field) < least
    }

    /// The longest length at which a header without constants can have positive evidence, whatever its other values are.
    private static func longestHopeful(_ head: BinaryHead, _ field: Int) -> UInt64 {
        guard let width = head.fields[field].fixedSize, width < 8, !head.hasConstants else { return .max }
        var others = 0
        for (index, other) in head.fields.enumerated() where index != field {
            if !other.names.isEmpty || other.bits.contains(where: { !$0.names.isEmpty }) {
                others += 8 * (other.fixedSize ?? 8)
            }
        }
        // 8 · width − log2(value + 1) − log2(0.693 · 8 · width) + others is above 0.
        let bits = 8 * width + others
        guard bits < 62 else { return .max }
        return UInt64(Double(UInt64(1) << UInt64(bits)) / (0.693 * 8 * Double(width)))
    }

    package func evidence(
        of shape: FrameShape, in bytes: RawSpan, at start: Int, previous: (start: Int, shape: FrameShape)?,
        _ background: ByteBackground
    ) -> Evidence? {
        head.evidence(in: bytes, at: start, lengthField: field, previous: previous?.start, background)
    }

    package func progress(_ bytes: RawSpan, shape: FrameShape?) -> String {
        guard let shape else { return "\(bytes.byteCount)\(head.fixedLength.map { " of \($0)" } ?? "") head bytes" }
        return "\(bytes.byteCount - shape.head) of \(shape.body + shape.tail) bytes after the head"
    }

    package func fillIn(_ parts: inout FrameParts) throws(EncodingError) {
        if isEmpty(parts) { return }
        // A length of varying size may change what it counts: twice is enough, since it only grows.
        for _ in 0..<3 {
            guard let place = head.place(of: field, in: parts.head.span.bytes) else {
                throw EncodingError("the header is too short for \(head.fields[field].name)")
            }
            let total = parts.head.count + parts.body.count + parts.trailer.count + ends.count
            guard total <= limit else { throw EncodingError("the frame has \(total) bytes, the limit is \(limit)") }
            let value: Int
            switch counts {
            case .frame: value = total - adjustment
            case .rest: value = total - place.upperBound - adjustment
            case .body: value = parts.body.count - adjustment
            }
            // A length that is right keeps its bytes.
            let known = head.fields[field].value(
                in: parts.head.span.bytes, at: place.lowerBound, size: place.count)
            if known == .integer(Int64(value)) { return }
            let bytes = try BinaryHead.encode(.integer(Int64(value)), as: head.fields[field])
            parts.head.replaceSubrange(place, with: bytes)
        }
    }

    package func encode(_ parts: FrameParts) throws(EncodingError) -> [UInt8] {
        isEmpty(parts) ? parts.head : parts.head + parts.body + parts.trailer + ends
    }

    /// Whether a frame was given a negative length that means no body and no terminator.
    private func isEmpty(_ parts: FrameParts) -> Bool {
        guard negativeIsEmpty, parts.body.isEmpty,
            case .integer(let length)? = head.value(field, in: parts.head.span.bytes)
        else { return false }
        return length < 0
    }
}

extension LengthField: LoadableRule {
    static let keys = KeySection.rule(
        name, "a field of the header says how long the frame is",
        [
            FormatKey(
                "field", .text("a field"), "the length field: any whole number, of fixed size or not", required: true),
            FormatKey(
                "counts", .words(of: Counts.self),
                "what the length counts: `frame`, the whole frame; `rest`, the bytes after the field; or `body`",
                default: "body"),
            FormatKey(
                "adjust", .integer(-65_536...65_536),
                "a number that is added to the length: PostgreSQL's length counts itself, so `rest` is four bytes less",
                default: "0"),
            FormatKey(
                "ends", .bytes,
                """
                a terminator in addition to the length, such as RESP's `"\\r\\n"`; with `counts: body` the length does not \
                include it
                """),
            FormatKey(
                "negative", .words(["empty"]),
                "`empty`: a negative length stands for a frame without body and `ends`, such as RESP's null"),
            .limit,
        ])

    static func build(_ section: YAMLMap, _ head: BinaryHead?, _ trailer: BinaryHead?) -> FramingRules.Built? {
        let name = section.requiredText("field")
        let counts = section.choice("counts", Counts.self) ?? .body
        let adjustment = section.integer("adjust") ?? 0
        let ends = section["ends"] == nil ? [] : section.bytes("ends") ?? []
        if let word = section.text("negative"), word != "empty" {
            section.fault("negative is \(word); expected empty (a negative length stands for no body)", at: "negative")
        }
        let limit = section.limit
        guard let name else { return nil }
        guard let head, let field = head.fields.firstIndex(where: { $0.name == name }) else {
            if let whole = head?.fields.first(where: { $0.bits.contains { $0.name == name } }) {
                section.fault(
                    "\(name) is some of the bits of \(whole.name), and the rule length-field needs a whole field; "
                        + "the rule fields takes it: body: \(name)", at: "field")
                return nil
            }
            let known = head?.fields.map(\.name) ?? []
            let hint = known.isEmpty ? "the format has no header" : LoadContext.hint(name, known)
            section.fault("there is no field \(name) in the header; \(hint)", at: "field")
            return nil
        }
        switch head.fields[field].kind {
        case .unsigned, .signed, .varint, .decimal, .numeral: break
        default:
            section.fault("the field \(name) is no whole number, so it cannot be a length", at: "field")
            return nil
        }
        return (
            LengthField(
                head: head, field: field, counts: counts, adjustment: adjustment, trailer: trailer, ends: ends,
                negativeIsEmpty: section["negative"] != nil, limit: limit), nil
        )
    }
}
