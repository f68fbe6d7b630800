import Framing
import Streams

/// Byte 0: the example's format. Byte 1: bit 0 picked up mid-stream, bit 1 each chunk byte by byte rather than in halves. Then the
/// chunks as they arrived: two bytes of length, the highest bit set for the server's, and the bytes; a chunk of length 0 is a gap of
/// 4 bytes. However the chunks are cut, it is the same frames; the bytes add up; and what was read can be written.
func fuzzConversations(_ input: FuzzInput) {
    var input = input
    let format = ExampleFormat.all[input.byte() % ExampleFormat.all.count]
    let flags = input.byte()
    var chunks: [(Direction, [UInt8])] = []
    while !input.rest.isEmpty {
        let head = input.byte() << 8 | input.byte()
        chunks.append((head & 0x8000 == 0 ? .fromClient : .fromServer, input.bytes(head & 0x7fff)))
    }
    let isAligned = flags & 1 == 0
    let whole = ConversationLog(format, chunks, isAligned: isAligned) { _ in [] }
    let cut = ConversationLog(format, chunks, isAligned: isAligned) { flags & 2 == 0 ? [$0 / 2] : Array(0..<$0) }
    for direction in Direction.allCases {
        let length = chunks.reduce(0) { $0 + ($1.0 == direction ? max($1.1.count, $1.1.isEmpty ? 4 : 0) : 0) }
        expect(
            format.hasLayers || whole.counts[direction].bytes == length,
            "\(format.name): \(whole.counts[direction]) of \(length) bytes")
        // What is opaque goes by the cutting.
        guard !whole.isOpaque, !cut.isOpaque else { continue }
        let (one, other) = (whole.results[direction], cut.results[direction])
        expect(one == other, "\(format.name) \(direction): whole \(one)\ncut \(other)")
    }
}

private enum ExampleFormat {
    static let all: [Format] =
        ExampleFormats.names.compactMap { name in
            ExampleFormats.yaml(of: name).flatMap { try? FormatLoader.load($0, file: name) }
        } + [try? FormatLoader.load(layered, file: "layered")].compactMap { $0 }

    /// Lines, then a stream that is compressed: the last of them.
    private static let layered = """
        format: layered
        states:
          lines: { header: [{ words: [verb, "rest*"], ends: "\\n" }], framing: { rule: fields } }
          packed:
            through: [{ xor: { key: 0x2a2b } }, zlib]
            header: [{ length: u8 }]
            framing: { rule: length-field, field: length, counts: body }
        transitions:
          - { in: lines, when: from == client and verb == "GO", to: packed }
          - { in: packed, when: length == 9, to: lines, side: server }
        """
}

extension Format {
    fileprivate var hasLayers: Bool { name == "layered" }
}

/// What framers gave away of both directions.
private final class ConversationLog: FrameReceiver {
    var results = PerDirection<[String]>(fromClient: [], fromServer: [])
    var counts = PerDirection(fromClient: ByteCounts(), fromServer: ByteCounts())
    var isOpaque = false
    private let format: Format

    init(
        _ format: Format, _ chunks: [(Direction, [UInt8])], isAligned: Bool, _ cut: (_ count: Int) -> [Int]
    ) {
        self.format = format
        let scratch = FramingScratch()
        var framers = format.framers(aligned: isAligned)
        func layers(_ direction: Direction) -> LayeredStream? {
            guard let conversation = framers[direction].conversation else { return nil }
            return LayeredStream(conversation, direction)
        }
        let layered = PerDirection(fromClient: layers(.fromClient), fromServer: layers(.fromServer))
        for (direction, bytes) in chunks {
            if bytes.isEmpty {
                let count = layered[direction]?.skip(4) ?? 4
                framers[direction].missing(count, at: Timestamp(nanoseconds: 0), scratch: scratch, into: self)
            }
            let bounds = [0] + cut(bytes.count) + [bytes.count]
            for (start, end) in zip(bounds, bounds.dropFirst()) where start < end {
                let piece = Array(bytes[start..<end])
                func frame(_ bytes: RawSpan) {
                    framers[direction].receive(
                        bytes, at: Timestamp(nanoseconds: 0), packet: 1, scratch: scratch, into: self)
                }
                if let layered = layered[direction] {
                    layered.take(piece.span.bytes, frame)
                } else {
                    frame(piece.span.bytes)
                }
            }
        }
        for direction in Direction.allCases {
            framers[direction].finish(scratch: scratch, into: self)
            counts[direction] = framers[direction].counts
        }
    }

    func framed(_ frame: FrameInfo, bytes: RawSpan, from direction: Direction) {
        let side = format.directions[direction]
        let name = side.layouts[frame.shape.layout].name
        if name == "opaque" { isOpaque = true }
        side.withContent(of: bytes, frame.shape) { content, shape in
            let fields = side.fields(of: content, shape)
            let body = content.copied(shape.head..<shape.head + shape.body)
            let decoded = side.decodeBody(of: content, shape)
            results[direction].append(
                "\(frame.offset) \(shape) \(side.type(of: content, shape) ?? "") \(fields) \(decoded)")
            // Writing may be refused, but not fail.
            _ = try? side.encode(fields, body: body, layout: name)
        }
    }

    func unframed(_ run: UnframedRun, from direction: Direction) {
        results[direction].append("\(run.offset) \(run.bytes.count) \(run.reason) \(run.detail)")
    }

    func missing(offset: Int, byteCount: Int, from direction: Direction, at time: Timestamp) {
        results[direction].append("\(offset) \(byteCount) missing")
    }
}
