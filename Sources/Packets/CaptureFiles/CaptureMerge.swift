import Streams

/// Reads several captures as one, in chronological order: of the next packets of all captures, the earliest comes first.
///
/// A capture's own packets keep their order, and of equal times the first capture's goes first. A packet without a time follows
/// the one before it. Each capture waits for its turn with a small buffer; captures that do not overlap in time are read one
/// after another, each as if alone. Copies share their sources.
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
        readers = MergedReaders(sources.map { AnySource($0) }, chunk: chunk)
    }

    /// Reads once from the capture whose turn it is, and passes on the packets that are then complete; where captures alternate, goes on
    /// with the others.
    ///
    /// - Parameter goesOn: called between turns; returns whether to go on.
    package mutating func step<Receiver: ~Copyable>(
        to packets: inout MergedPackets<Receiver>,
        goesOn: (inout MergedPackets<Receiver>) -> Bool = { (_: inout MergedPackets<Receiver>) in true }
    ) -> Step {
        for _ in 0..<Self.mostTurns {
            let (isLooking, before) = (readers.isLooking, packets.packetCount)
            switch readers.step(to: &packets) {
            case .more:
                let isShort = packets.hasStopped && packets.packetCount - before < Self.shortTurn
                if isLooking || !isShort || !goesOn(&packets) { return .more }
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

/// The packets of several captures, numbered anew from 1, on their way to a receiver.
package struct MergedPackets<Receiver: PacketReceiver & ~Copyable>: TurnReceiver, ~Copyable {
    /// How many packets were taken.
    package private(set) var packetCount = 0

    var isLooking = false
    var hasStopped = false
    private(set) var next = Timestamp.distantPast
    private(set) var isRefused = false
    /// When the turn passes to another capture; the distant future if there is none.
    private var limit = Timestamp.distantFuture
    /// Whether a packet at the limit itself is still this capture's.
    private var includesLimit = true
    private var endTime: Timestamp?
    /// The capture that is read.
    private var capture = 0

    /// Receives the packets. The last property: the offset of one after it would be looked up at run time, since this type is generic.
    package var receiver: Receiver

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

    mutating func turn(to capture: Int) {
        if capture == self.capture { return }
        self.capture = capture
        receiver.turned(to: capture)
    }

    mutating func take(_ turn: Turn, before other: Turn?) {
        limit = other?.time ?? .distantFuture
        includesLimit = other.map { turn.capture < $0.capture } ?? true
    }

    mutating func end() {
        if let endTime { receiver.captured(until: endTime) }
    }
}
