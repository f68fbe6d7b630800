import Streams
import Testing

@testable import Framing

/// Large bodies pass without being held: their frames are reported like frames that are held whole.
@Suite struct StreamedBodyTests {
    private let format: DirectionFormat

    init() throws {
        let yaml = """
            format: x
            header: [{ mark: { type: u8, equals: 0xa5 } }, { size: u16 }]
            framing: { rule: length-field, field: size, counts: body }
            body: text
            """
        format = try FormatLoader.load(yaml, file: "x").directions.fromClient
    }

    @Test func streamedFramesAreThoseThatAreHeldWhole() async throws {
        let rule = format.rule
        let seed = UInt64.random(in: 0...UInt64.max)
        for round in UInt64(0)..<400 {
            await Task.yield()
            var generator = SeededGenerator(seed: seed &+ round)
            let kept = Int.random(in: 0...80, using: &generator)
            let pieces = pieces(&generator)
            let whole = run(pieces, SharedRule.of(rule))
            let streamed = run(pieces, SharedRule.of(rule, keptBody: kept, streamedAbove: 100))
            #expect(streamed.counts == whole.counts, "seed \(seed &+ round)")
            #expect(streamed.log.places == whole.log.places, "seed \(seed &+ round)")
            let isSame = zip(streamed.log.frames, whole.log.frames).allSatisfy { same($0, $1, kept, streamed.log) }
            #expect(isSame && streamed.log.frames.count == whole.log.frames.count, "seed \(seed &+ round)")
            #expect(streamed.most <= 3 + max(100, kept), "seed \(seed &+ round)")
        }
    }

    /// Whether a frame equals the one that was held whole, and its streamed part is the part that is not at hand.
    private func same(_ frame: LargeLog.Frame, _ whole: LargeLog.Frame, _ kept: Int, _ log: LargeLog) -> Bool {
        var (info, body) = (frame.info, Array(whole.bytes[whole.info.shape.head...]))
        let isLarge = info.shape.total > 100 && info.shape.body > kept
        // A frame that is complete in the bytes at hand need not be held.
        guard info.streamed == (isLarge ? info.shape.body - kept : 0) || info.streamed == 0 else { return false }
        if info.streamed > 0, info.missing == 0 {
            guard info.isText == (String(validating: body, as: UTF8.self) != nil) else { return false }
        }
        body = Array(body.dropFirst(info.shape.body - info.streamed))
        for part in log.parts where part.index == info.index {
            let start = part.offset - (info.shape.body - info.streamed)
            guard Array(body[start..<start + part.bytes.count]) == part.bytes else { return false }
        }
        let passed = log.parts.filter { $0.index == info.index }.reduce(0) { $0 + $1.bytes.count }
        guard info.missing > 0 || passed == info.streamed else { return false }
        info.setStreamed(0, isText: false)
        return info == whole.info && frame.bytes.elementsEqual(whole.bytes.dropLast(frame.info.streamed))
    }

