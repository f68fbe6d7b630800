import Expressions
import Streams

/// The rule `fields`: a frame is its header, whose fields say where it ends, and the body that they announce.
///
///     header        a structure: fields that depend on each other, lists, lines
///     body          of a size that the header gives, in chunks, up to a delimiter, or to the end of the stream
package struct Structured: EndedRule {
    package static let name = "fields"

    /// No structure is longer than this, in bytes.
    static let longest = Int(Int32.max)

    let head: StructuredHead
    /// Where the body ends: the first case whose condition holds. Without any, there is no body.
    let bodies: [BodyExtent]
    /// After the body, although its size is known.
    let ends: [UInt8]
    /// The trailer's bytes.
    let trailer: Int
    package let requiredEnd: FrameEnd?
    package let checksums: SearchedChecksums?
    /// What ends bodies whose size is not known: such a frame has it in place of its own end.
    private let delimiters: [[UInt8]]
    /// Byte strings that may lie between frames: empty lines.
    let padding: [[UInt8]]
    /// Which frames leave their request without an answer; nil: none.
    let interim: Expression?
    /// The conversation whose requests bodies depend on.
    var conversation: Conversation?
    /// What is remembered of the stream; nil: each scan begins anew.
    var memory: DirectionMemory?
    /// What frames leave for those after them; nil: nothing.
    let remembering: Remembering?
    let limit: Int
    /// The longest header.
    let headLimit: Int
    package let firstBytes: ByteSet
    /// What frames, and the padding before them, start with.
    let startCheck: StructureStart
    private let identity = HeldWalk.Identity()

    init(
        head: StructuredHead, bodies: [BodyExtent], ends: [UInt8], trailer: BinaryHead?, padding: [[UInt8]],
        interim: Expression? = nil, remembering: Remembering? = nil, limit: Int, headLimit: Int
    ) {
        (self.interim, self.remembering) = (interim, remembering)
        (self.head, self.bodies, self.ends, self.padding) = (head, bodies, ends, padding)
        self.trailer = trailer?.fixedLength ?? 0
        requiredEnd = FrameEnd(trailer: trailer, ends: ends)
        // Those of a chunked body are of its content.
        checksums =
            bodies.contains { $0.isChunked } ? nil : SearchedChecksums(head: head, trailer: trailer)
        delimiters = bodies.flatMap { if case .until(let ends) = $0.kind { ends } else { [[UInt8]]() } }
        (self.limit, self.headLimit) = (limit, headLimit)
        firstBytes = head.structure.firstBytes
        startCheck = StructureStart(of: head.structure, padding: padding)
    }

    package func scan(
        _ bytes: RawSpan, from start: Int, origin: Int, ended: Bool, memory: inout ScanMemory
    ) -> FrameScan {
        if !padding.isEmpty, let count = padded(bytes, from: start, ended: ended) { return count }
        let frame = bytes.extracting(start..<bytes.byteCount)
        let offset = origin + start
        var walk = begin(at: offset, frame.byteCount)
        switch self.walk(&walk, frame, at: offset, memory) {
        case .bad(let bad): return .bad(bad)
        case .incomplete(let atLeast):
            hold(walk, frame.byteCount, at: offset)
            // If any byte may end it, all of the next chunk is wanted, not one byte after the other.
            return .incomplete(atLeast: atLeast > frame.byteCount + 1 ? atLeast : 0)
        case .complete(let length, let scope):
            guard let extent = bodies.first(where: { scope.holds($0.condition) }) else {
                return shown(
                    shape(
                        head: length, body: 0, tail: ends.count + trailer, at: offset, explains: memory.explains),
                    scope)
            }
            let scan = body(extent, scope, length, frame, at: offset, ended: ended, memory: &memory)
            // The header is not walked over again with each chunk of the body. Most places that a search tries are not tried again.
            if case .incomplete = scan, memory.search != .first { hold(walk, length, at: offset) }
            return shown(scan, scope)
        }
    }

    /// The walk over the header at a stream offset, as far as it got before.
    private func begin(at offset: Int, _ available: Int) -> StructureWalk {
        memory?.takeWalk(of: identity, at: offset, available)
            ?? StructureWalk(scope: conversation?.request ?? StructureScope())
    }

    private func hold(_ walk: StructureWalk, _ seen: Int, at offset: Int) {
        guard let memory else { return }
        var held = walk
        held.knownLines = nil
        memory.hold(HeldWalk(offset: offset, seen: seen, identity: identity, walk: held))
    }

    /// The same, with the value of earlier frames that this one shows.
    private func shown(_ scan: FrameScan, _ scope: StructureScope) -> FrameScan {
        guard let remembering, case .shape(var shape) = scan else { return scan }
        shape.recalled = remembering.shown(body: shape.body, scope)
        return .shape(shape)
    }

    private enum Head {
        case complete(Int, StructureScope)
        case incomplete(Int)
        case bad(BadBytes)
    }

    /// Finds the header's end, from where the last scan of this frame had to stop.
    private func walk(_ walk: inout StructureWalk, _ frame: RawSpan, at offset: Int, _ scan: ScanMemory) -> Head {
        let explains = scan.explains
        let wasComplete = walk.isComplete
        walk.explains = explains
        if let memory {
            if scan.search != .none {
                walk.knownLines = (memory.lines ?? KnownLines(), offset)
            } else {
                memory.forgetSearch()
            }
        }
        defer { if let known = walk.knownLines { memory?.lines = known.lines } }
        var nothing = NoVisitor()
        switch walk.go(head.structure, frame, end: nil, &nothing) {
        case .complete where walk.at > headLimit: return .bad(tooLongHead(at: offset, explains: explains))
        case .complete:
            if !wasComplete {
                walk.scope.addLength(walk.at)
                remembering?.recall(memory, into: &walk.scope)
            }
            return .complete(walk.at, walk.scope)
        case .incomplete(let atLeast):
            if atLeast > headLimit || frame.byteCount > headLimit {
                return .bad(tooLongHead(at: offset, explains: explains))
            }
            return .incomplete(atLeast)
        case .bad(let message):
            return .bad(BadBytes(.badHead, "\(message) (head at offset \(offset))", explains: explains))
        }
    }

    private func tooLongHead(at offset: Int, explains: Bool) -> BadBytes {
        BadBytes(
            .tooLong, "no end of the header at offset \(offset) within \(headLimit) bytes", explains: explains)
    }

    private func body(
        _ extent: BodyExtent, _ scope: StructureScope, _ length: Int, _ frame: RawSpan, at offset: Int, ended: Bool,
        memory: inout ScanMemory
    ) -> FrameScan {
        let explains = memory.explains
        func bad(_ detail: @autoclosure () -> String) -> FrameScan {
            .bad(BadBytes(.badLength, "\(detail()) (head at offset \(offset))", explains: explains))
        }
        switch extent.kind {
        case .size(let expression):
            guard var size = scope.number(expression) else {
                return bad("the body's size \(expression) is no whole number")
            }
            guard size >= 0 else { return bad("the body's size is \(size)") }
            if let most = extent.most {
                guard let most = scope.number(most), most >= 0 else {
                    return bad("the most bytes of a body, \(most), are no whole number")
                }
                size = min(size, most)
            }
            return shape(head: length, body: size, tail: ends.count + trailer, at: offset, explains: explains)
        case .chunked:
            var chunks = ChunkedBody(at: max(length, memory.searchedTo - offset))
            // Not further than a frame may be long: what comes later is not seen if it comes later.
            switch chunks.end(in: frame.extracting(0..<min(frame.byteCount, limit))) {
            case .success(let end?):
                return end > limit
                    ? tooLong(at: offset, explains: explains)
                    : shape(head: length, body: end - length, tail: 0, at: offset, explains: explains)
            case .success(nil):
                memory.searchedTo = offset + chunks.at
                if max(chunks.needed, frame.byteCount + 1) > limit { return tooLong(at: offset, explains: explains) }
                return .incomplete(atLeast: chunks.needed)
            case .failure(let fault):
                return bad(fault.message)
            }
        case .until(let ends):
            let from = max(length, memory.searchedTo - offset)
            if let found = end(of: ends, in: frame, from: from, at: offset, memory) {
                return found.upperBound > limit
                    ? tooLong(at: offset, explains: explains)
                    : shape(
                        head: length, body: found.lowerBound - length, tail: found.count, at: offset, explains: explains
                    )
            }
            memory.searchedTo = offset + max(length, frame.byteCount - (ends.first?.count ?? 1) + 1)
            if frame.byteCount > limit { return tooLong(at: offset, explains: explains) }
            return .incomplete(atLeast: 0)
        case .end:
            if frame.byteCount > limit { return tooLong(at: offset, explains: explains) }
            if ended {
                return shape(head: length, body: frame.byteCount - length, tail: 0, at: offset, explains: explains)
            }
            return .incomplete(atLeast: limit + 1)
        }
    }

    /// Where the first end of a body is; nil if it is not available.
    private func end(
        of ends: [[UInt8]], in frame: RawSpan, from start: Int, at offset: Int, _ scan: ScanMemory
    ) -> Range<Int>? {
        guard scan.search != .none, let memory else { return frame.firstEnd(of: ends, from: start) }
        var known = memory.ends ?? KnownEnds(ends, from: offset + start)
        if !known.covers(ends, from: offset + start) { known = KnownEnds(ends, from: offset + start) }
        let found = known.first(in: frame, from: start, origin: offset)
        memory.ends = known
        return found
    }

    /// A frame whose length is not known yet, but too much: how many of its bytes are there depends on the chunks.
    private func tooLong(at offset: Int, explains: Bool) -> FrameScan {
        let detail = {
            "the frame has more than \(limit) bytes (head at offset \(offset)), which is the limit of a frame"
        }
        return .bad(BadBytes(.tooLong, detail(), explains: explains))
    }

    private func shape(head: Int, body: Int, tail: Int, at offset: Int, explains: Bool) -> FrameScan {
        let (total, overflow) = body.addingReportingOverflow(head + tail)
        guard !overflow, total <= limit else {
            let detail = {
                let count = overflow ? "more than 2^63" : "\(total)"
                return "the frame has \(count) bytes (head at offset \(offset)), the limit of a frame is \(limit)"
            }
            return .bad(BadBytes(.tooLong, detail(), explains: explains))
        }
        guard total > 0 else {
            return .bad(
                BadBytes(.badLength, "no field of the frame at offset \(offset) has any bytes", explains: explains))
        }
        return .shape(FrameShape(head: head, body: body, tail: tail))
    }

    /// Bytes between frames.
    private func padded(_ bytes: RawSpan, from start: Int, ended: Bool) -> FrameScan? {
        let begun = bytes.extracting(start..<bytes.byteCount)
        var (whole, needed) = (0, Int.max)
        for padding in padding {
            let known = min(padding.count, begun.byteCount)
            let prefix = Array(padding.prefix(known))
            guard begun.extracting(0..<known).elementsEqual(prefix.span.bytes) else { continue }
            if known == padding.count { whole = max(whole, known) } else { needed = min(needed, padding.count) }
        }
        // A longer one may have begun.
        if needed < .max, whole == 0 || !ended { return .incomplete(atLeast: needed) }
        return whole > 0 ? .padding(whole) : nil
    }

    // MARK: Requests

    package var remembersWalks: Bool { true }

    package var requestPaths: [[String]] {
        bodies.flatMap { $0.condition?.paths.filter { $0.first == "request" } ?? [] }
    }

    package func bound(to conversation: Conversation, _ direction: Direction) -> (any FramingRule)? {
        var bound = self
        bound.memory = conversation.memories[direction]
        if !requestPaths.isEmpty { bound.conversation = conversation }
        return bound
    }

    /// Remembers what a complete frame leaves for those after it.
    ///
    /// - Parameters:
    ///   - body: the value of the frame's body at a path.
    func remember(
        _ content: RawSpan, _ shape: FrameShape, in memory: DirectionMemory, body value: (_ path: [String]) -> Value
    ) {
        guard let remembering, shape.head <= content.byteCount else { return }
        var walk = StructureWalk(explains: false)
        var nothing = NoVisitor()
        guard walk.go(head.structure, content.extracting(0..<shape.head), end: nil, &nothing) == .complete else {
            return
        }
        walk.scope.addLength(shape.head)
        remembering.recall(memory, into: &walk.scope)
        remembering.apply(body: shape.body, to: &walk.scope, memory, value)
    }

    package func isInterim(_ content: RawSpan, _ shape: FrameShape) -> Bool {
        guard let interim else { return false }
        var walk = StructureWalk(explains: false)
        var nothing = NoVisitor()
        let head = content.extracting(0..<shape.head)
        return walk.go(self.head.structure, head, end: nil, &nothing) == .complete && walk.scope.holds(interim)
    }

    // MARK: Evidence

    package var landmark: Landmark {
        guard bodies.isEmpty, ends.isEmpty, trailer == 0 else { return .none }
        let lineEnds = head.structure.lineEnds
        return lineEnds.isEmpty ? .none : .after(lineEnds, isCertain: true)
    }

    package func mayStart(_ bytes: RawSpan, at start: Int) -> Bool {
        firstBytes.contains(bytes[byte: start]) && startCheck.mayFit(bytes, at: start)
    }

    package func evidence(
        of shape: FrameShape, in bytes: RawSpan, at start: Int, previous: (start: Int, shape: FrameShape)?,
        _ background: ByteBackground
    ) -> Evidence? {
        var walk = StructureWalk(explains: false)
        var visitor = StructureEvidence()
        let head = bytes.extracting(start..<start + shape.head)
        guard walk.go(self.head.structure, head, end: nil, &visitor) == .complete else { return nil }
        var evidence = visitor.total(in: head, background)
        if shape.body > 0 { evidence.lengths += Evidence.length(UInt64(shape.body), width: 16) + 8 }
        return evidence
    }

    package func mayEnd(with tail: RawSpan) -> Bool {
        guard let requiredEnd, !requiredEnd.isMet(by: tail) else { return true }
        return delimiters.contains { $0.span.bytes.elementsEqual(tail) }
    }

    package func progress(_ bytes: RawSpan, shape: FrameShape?) -> String {
        guard let shape else { return "\(bytes.byteCount) bytes of a frame whose end is not known yet" }
        return "\(bytes.byteCount - shape.head) of \(shape.body + shape.tail) bytes after the head"
    }

    // MARK: Content

    package var transforms: Bool { bodies.contains { $0.isChunked } }

    package func content(of frame: RawSpan, _ shape: FrameShape) -> (bytes: [UInt8], shape: FrameShape)? {
        guard isChunked(frame, shape),
            let chunks = ChunkedBody.read(frame.extracting(shape.head..<shape.head + shape.body))
        else { return nil }
        // What is between the chunks follows their bytes, so that no byte of the frame is lost.
        var content = shape
        (content.body, content.tail) = (chunks.content.count, chunks.frame.count)
        return (frame.copied(0..<shape.head) + chunks.content + chunks.frame, content)
    }

    /// A frame whose content was changed without anything recomputed: whatever its head says now, its body is in chunks if it was.
    func rewrap(
        _ content: [UInt8], _ shape: FrameShape, like old: RawSpan, _ oldShape: FrameShape
    ) -> [UInt8] {
        guard oldShape.tail > 0, isChunked(old, oldShape) else { return content }
        let end = shape.head + shape.body
        var parts = FrameParts(head: Array(content[..<shape.head]), body: Array(content[shape.head..<end]))
        parts.given = [Field("chunked", .bytes(old.copied(oldShape.head + oldShape.body..<oldShape.total)))]
        return parts.head + chunked(parts)
    }

    package var noted: [String] {
        let hasEnds = bodies.contains { if case .until(let ends) = $0.kind { ends.count > 1 } else { false } }
        return (transforms ? ["chunks", "chunked"] : []) + (hasEnds ? ["end"] : [])
            + (remembering?.shown.map { [$0.name] } ?? [])
    }

    /// What ends a body: as the frame's notes say, otherwise the longest.
    private func end(of ends: [[UInt8]], _ given: [Field]) -> [UInt8] {
        guard let value = given.last(where: { $0.name == "end" })?.value else { return ends.first ?? [] }
        let text = value.plainText.map { Array($0.utf8) }
        return ends.first { $0 == text || $0 == value.rawBytes } ?? ends.first ?? []
    }

    /// How a chunked body was written: the sizes of its chunks, or all that was between their bytes.
    package func notes(of content: RawSpan, _ shape: FrameShape) -> [Field] {
        if let shown = remembering?.shown, let value = shape.recalled {
            return [Field(shown.name, .integer(Int64(value)))]
        }
        if shape.tail > 0, noted.contains("end"), case .until(let ends)? = extent(of: content, shape)?.kind,
            ends.count > 1
        {
            return [Field("end", WordLine.text(content.extracting(shape.head + shape.body..<shape.total)))]
        }
        guard shape.tail > 0, isChunked(content, shape) else { return [] }
        let frame = content.copied(shape.head + shape.body..<shape.total)
        if let sizes = ChunkedBody.sizes(frame) {
            return [Field("chunks", .json("[\(sizes.map(String.init).joined(separator: ","))]"))]
        }
        return [Field("chunked", .bytes(frame))]
    }

    private func isChunked(_ frame: RawSpan, _ shape: FrameShape) -> Bool {
        transforms && extent(of: frame, shape)?.isChunked == true
    }

    /// The case of its body that holds for a frame.
    private func extent(of frame: RawSpan, _ shape: FrameShape) -> BodyExtent? {
        guard shape.head <= frame.byteCount else { return nil }
        var walk = StructureWalk(explains: false)
        var nothing = NoVisitor()
        let head = frame.extracting(0..<shape.head)
        guard walk.go(self.head.structure, head, end: nil, &nothing) == .complete else { return nil }
        let scope = walk.scope
        return bodies.first { scope.holds($0.condition) }
    }

    package func encode(_ parts: FrameParts) throws(EncodingError) -> [UInt8] {
        switch extent(of: parts.head.span.bytes, FrameShape(head: parts.head.count, body: 0))?.kind {
        case .chunked: return parts.head + chunked(parts)
        case .until(let ends):
            if ends.contains(where: { parts.body.span.bytes.firstRange(of: $0, from: 0) != nil }) {
                throw EncodingError("the body contains the delimiter")
            }
            return parts.head + parts.body + end(of: ends, parts.given)
        case .end: return parts.head + parts.body
        case .size, nil: return parts.head + parts.body + parts.trailer + ends
        }
    }
}

