import Framing
import Streams

/// One direction of a connection whose frames rules apply to: what has arrived, and what waits.
///
/// A class: it has many values, and to read one of them nothing else is copied. Nothing that it calls comes back to this side, so
/// exclusivity is not checked for what is read or changed with each frame.
final class FrameSide {
    @exclusivity(unchecked) var framer: Framer
    /// What has arrived and has not been dealt with, after the first `taken` bytes; from this offset of the stream on.
    @exclusivity(unchecked) private var buffer: [UInt8] = []
    @exclusivity(unchecked) private var taken = 0
    @exclusivity(unchecked) private(set) var base = 0
    /// When bytes last arrived, and since when the first of those that have not been dealt with have been waiting.
    @exclusivity(unchecked) private(set) var lastBytes = Timestamp(nanoseconds: 0)
    var pendingSince = Timestamp(nanoseconds: 0)
    /// Whether a frame has begun to pass and has not ended.
    @exclusivity(unchecked) var isInsideFrame = false
    /// Frames of rules that wait for the end of that one.
    @exclusivity(unchecked) var injected: [[UInt8]] = []
    /// How many frames there were of each type.
    var types: [String: Int] = [:]
    /// A frame that waits for the next one.
    @exclusivity(unchecked) var swapped: WaitingBytes?
    var swappedSince = Timestamp(nanoseconds: 0)
    /// Which rule makes frames wait, since when, and until when.
    @exclusivity(unchecked) var hold: (rule: Int, since: Timestamp, deadline: Timestamp?)?
    /// The frames that wait, and how many bytes they have.
    @exclusivity(unchecked) private var held: [WaitingBytes] = []
    @exclusivity(unchecked) private var heldCount = 0
    /// The end that waits with them.
    var ending: Ending?
    /// Frames that are written together, by which rule, and until when more are waited for.
    @exclusivity(unchecked) var joined: [[UInt8]] = []
    @exclusivity(unchecked) var joining: (rule: Int, deadline: Timestamp)?
    /// What the last of them is reported as.
    var joinedReport: ActionReport?
    /// Bytes that pass immediately, to be written together.
    @exclusivity(unchecked) var passing: [UInt8] = []
    /// Until when frames wait that must not overtake another one.
    var ordered = Timestamp(nanoseconds: .min)
    /// Whether a rule has ended it.
    @exclusivity(unchecked) var isOver = false

    init(_ framer: Framer) { self.framer = framer }

    /// How many bytes have arrived and have not been dealt with.
    var pending: Int { buffer.count - taken }

    /// Whether nothing waits here, and the next byte begins a frame.
    var isIdle: Bool {
        pending == 0 && hold == nil && joining == nil && joined.isEmpty && swapped == nil && heldCount == 0
            && injected.isEmpty && passing.isEmpty && !isInsideFrame && !isOver && framer.isBetweenFrames
    }

    /// Splits bytes into frames; nothing waits here.
    ///
    /// - Returns: the offset of the first byte, and whether the next byte after these begins a frame.
    func frame(
        _ bytes: RawSpan, at now: Timestamp, _ scratch: FramingScratch, into found: FrameCollector
    ) -> (base: Int, isWhole: Bool) {
        framer.receive(bytes, at: now, packet: 0, scratch: scratch, into: found)
        return (base, framer.isBetweenFrames)
    }

    /// Bytes passed without waiting here.
    func skip(_ count: Int, at now: Timestamp) {
        base += count
        lastBytes = now
    }

    /// How many bytes wait here.
    var heldBytes: Int { pending + (swapped?.bytes.count ?? 0) + heldCount + joined.reduce(0) { $0 + $1.count } }

    /// Since when the oldest of them have been waiting.
    var heldSince: Timestamp? {
        var times: [Timestamp] = []
        if pending > 0 { times.append(pendingSince) }
        if swapped != nil { times.append(swappedSince) }
        if let hold { times.append(hold.since) }
        return times.min()
    }

    /// For how long bytes may wait if it is not known where their frame ends.
    private static let patience = Interval.seconds(1)

    /// When bytes pass of which it is not known to which frame they belong.
    var silenceEnds: Timestamp? {
        guard pending > 0, framer.idleDeadline == nil, !framer.isExtentKnown else { return nil }
        return lastBytes + Self.patience
    }

    /// When something here is due; nil if nothing waits.
    var nextWake: Timestamp? {
        guard pending > 0 || hold != nil || joining != nil else { return nil }
        // A pause ends a frame if it is longer than that.
        let idle = framer.idleDeadline.map { $0 + Interval(nanoseconds: 1) }
        return [hold?.deadline, joining?.deadline, idle, silenceEnds].compactMap { $0 }.min()
    }

    /// Adds bytes that have arrived.
    func append(_ bytes: [UInt8], at now: Timestamp) {
        if pending == 0 { pendingSince = now }
        lastBytes = now
        if taken == buffer.count { (buffer, taken) = ([], 0) }
        if taken > 65_536 {
            buffer.removeFirst(taken)
            taken = 0
        }
        buffer += bytes
    }

    /// Takes the next bytes, at most as many as there are.
    func take(_ count: Int) -> [UInt8] {
        let count = min(count, pending)
        guard count > 0 else { return [] }
        defer { (taken, base) = (taken + count, base + count) }
        return Array(buffer[taken..<taken + count])
    }

    /// The next bytes, which stay.
    func peek(_ count: Int) -> ArraySlice<UInt8> { buffer[taken..<min(taken + count, buffer.count)] }

    /// Adds bytes that wait for the end of a hold.
    ///
    /// - Parameter due: they do not pass earlier, even if the hold ends.
    func keep(_ bytes: [UInt8], until due: Timestamp? = nil, isOvertaken: Bool = false) {
        heldCount += bytes.count
        if due == nil, let last = held.indices.last, held[last].due == nil {
            held[last].bytes += bytes
        } else {
            held.append(WaitingBytes(bytes: bytes, due: due, isOvertaken: isOvertaken))
        }
    }

    /// Takes the bytes that waited for it.
    func takeHeld() -> [WaitingBytes] {
        defer { (held, heldCount) = ([], 0) }
        return held
    }

    /// Forgets everything that has not passed.
    func discard() {
        (buffer, taken, swapped, held, heldCount, hold) = ([], 0, nil, [], 0, nil)
        (joined, joining, joinedReport, injected) = ([], nil, nil, [])
    }
}

/// Bytes that a rule keeps from passing.
struct WaitingBytes: Sendable {
    var bytes: [UInt8]
    /// When a delay lets them pass; nil if there is none.
    var due: Timestamp?
    /// Whether what follows need not wait for that.
    var isOvertaken = false
}

/// Both directions.
struct FrameSides {
    let fromClient: FrameSide
    let fromServer: FrameSide

    /// Both directions of a connection that begins with a frame in each.
    init(_ format: Format) {
        let framers = format.framers()
        (fromClient, fromServer) = (FrameSide(framers.fromClient), FrameSide(framers.fromServer))
    }

    subscript(direction: Direction) -> FrameSide { direction == .fromClient ? fromClient : fromServer }
}
