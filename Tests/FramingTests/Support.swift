import Framing
import Streams
import Testing

/// A small generator whose numbers depend on its seed alone (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

/// A framer's results, without anything that may depend on segmentation.
enum Framed: Hashable {
    case frame(index: Int, offset: Int, shape: FrameShape, missing: Int, bytes: [UInt8])
    case unframed(offset: Int, bytes: [UInt8], reason: UnframedReason, detail: String)
    case missing(offset: Int, byteCount: Int)
}

final class FramedLog: FrameReceiver {
    var results: [Framed] = []
    var frames: [FrameInfo] = []
    /// How many bytes each unframed run has.
    var unframedCounts: [Int] = []

    func framed(_ frame: FrameInfo, bytes: RawSpan, from direction: Direction) {
        frames.append(frame)
        results.append(
            .frame(
                index: frame.index, offset: frame.offset, shape: frame.shape, missing: frame.missing,
                bytes: bytes.copied()))
    }

    func unframed(_ run: UnframedRun, from direction: Direction) {
        unframedCounts.append(run.byteCount)
        results.append(.unframed(offset: run.offset, bytes: run.bytes, reason: run.reason, detail: run.detail))
    }

    func missing(offset: Int, byteCount: Int, from direction: Direction, at time: Timestamp) {
        results.append(.missing(offset: offset, byteCount: byteCount))
    }
}

/// A piece of a stream as it is fed to a framer.
enum Piece {
    case bytes([UInt8])
    case gap(Int)
}

/// Frames a stream fed in pieces; every chunk arrives one second after the previous one, starting at second 1.
func frame(_ pieces: [Piece], with rule: any FramingRule, aligned: Bool = true) -> (log: FramedLog, counts: ByteCounts)
{
    let log = FramedLog()
    let scratch = FramingScratch()
    var framer = Framer(rule: rule, direction: .fromClient, aligned: aligned)
    for (index, piece) in pieces.enumerated() {
        let time = Timestamp(seconds: Int64(index + 1), nanoseconds: 0)
        switch piece {
        case .bytes(let bytes):
            framer.receive(bytes.span.bytes, at: time, packet: index + 1, scratch: scratch, into: log)
        case .gap(let count): framer.missing(count, at: time, scratch: scratch, into: log)
        }
    }
    framer.finish(scratch: scratch, into: log)
    return (log, framer.counts)
}

/// Splits bytes at the given offsets.
func cut(_ bytes: [UInt8], at places: [Int]) -> [Piece] {
    let bounds = [0] + places.sorted() + [bytes.count]
    return zip(bounds, bounds.dropFirst()).filter { $0 < $1 }.map { .bytes(Array(bytes[$0..<$1])) }
}

/// Checks that any segmentation gives the same results and that the bytes add up: whole, split at every offset, byte by byte, and
/// at random.
func expectCuttingDoesNotMatter(
    _ bytes: [UInt8], rule: any FramingRule, aligned: Bool = true, seed: UInt64 = .random(in: 0...UInt64.max),
    everyPosition: Bool = true, sourceLocation: SourceLocation = #_sourceLocation
) {
    let whole = frame(cut(bytes, at: []), with: rule, aligned: aligned)
    #expect(whole.counts.bytes == bytes.count, sourceLocation: sourceLocation)
    let accounted = accounted(whole.log.results)
    #expect(accounted == accounted.sorted() && Set(accounted).count == accounted.count, sourceLocation: sourceLocation)
    #expect(accounted.count + whole.counts.padding == bytes.count, sourceLocation: sourceLocation)
    func check(_ places: [Int], _ name: String) {
        let (log, counts) = frame(cut(bytes, at: places), with: rule, aligned: aligned)
        #expect(
            log.results == whole.log.results && counts == whole.counts, "\(name), seed \(seed)",
            sourceLocation: sourceLocation)
    }
    check(Array(1..<max(bytes.count, 1)), "byte by byte")
    if everyPosition { for place in 1..<max(bytes.count, 1) { check([place], "cut at \(place)") } }
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<(everyPosition ? 40 : 10) {
        let count = Int.random(in: 1...12, using: &generator)
        check((0..<count).map { _ in Int.random(in: 0...bytes.count, using: &generator) }, "cut at random")
    }
}

/// Every stream offset that a list of results accounts for, in order.
private func accounted(_ results: [Framed]) -> [Int] {
    results.flatMap { result -> [Int] in
        switch result {
        case .frame(_, let offset, let shape, _, _): Array(offset..<offset + shape.total)
        case .unframed(let offset, let bytes, _, _): Array(offset..<offset + bytes.count)
        case .missing: []
        }
    }
}