extension Structured {
    /// A chunked body, written as the frame's notes say if they belong to this content.
    private func chunked(_ parts: FrameParts) -> [UInt8] {
        for field in parts.given {
            if field.name == "chunked", let frame = field.value.rawBytes,
                let body = ChunkedBody.write(parts.body, between: frame)
            {
                return body
            }
            if field.name == "chunks", case .json(let text) = field.value,
                case .array(let list) = JSONValue(compact: Array(text.utf8).span.bytes)
            {
                let sizes = list.compactMap(\.integer)
                let most = parts.body.count
                // A size is at most the body's, so that their sum does not overflow.
                if sizes.count <= most, sizes.allSatisfy({ (1...max(most, 1)).contains($0) }),
                    sizes.reduce(0, +) == most
                {
                    return ChunkedBody.write(parts.body, sizes: sizes)
                }
            }
        }
        return ChunkedBody.write(parts.body, sizes: parts.body.isEmpty ? [] : [parts.body.count])
    }
}

/// Where a body ends.
struct BodyExtent: Sendable {
    /// When this is so; nil: always.
    var condition: Expression?
    var kind: Kind
    /// The most bytes of a body with a size; nil: as many as that says.
    var most: Expression?

    enum Kind: Sendable {
        /// After this many bytes.
        case size(Expression)
        /// After its last chunk (RFC 9112 section 7.1).
        case chunked
        /// Before the first of these, which belongs to the frame; longest first.
        case until([[UInt8]])
        /// With the stream.
        case end
    }

    var isChunked: Bool { if case .chunked = kind { true } else { false } }

    /// Whether it depends on what earlier frames have left.
    var recalls: Bool {
        var paths = (condition?.paths ?? []) + (most?.paths ?? [])
        if case .size(let size) = kind { paths += size.paths }
        return paths.contains { $0.first == Remembering.root }
    }
}

/// Where the walk over a frame's header had to stop.
struct HeldWalk: Sendable {
    let offset: Int
    /// How many bytes it has seen: a search may look at fewer.
    let seen: Int
    /// Whose fields they are: several kinds of frames may be tried at the same place.
    let identity: Identity
    let walk: StructureWalk

    /// Identifies a rule.
    final class Identity: Sendable {}

}
