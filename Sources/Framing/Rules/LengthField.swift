import Streams

/// The rule `length-field`: a field of the header says how long the frame is.
///
///     header        its fields, one of them the length
///     body
///     trailer       fields behind the body (a checksum)
package struct LengthField: FramingRule {
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
    /// Bytes behind the body: the trailer, then `ends`.
    let tail: Int
    /// What ends a frame although its length is known, such as RESP's CR LF.
    let ends: [UInt8]
    /// Whether a negative length stands for a frame without body and end (RESP's null).
    let negativeIsEmpty: Bool
    let limit: Int
    /// Where the length lies, for the most common headers: a fixed place and an unsigned number.
    private let fixed: FixedLength?
    /// The same where the header has constants.
    private let fixedBehindConstants: FixedLength?
    private let constantBytes: Int

    private struct FixedLength {
        var offset: Int
        var width: Int
        var order: ByteOrder
        /// How long the header is.
        var length: Int
    }

    package init(
        head: BinaryHead, field: Int, counts: Counts, adjustment: Int = 0, trailer: Int = 0, ends: [UInt8] = [],
        negativeIsEmpty: Bool = false, limit: Int = 16 << 20
    ) {
        self.head = head
        self.field = field
        self.counts = counts
        self.adjustment = adjustment
        tail = trailer + ends.count
        self.ends = ends
        self.negativeIsEmpty = negativeIsEmpty
        self.limit = limit
        constantBytes = head.fields.reduce(0) { $0 + ($1.constant == nil ? 0 : $1.fixedSize ?? 1) }
        var known: FixedLength?
        if let length = head.fixedLength, case .unsigned(let width) = head.fields[field].kind {
            known = FixedLength(
                offset: head.fixedOffsets[field], width: width, order: head.fields[field].order, length: length)
        }
        fixed = head.hasConstants ? nil : known
        fixedBehindConstants = head.hasConstants ? known : nil
    }

    package func scan(
        _ bytes: RawSpan, from start: Int, origin: Int, ended: Bool, memory: inout ScanMemory
    ) -> FrameScan {
        if let fixed {
            guard bytes.byteCount - start >= fixed.length else { return .incomplete(atLeast: fixed.length) }
            let value = bytes.unsigned(at: start + fixed.offset, width: fixed.width, fixed.order)
            return shape(
                Int(exactly: value), headLength: fixed.length, lengthEnd: fixed.offset + fixed.width, at: origin + start
            )
        }
        return scanVarying(bytes, from: start, origin: origin)
    }

    package func frames(
        in bytes: RawSpan, from start: Int, origin: Int, memory: inout ScanMemory, into items: inout [FrameItem]
    ) -> FrameRun {
        // With a length of less than eight bytes nothing overflows: a frame is never longer than its limit.
        guard let fixed, !negativeIsEmpty, fixed.width < 8 else { return FrameRun(end: start) }
        let added = added(fixed)
        let least = fixed.length + tail
        let end = bytes.byteCount
        var at = start
        while end &- at >= fixed.length {
            let value = bytes.unsigned(at: at &+ fixed.offset, width: fixed.width, fixed.order)
            let total = Int(truncatingIfNeeded: value) &+ added
            guard total >= least, total <= limit else { break }
            let shape = FrameShape(head: fixed.length, body: total &- least, tail: tail)
            guard total <= end &- at else { return FrameRun(end: at, next: shape) }
            items.append(FrameItem(start: at, shape: shape))
            at &+= total
        }
        return FrameRun(end: at)
    }

    /// What a frame is longer than its length says.
    private func added(_ fixed: FixedLength) -> Int {
        switch counts {
        case .frame: adjustment
        case .rest: adjustment + fixed.offset + fixed.width
        case .body: adjustment + fixed.length + tail
        }
    }

    /// The frame at `start`, whose head has no fixed size, or constants.
    private func scanVarying(_ bytes: RawSpan, from start: Int, origin: Int) -> FrameScan {
        let headLength: Int
        switch head.scan(bytes, at: start) {
        case .complete(let length): headLength = length
        case .incomplete(let atLeast): return .incomplete(atLeast: atLeast)
        case .bad(let message): return .bad(BadBytes(.badHead, "\(message) (head at offset \(origin + start))"))
        }
        guard let place = head.place(of: field, in: bytes, from: start) else {
            return .incomplete(atLeast: headLength)
        }
        let value = head.fields[field].value(in: bytes, at: place.lowerBound, size: place.count)
        guard case .integer(let number) = value else {
            return .bad(
                BadBytes(.badLength, "\(name(at: origin + start)) is \(value.shortDescription), expected a number"))
        }
        return shape(Int(number), headLength: headLength, lengthEnd: place.upperBound - start, at: origin + start)
    }

    /// The frame that a length makes, or why it cannot be one. A length that is nil is beyond 64 bits.
    private func shape(_ value: Int?, headLength: Int, lengthEnd: Int, at offset: Int) -> FrameScan {
        if negativeIsEmpty, let value, value < 0 { return .shape(FrameShape(head: headLength, body: 0)) }
        let before: Int
        switch counts {
        case .frame: before = 0
        case .rest: before = lengthEnd
        case .body: before = headLength + tail
        }
        let (sum, overflow) = (value ?? Int.max).addingReportingOverflow(adjustment + before)
        guard !overflow, sum <= limit else {
            let found = value.map(String.init) ?? "more than 2^63"
            return .bad(BadBytes(.tooLong, "\(name(at: offset)) is \(found), the limit of a frame is \(limit)"))
        }
        guard sum >= headLength + tail else {
            let least = headLength + tail - before - adjustment
            return .bad(BadBytes(.badLength, "\(name(at: offset)) is \(value ?? 0), expected \(least) or more"))
        }
        return .shape(FrameShape(head: headLength, body: sum - headLength - tail, tail: tail))
    }

    private func name(at offset: Int) -> String { "\(head.fields[field].name) (head at offset \(offset))" }

    // MARK: Finding the way back

    /// How many heads have to follow one another where no constant tells a head.
    private static let chained = 3
    /// While searching, a frame longer than this is not believed.
    private static let window = 65_536

    package func resume(
        _ bytes: RawSpan, from start: Int, origin: Int, ended: Bool, memory: inout ScanMemory
    ) -> Resumption {
        var candidate = start
        let needed = constantBytes >= 4 ? 1 : constantBytes > 0 ? 2 : Self.chained
        while candidate < bytes.byteCount {
            switch chain(bytes, from: candidate, origin: origin, ended: ended, needed: needed) {
            case .holds:
                let how =
                    constantBytes >= 4
                    ? "the header's constant, hardly by chance"
                    : constantBytes > 0
                        ? "\(needed) headers in a row with their constants, rarely by chance"
                        : "\(needed) consistent headers in a row, which can happen by chance"
                return .found(at: candidate, how: how)
            case .undecided: return .undecided(from: candidate)
            case .broken: candidate += 1
            }
        }
        return .undecided(from: bytes.byteCount)
    }

    private enum Chain {
        case holds, undecided, broken
    }

    /// Whether `needed` heads chain from a place on; the stream's end counts as a head.
    private func chain(_ bytes: RawSpan, from start: Int, origin: Int, ended: Bool, needed: Int) -> Chain {
        var at = start
        var memory = ScanMemory()
        for _ in 0..<needed {
            if at == bytes.byteCount { return ended ? (at > start ? .holds : .broken) : .undecided }
            if isSurelyNone(bytes, at: at) { return .broken }
            switch scan(bytes, from: at, origin: origin, ended: ended, memory: &memory) {
            case .shape(let shape):
                guard shape.total <= Self.window, shape.total > 0 else { return .broken }
                at += shape.total
            // The last head need not have its body yet.
            case .incomplete: return ended ? .broken : .undecided
            case .bad, .padding: return .broken
            }
            if at > bytes.byteCount { return ended ? .broken : needed == 1 ? .holds : .undecided }
        }
        return .holds
    }

    /// Whether no head starts at a place, found out without saying why: nearly everywhere in a search.
    private func isSurelyNone(_ bytes: RawSpan, at start: Int) -> Bool {
        guard let fixed = fixed ?? fixedBehindConstants, !negativeIsEmpty, fixed.width < 8 else { return false }
        if fixedBehindConstants != nil, !head.mayHaveItsConstants(bytes, at: start) { return true }
        guard bytes.byteCount - start >= fixed.length else { return false }
        let value = bytes.unsigned(at: start + fixed.offset, width: fixed.width, fixed.order)
        let total = Int(truncatingIfNeeded: value) + added(fixed)
        return total < fixed.length + tail || total > limit || total > Self.window
    }

    package func progress(_ bytes: RawSpan, shape: FrameShape?) -> String {
        guard let shape else { return "\(bytes.byteCount)\(head.fixedLength.map { " of \($0)" } ?? "") head bytes" }
        return "\(bytes.byteCount - shape.head) of \(shape.body + shape.tail) bytes behind the head"
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
            let bytes = try BinaryHead.encode(.integer(Int64(value)), as: head.fields[field])
            parts.head.replaceSubrange(place, with: bytes)
        }
    }

    package func encode(_ parts: FrameParts) throws(EncodingError) -> [UInt8] {
        isEmpty(parts) ? parts.head : parts.head + parts.body + parts.trailer + ends
    }

    /// Whether a frame was given a negative length that stands for no body and no end.
    private func isEmpty(_ parts: FrameParts) -> Bool {
        guard negativeIsEmpty, parts.body.isEmpty,
            case .integer(let length)? = head.value(field, in: parts.head.span.bytes)
        else { return false }
        return length < 0
    }
}
