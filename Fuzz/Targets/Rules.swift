import Framing
import Streams

/// Byte 0: the format. Byte 1: bit 0 picked up mid-stream, bit 1 the server's side, bit 2 with a gap. Bytes 2…5: the
/// pieces' lengths, in turn. With a gap, two bytes more: where it lies, and how long it is. The rest is the stream: cut or
/// whole, it is the same frames, and the bytes add up.
func fuzzRules(_ input: FuzzInput) {
    var input = input
    let format = RuleFormats.all[input.byte() % RuleFormats.all.count]
    let flags = input.byte()
    let lengths = (0..<4).map { _ in input.byte() % 64 + 1 }
    var gap: Range<Int>?
    if flags & 4 != 0 {
        let (place, length) = (input.byte(), input.byte() + 1)
        let start = input.rest.count * place / 256
        gap = start..<start + length
    }
    let stream = Array(input.rest)
    let direction: Direction = flags & 2 == 0 ? .fromClient : .fromServer
    let isAligned = flags & 1 == 0
    let whole = FrameLog(stream, [max(stream.count, 1)], gap, format, direction, isAligned: isAligned)
    let cut = FrameLog(stream, lengths, gap, format, direction, isAligned: isAligned)
    let length = stream.count + (gap?.count ?? 0)
    for log in [whole, cut] {
        expect(log.counts.bytes == length, "\(format.name): \(log.counts) of \(length) bytes")
        expect(log.counts.missing == gap?.count ?? 0, "\(format.name): \(log.counts.missing) missing")
        expect(log.accounted + log.counts.padding == length, "\(format.name): \(log.accounted) accounted for")
    }
    // The rule chunk alone goes by the cutting.
    if !["chunk", "text-heartbeat"].contains(format.name) {
        expect(whole.results == cut.results, "\(format.name): whole \(whole.results)\ncut \(cut.results)")
        expect(whole.counts == cut.counts, "\(format.name): whole \(whole.counts), cut \(cut.counts)")
    }
}

/// The formats whose rules are fuzzed, each loaded once.
private enum RuleFormats {
    static let all: [Format] =
        (BuiltInFormats.names + BuiltInFormats.ruleNames).compactMap { name in
            try? BuiltInFormats.format(named: name)
        } + [searchingKinds].compactMap { try? FormatLoader.load($0, file: "kinds") }

    /// Kinds each of which searches for an end of its own.
    private static let searchingKinds = """
        format: kinds
        oneOf:
          - { name: sized, framing: { rule: head-and-body, head: json, ends: "\\r\\n", size: size } }
          - { name: object, framing: { rule: json-sequence, limit: 64 B } }
          - { name: escaped, framing: { rule: escaped, start: 0x7b, end: 0x0a, escape: 0x5c, limit: 40 B } }
          - { name: line, framing: { rule: delimiter, end: "\\n" } }
        """
}

/// What a framer gave away of a stream, without what may depend on the cutting.
private final class FrameLog: FrameReceiver {
    enum Item: Hashable {
        case frame(index: Int, shape: FrameShape, bytes: [UInt8], description: String)
        case unframed(bytes: [UInt8], reason: UnframedReason, detail: String)
        case missing(offset: Int, byteCount: Int)
    }

    let format: DirectionFormat
    var results: [Item] = []
    var counts = ByteCounts()
    /// How many bytes the results hold; they come in order, with nothing but padding between them.
    var accounted = 0
    private var end = 0

    init(
        _ stream: [UInt8], _ lengths: [Int], _ gap: Range<Int>?, _ format: Format, _ direction: Direction,
        isAligned: Bool
    ) {
        self.format = format.directions[direction]
        let scratch = FramingScratch()
        var framer = Framer(rule: self.format.rule, direction: direction, aligned: isAligned)
        var (at, packet) = (0, 0)
        while at < stream.count {
            if gap?.lowerBound == at { leaveOut(gap, &framer, scratch) }
            var end = min(stream.count, at + lengths[packet % lengths.count])
            if let gap, gap.lowerBound > at { end = min(end, gap.lowerBound) }
            let piece = Array(stream[at..<end])
            packet += 1
            framer.receive(
                piece.span.bytes, at: Timestamp(nanoseconds: 0), packet: packet, scratch: scratch, into: self)
            at += piece.count
        }
        if let gap, gap.lowerBound == stream.count { leaveOut(gap, &framer, scratch) }
        framer.finish(scratch: scratch, into: self)
        expect(framer.heldBytes == 0, "\(framer.heldBytes) bytes are held at the end")
        counts = framer.counts
    }

    private func leaveOut(_ gap: Range<Int>?, _ framer: inout Framer, _ scratch: FramingScratch) {
        framer.missing(gap?.count ?? 0, at: Timestamp(nanoseconds: 0), scratch: scratch, into: self)
    }

    func framed(_ frame: FrameInfo, bytes: RawSpan, from direction: Direction) {
        account(frame.offset, bytes.byteCount, missing: frame.missing)
        let description = format.withContent(of: bytes, frame.shape) { content, shape in
            let body = format.decodeBody(of: content, shape)
            return """
                \(format.type(of: content, shape) ?? "") \(format.fields(of: content, shape)) \(body) \
                \(format.origin(of: content, shape) ?? "") \(format.target(of: content, shape) ?? "")
                """
        }
        results.append(
            .frame(index: frame.index, shape: frame.shape, bytes: bytes.copied(), description: description))
    }

    func unframed(_ run: UnframedRun, from direction: Direction) {
        account(run.offset, run.bytes.count)
        results.append(.unframed(bytes: run.bytes, reason: run.reason, detail: run.detail))
    }

    func missing(offset: Int, byteCount: Int, from direction: Direction, at time: Timestamp) {
        // A gap in a frame is told before the frame, and one that a frame reaches into, after it.
        results.append(.missing(offset: offset, byteCount: byteCount))
        accounted += byteCount
    }

    private func account(_ offset: Int, _ count: Int, missing: Int = 0) {
        expect(offset >= end, "offset \(offset) comes after \(end)")
        end = offset + count
        accounted += count - missing
    }
}
