import HeapModule
import Streams

/// The captures of a merge, whatever the type of their sources: where captures alternate with every packet, code that is generic over it
/// would look up types for each.
struct MergedReaders {
    /// How a step of reading ended, as in `CaptureMerge`.
    enum Step {
        case more
        case failed(Int, CaptureReadFailure<any Error>)
        case stopped
        case end
    }

    /// How many bytes are read of a capture that waits for its turn.
    private static let firstChunk = 4 << 10

    private var readers: [CaptureReader<AnySource>?]
    /// How many captures were probed for the time of their first packet.
    private var lookedAt = 0
    private var turns = Heap<Turn>()
    /// The next turn of the capture that was read last. It is not among `turns` yet, since it often is the earliest again.
    private var latest: Turn?
    private var hasEnded = false
    private(set) var bytesRead = 0
    /// Whether the time of a capture's first packet is still unknown.
    var isLooking: Bool { lookedAt < readers.count }

    init(_ inputs: [AnySource], chunk: Int) {
        readers = inputs.map { CaptureReader($0, chunk: chunk, first: Self.firstChunk) }
    }

    /// Reads once from the capture whose turn it is, and passes on the packets that are then complete.
    mutating func step<Packets: TurnReceiver & ~Copyable>(to packets: inout Packets) -> Step {
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
        guard let turn = nextTurn() else {
            if !hasEnded { packets.end() }
            hasEnded = true
            return .end
        }
        packets.take(turn, before: turns.min)
        return read(turn, to: &packets)
    }

    private mutating func nextTurn() -> Turn? {
        guard let latest else { return turns.popMin() }
        self.latest = nil
        guard let least = turns.min, least < latest else { return latest }
        return turns.replaceMin(with: latest)
    }

    private mutating func read<Packets: TurnReceiver & ~Copyable>(_ turn: Turn, to packets: inout Packets) -> Step {
        let capture = turn.capture
        packets.hasStopped = false
        packets.turn(to: capture)
        do {
            switch try step(capture, to: &packets) {
            case .more:
                if !packets.isLooking { latest = turn }
            case .stopped where packets.isRefused:
                latest = turn
                return .stopped
            case .stopped:
                packets.hasStopped = true
                let next = Turn(time: packets.next, capture: capture)
                if packets.isLooking { turns.insert(next) } else { latest = next }
            case .end, nil: readers[capture] = nil
            }
            return .more
        } catch {
            readers[capture] = nil
            return .failed(capture, error)
        }
    }

    /// Where captures alternate, this is done for each packet, and seldom reads. Mutating calls leave the reader where it is, while its
    /// value would be copied to be looked at.
    private mutating func step<Packets: TurnReceiver & ~Copyable>(
        _ capture: Int, to packets: inout Packets
    ) throws(CaptureReadFailure<any Error>) -> ReadingStep? {
        do throws(CaptureError) {
            if let step = try readers[capture]?.resume(to: &packets) { return step }
        } catch {
            throw .damaged(error)
        }
        defer { bytesRead += readers[capture]?.takeBytesRead() ?? 0 }
        return try readers[capture]?.step(to: &packets)
    }
}

/// What the packets of captures are passed on to. A protocol, so that the generic type `MergedPackets` is not looked up for each packet.
protocol TurnReceiver: PacketReceiver, ~Copyable {
    /// Whether no packet is taken yet, because only the first one's time is wanted.
    var isLooking: Bool { get set }
    /// Whether reading stopped before a packet.
    var hasStopped: Bool { get set }
    /// The time of the packet before which it stopped.
    var next: Timestamp { get }
    /// Whether the receiver refused it.
    var isRefused: Bool { get }

    /// A capture is read: what comes next is its own.
    mutating func turn(to capture: Int)

    /// Gives the turn to one capture, until that of another.
    mutating func take(_ turn: Turn, before other: Turn?)

    /// All captures are at their end.
    mutating func end()
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
