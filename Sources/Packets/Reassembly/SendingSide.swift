import Streams

/// The state of one direction of a connection: kept small, since there may be many that are not packed.
struct SendingSide {
    /// What has happened in a direction.
    struct Marks: OptionSet {
        var rawValue: UInt8
        /// `next` is known: after a SYN, or once the first bytes were passed on.
        static let started = Marks(rawValue: 1)
        /// The sender's SYN was seen, and `next` was one more than its number.
        static let synSeen = Marks(rawValue: 2)
        /// `acknowledged` is known.
        static let ackSeen = Marks(rawValue: 4)
        /// The end was passed on.
        static let finished = Marks(rawValue: 8)
        /// The sender's receive window is closed.
        static let windowClosed = Marks(rawValue: 16)
        /// Its packets are as a host sent them, not synthesized from a proxy's reads.
        static let hasPackets = Marks(rawValue: 32)
        /// The sender has offered more than a tiny window.
        static let offeredRoom = Marks(rawValue: 64)
        /// `acknowledged` is what the other side acknowledged before a SYN of its own was seen: unless its SYN was merely not
        /// captured, it is a number of an older connection.
        static let ackDoubted = Marks(rawValue: 128)
    }

    /// The sequence number of the next byte to pass on. Before the start: that of the first byte held.
    var next: UInt32 = 0
    /// The highest sequence number that the other side acknowledged, if `ackSeen` or `ackDoubted` is set.
    var acknowledged: UInt32 = 0
    /// The stream offset of `next`.
    var offset = 0
    /// The time of the bytes last passed on.
    var lastTime = Timestamp(nanoseconds: .min)
    /// Where `ReassemblyState` keeps what waits; negative on the fast path. A reference here would be retained with every copy.
    var place: Int32 = -1
    /// The receive window that the sender offered last, not scaled.
    var window: UInt16 = 0
    /// The scale of that window.
    var windowScale: UInt8 = 0
    var marks: Marks = []
    /// How many consecutive packets had consecutive identifications, and the last identification.
    var identifications = PacketCount()

    /// Whether something waits.
    @inline(__always)
    var isWaiting: Bool { place >= 0 }

    /// The stream offset of a sequence number within 2 GiB of `next`; negative before the stream's start.
    @inline(__always)
    func position(of sequence: UInt32) -> Int {
        offset &+ Int(Int32(bitPattern: sequence &- next))
    }

    /// Whether its SYN was seen, and no bytes.
    var hasOnlySYN: Bool { marks.contains(.synSeen) && offset == 0 && !isWaiting }

    /// The sequence number of the first byte of the stream.
    var startSequence: UInt32 { next &- UInt32(truncatingIfNeeded: offset) }

    /// The stream offset up to which the other side acknowledged bytes, even if that is in doubt; nil if it is not known.
    var acknowledgedOffset: Int? {
        marks.isDisjoint(with: [.ackSeen, .ackDoubted]) ? nil : position(of: acknowledged)
    }

    /// Takes what is known from a SYN that a connection before this one took: it has this one's number.
    mutating func takeSYN(of side: SendingSide) {
        windowScale = side.windowScale
        marks.formUnion(side.marks.intersection([.synSeen, .hasPackets, .offeredRoom]))
    }

    /// Keeps an acknowledgment that is in doubt, if none is known: the highest one.
    mutating func doubt(_ number: UInt32) {
        guard !marks.contains(.ackDoubted) || Int32(bitPattern: number &- acknowledged) > 0 else { return }
        acknowledged = number
        marks.insert(.ackDoubted)
    }

    /// The acknowledgment that is in doubt counts, unless others have replaced it.
    mutating func believe() {
        if marks.remove(.ackDoubted) != nil { marks.insert(.ackSeen) }
    }

    /// Whether the other side has everything before `sequence`.
    @inline(__always)
    func isAcknowledged(_ sequence: UInt32) -> Bool {
        marks.contains(.ackSeen) && Int32(bitPattern: acknowledged &- sequence) >= 0
    }
}

/// What waits in one direction of a connection.
final class HeldSide {
    // In an order that leaves no room between them: there may be many.

    /// The id of its connection, and the number.
    let (flow, number): (Int32, UInt32)
    /// Segments after a gap, or of a stream whose start is not yet settled.
    var segments = HeldSegments()
    /// The stream offset of the FIN, if one was seen, and when.
    var fin: (offset: Int, time: Timestamp)?
    let direction: Direction
    /// Since when, and up to where, gaps may still be filled.
    var grace: Grace?
    /// Notices to report once the start of the stream is settled; only the first ones.
    private(set) var early: [EarlyNotice] = []
    private var earlyCost = 0

    /// Nothing waits yet.
    init(flow: Int, number: Int, _ direction: Direction) {
        (self.flow, self.number) = (Int32(truncatingIfNeeded: flow), UInt32(truncatingIfNeeded: number))
        self.direction = direction
    }

    /// The first position of what was seen of a stream whose start is not settled: 0 is that of the segment that came first, of
    /// which perhaps no bytes were captured.
    var earliest: Int { min(0, segments.firstStart ?? 0) }

    /// When the first waiting segment was seen.
    var since: Timestamp? {
        let first = segments.isEmpty ? nil : segments.firstTime
        return [first, fin?.time].compactMap(\.self).min()
    }

    /// Approximately how much memory it takes.
    var cost: Int { segments.cost + earlyCost }

    /// Keeps a notice to be reported later, within a limit.
    ///
    /// - Parameter byteCount: how many bytes of the stream it holds.
    func keep(_ notice: EarlyNotice, byteCount: Int) {
        guard early.count < 64 else { return }
        early.append(notice)
        earlyCost += 128 + byteCount
    }

    /// The notices kept until now, which the caller reports.
    func takeEarly() -> [EarlyNotice] {
        defer { (early, earlyCost) = ([], 0) }
        return early
    }

    /// A notice whose offset moves when the start is settled.
    struct EarlyNotice {
        var offset: Int
        var packet: PacketStamp
        var notice: (Int) -> StreamNotice
    }

    /// The time between the acknowledgment of unseen bytes and declaring them missing.
    struct Grace {
        /// When it ends.
        var deadline: Timestamp
        /// The connection's count of packets when it ends.
        var packets: UInt32
        /// Up to where bytes were acknowledged when it started.
        var acknowledged: UInt32
    }
}
