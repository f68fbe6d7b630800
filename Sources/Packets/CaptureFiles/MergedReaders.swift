import HeapModule
import Streams

/// The captures of a merge, whatever the type of their sources: where captures alternate with every packet, code that is generic over it
/// would look up types for each.
struct MergedReaders {
    /// A source.
    struct Input: ByteSource {
        let next: (UnsafeMutableRawBufferPointer) throws -> Int

        func read(into buffer: UnsafeMutableRawBufferPointer) throws(any Error) -> Int { try next(buffer) }
    }

    /// How a step of reading ended, as in `CaptureMerge`.
    enum Step {
        case more
        case failed(Int, CaptureReadFailure<any Error>)
        case stopped
        case end
    }

    /// How many bytes are read of a capture that waits for its turn.
    private static let firstChunk = 4 << 10

    private var readers: [CaptureReader<Input>?]
    /// How many captures were probed for the time of their first packet.
    private var lookedAt = 0
    private var turns = Heap<Turn>()
    private var hasEnded = false
    private(set) var bytesRead = 0
    /// Whether the time of a capture's first packet is still unknown.
    var isLooking: Bool { lookedAt < readers.count }

    init(_ inputs: [Input], chunk: Int) {
        readers = inputs.map { CaptureReader($0, chunk: chunk, first: Self.firstChunk) }
    }

    /// Reads once from the capture whose turn it is, and passes on the packets that are then complete.
    mutating func step<Receiver: ~Copyable>(to packets: inout MergedPackets<Receiver>) -> Step {
        if isLooking {
            // To find the earliest, the first packet of each must be known.
            packets.isLooking = true
            defer { packets.isLooking = false }
            let turn = Turn(time: .distantPast, capture: lookedAt)
            let step = read(turn, to: &packets)
            if case .more = step, readers[turn.capture] != nil, !packets.hasStopped { return step }
            lookedAt += 1
            return step
        }
        guard let turn = turns.popMin() else {
            if !hasEnded { packets.end() }
            hasEnded = true
            return .end
        }
        packets.take(turn, before: turns.min)
        return read(turn, to: &packets)
    }

    private mutating func read<Receiver: ~Copyable>(
        _ turn: Turn, to packets: inout MergedPackets<Receiver>
    ) -> Step {
        let capture = turn.capture
        packets.hasStopped = false
        packets.turn(to: capture)
        do {
            let step = try readers[capture]?.step(to: &packets)
            count(capture)
            switch step {
            case .more:
                if !packets.isLooking { turns.insert(turn) }
            case .stopped where packets.isRefused:
                turns.insert(turn)
                return .stopped
            case .stopped:
                packets.hasStopped = true
                turns.insert(Turn(time: packets.next, capture: capture))
            case .end, nil: readers[capture] = nil
            }
            return .more
        } catch {
            count(capture)
            readers[capture] = nil
            return .failed(capture, error)
        }
    }

    /// Adds what a capture's reader has read since the last time. Where captures alternate, this is done for each packet: a mutating
    /// call leaves the reader where it is, while its value would be copied to be looked at.
    private mutating func count(_ capture: Int) { bytesRead += readers[capture]?.takeBytesRead() ?? 0 }
}

/// The time of a capture's next packet: the least is next of all.
struct Turn: Comparable {
    var time: Timestamp
    var capture: Int

    static func < (left: Turn, right: Turn) -> Bool {
        (left.time, left.capture) < (right.time, right.capture)
    }
}

extension Timestamp {
    /// Earlier than any other.
    static var distantPast: Timestamp { Timestamp(nanoseconds: .min) }
}