    /// Frames with text, broken text or bytes, some followed by garbage, segmented anywhere, with an occasional gap, and
    /// truncated.
    private func pieces(_ generator: inout SeededGenerator) -> [Piece] {
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 1...8, using: &generator) {
            var body = Array(String("aß€😀".randomElement(using: &generator) ?? "a").utf8)
            body = Array(repeatElement(body, count: .random(in: 0...150, using: &generator)).joined())
            if Int.random(in: 0..<3, using: &generator) == 0, !body.isEmpty {
                body[.random(in: 0..<body.count, using: &generator)] = 0xff
            }
            if Int.random(in: 0..<4, using: &generator) == 0 { body = Array(body.dropLast()) }
            bytes += [0xa5, UInt8(body.count >> 8), UInt8(body.count & 255)] + body
            if Int.random(in: 0..<6, using: &generator) == 0 { bytes += [1, 2, 3] }
        }
        if Bool.random(using: &generator) { bytes.removeLast(.random(in: 0..<bytes.count, using: &generator)) }
        var pieces: [Piece] = []
        var at = 0
        let longest = [1, 7, 200, 5_000].randomElement(using: &generator) ?? 7
        while at < bytes.count {
            let end = min(bytes.count, at + .random(in: 1...longest, using: &generator))
            let isGap = Int.random(in: 0..<40, using: &generator) == 0
            pieces.append(isGap ? .gap(end - at) : .bytes(Array(bytes[at..<end])))
            at = end
        }
        return pieces
    }

    private func run(_ pieces: [Piece], _ rule: SharedRule) -> (log: LargeLog, counts: ByteCounts, most: Int) {
        let (log, scratch) = (LargeLog(), FramingScratch())
        var framer = Framer(rule, direction: .fromClient, aligned: true)
        var most = 0
        for (index, piece) in pieces.enumerated() {
            let time = Timestamp(seconds: Int64(index + 1), nanoseconds: 0)
            switch piece {
            case .bytes(let bytes):
                framer.receive(bytes.span.bytes, at: time, packet: index + 1, scratch: scratch, into: log)
            case .gap(let count): framer.missing(count, at: time, scratch: scratch, into: log)
            }
            if framer.isAligned { most = max(most, framer.heldBytes) }
        }
        framer.finish(scratch: scratch, into: log)
        return (log, framer.counts, most)
    }

    @Test func textIsReportedWhereverItIsCut() {
        for text in ["", "a", "ß", "€", "😀", "aß€😀b", "\u{7ff}\u{800}\u{ffff}\u{10000}\u{10ffff}"] {
            let valid = Array(text.utf8)
            var variants = [valid]
            for place in valid.indices {
                variants.append(Array(valid[..<place]))
                for byte in [0x80, 0xc0, 0xed, 0xff] as [UInt8] {
                    var broken = valid
                    broken[place] = byte
                    variants.append(broken)
                }
            }
            for bytes in variants {
                let isText = String(validating: bytes, as: UTF8.self) != nil
                for first in 0...bytes.count {
                    for second in first...bytes.count {
                        var body = StreamedBody(after: bytes.span.bytes.extracting(0..<first))
                        body.take(bytes.span.bytes.extracting(first..<second))
                        body.take(bytes.span.bytes.extracting(second..<bytes.count))
                        #expect(body.isWholeText == isText, "\(bytes) cut at \(first) and \(second)")
                        #expect(body.byteCount == bytes.count - first)
                    }
                }
            }
        }
    }

    @Test func whatLooksIntoBodiesKeepsThemWhole() throws {
        func streams(_ yaml: String) throws -> Bool {
            let head =
                "format: x\nheader: [{ size: u16 }]\nframing: { rule: length-field, field: size, counts: body }\n"
            return try FormatLoader.load(head + yaml, file: "x").streamsBodies(from: .fromClient)
        }
        #expect(try streams(""))
        #expect(try streams("body: text"))
        #expect(try streams("pairs: [{ request: from == client, from: client, answer: from == server }]"))
        #expect(try !streams("body: json"))
        #expect(try !streams("secret: [body]"))
        #expect(try !streams("body: text\nframe: { type: body.text }"))
        #expect(try !streams("pairs: [{ request: from == client, from: client, answer: from == server, by: body }]"))
        let heartbeat = "body: text\nheartbeat: { when: body.text == \"hi\", from: client, every: 1 s, gap: 3 s }"
        #expect(try !streams(heartbeat))
    }
}

/// A framer's results, and the streamed parts.
private final class LargeLog: FrameReceiver {
    struct Frame {
        let info: FrameInfo
        let bytes: [UInt8]
    }
    struct Part {
        let index: Int
        let offset: Int
        let bytes: [UInt8]
    }
    private(set) var frames: [Frame] = []
    private(set) var parts: [Part] = []
    /// The unframed bytes, with adjacent pieces joined, and the gaps.
    private(set) var places: [String] = []
    private var last: (end: Int, reason: UnframedReason)?

    func framed(_ frame: FrameInfo, bytes: RawSpan, from direction: Direction) {
        frames.append(Frame(info: frame, bytes: bytes.copied()))
        last = nil
    }

    func streamed(_ part: StreamedPart, bytes: RawSpan, from direction: Direction) {
        parts.append(Part(index: part.index, offset: part.offset, bytes: bytes.copied()))
    }

    func unframed(_ run: UnframedRun, from direction: Direction) {
        if let last, last.end == run.offset, last.reason == run.reason {
            places[places.count - 1] = places[places.count - 1].prefix { $0 != "-" } + "-\(run.offset + run.byteCount)"
        } else {
            places.append(
                "\(run.reason.rawValue) \(run.offset)-\(run.offset + run.byteCount)".replacing(
                    "no-sync", with: "nosync"))
        }
        last = (run.offset + run.byteCount, run.reason)
    }

    func missing(offset: Int, byteCount: Int, from direction: Direction, at time: Timestamp) {
        places.append("missing \(offset)+\(byteCount)")
        last = nil
    }
}
