import HeapModule
import Streams

/// Reads several captures as one, in chronological order: of the next packets of all captures, the earliest comes first.
///
/// A capture's own packets keep their order, and of equal times the first capture's goes first. A packet without a time follows
/// the one before it. Each capture waits for its turn with a small buffer; captures that do not overlap in time are read one
/// after another, each as if alone.
package struct CaptureMerge<Source: ByteSource> {
    /// How a step of reading ended.
    package enum Step {
        /// There may be more.
        case more
        /// A capture, by its place among the sources, could not be read to its end; the others continue.
        case failed(Int, CaptureReadFailure<Source.Failure>)
        /// The receiver asked to stop.
        case stopped
        /// All captures are at their end.
        case end
    }

    /// After how many turns of alternating captures a step ends.
    private static var mostTurns: Int { 256 }
    /// A turn of fewer packets is one of many.
    private static var shortTurn: Int { 16 }

    private var readers: MergedReaders

    /// How many bytes were read of all captures.
    package var bytesRead: Int { readers.bytesRead }

    /// A merge at the start of its sources.
    ///
    /// - Parameter chunk: how many bytes are requested at once.
    package init(_ sources: [Source], chunk: Int = 128 << 10) {
        readers = MergedReaders(
            sources.map { source in
                var source = source
                return MergedReaders.Input { try source.read(into: $0) }
            }, chunk: chunk)
    }

    /// Reads once from the capture whose turn it is, and passes on the packets that are then complete; where captures alternate, goes on
    /// with the others.
    package mutating func step<Receiver: ~Copyable>(to packets: inout MergedPackets<Receiver>) -> Step {
        for _ in 0..<Self.mostTurns {
            let (isLooking, before) = (readers.isLooking, packets.packetCount)
            switch readers.step(to: &packets) {
            case .more:
                let isShort = packets.hasStopped && packets.packetCount - before < Self.shortTurn
                if isLooking || !isShort { return .more }
            case .failed(let capture, let failure): return .failed(capture, Self.typed(failure))
            case .stopped: return .stopped
            case .end: return .end
            }
        }
        return .more
    }

    private static func typed(_ failure: CaptureReadFailure<any Error>) -> CaptureReadFailure<Source.Failure> {
        switch failure {
        case .damaged(let error): return .damaged(error)
        case .unreadable(let error):
            guard let error = error as? Source.Failure else {
                preconditionFailure("a source throws failures of its own type only")
            }
            return .unreadable(error)
        }
    }
}

/// The captures of a merge, whatever their sources: not generic, since where captures alternate with every packet, generic code would
/// look up its types for each.
private struct MergedReaders {
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

/// The packets of several captures, numbered anew from 1, on their way to a receiver.
package struct MergedPackets<Receiver: PacketReceiver & ~Copyable>: PacketReceiver, ~Copyable {
    /// Receives the packets.
    package var receiver: Receiver
    /// How many packets were taken.
    package private(set) var packetCount = 0

    /// Whether no packet is taken yet, because only the first one's time is wanted.
    var isLooking = false
    /// Whether reading stopped before a packet.
    var hasStopped = false
    /// The time of the packet before which it stopped.
    private(set) var next = Timestamp.distantPast
    /// Whether the receiver refused it.
    private(set) var isRefused = false
    /// When the turn passes to another capture; the distant future if there is none.
    private var limit = Timestamp.distantFuture
    /// Whether a packet at the limit itself is still this capture's.
    private var includesLimit = true
    private var endTime: Timestamp?
    /// The capture that is read.
    private var capture = 0

    /// Packets on their way to a receiver.
    package init(to receiver: consuming Receiver) {
        self.receiver = receiver
    }

    /// As the receiver says.
    package static var readsNames: Bool { Receiver.readsNames }

    /// Passes on a description.
    package mutating func described(_ interface: CaptureInterface) { receiver.described(interface) }

    /// Passes on a block.
    package mutating func passed(_ block: CaptureBlock, body: RawSpan) { receiver.passed(block, body: body) }

    /// Passes on secrets.
    package mutating func learned(keyLog: RawSpan) { receiver.learned(keyLog: keyLog) }

    /// Passes on a packet, unless it is another capture's turn.
    package mutating func receive(_ packet: PacketInfo, bytes: RawSpan, options: RawSpan) -> Reception {
        isRefused = false
        if isLooking {
            next = packet.hasTime ? packet.time : .distantPast
            return .stop
        }
        if packet.hasTime, packet.time >= limit, packet.time > limit || !includesLimit {
            next = packet.time
            return .stop
        }
        var packet = packet
        packet.number = packetCount + 1
        guard receiver.receive(packet, bytes: bytes, options: options) == .taken else {
            isRefused = true
            return .stop
        }
        packetCount += 1
        return .taken
    }

    /// Passes on what a capture lost.
    package mutating func dropped(_ drops: CaptureDrops) {
        receiver.dropped(drops)
    }

    /// Keeps the time for the end of all captures: others may continue before it.
    package mutating func captured(until time: Timestamp) {
        endTime = max(endTime ?? time, time)
    }

    /// A capture is read: what comes next is its own.
    mutating func turn(to capture: Int) {
        if capture == self.capture { return }
        self.capture = capture
        receiver.turned(to: capture)
    }

    /// Gives the turn to one capture, until that of another.
    mutating func take(_ turn: Turn, before other: Turn?) {
        limit = other?.time ?? .distantFuture
        includesLimit = other.map { turn.capture < $0.capture } ?? true
    }

    /// All captures are at their end.
    mutating func end() {
        if let endTime { receiver.captured(until: endTime) }
    }
}

extension Timestamp {
    /// Earlier than any other.
    fileprivate static var distantPast: Timestamp { Timestamp(nanoseconds: .min) }
}
