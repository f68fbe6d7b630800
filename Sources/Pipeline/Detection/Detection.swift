import Analysis
import BitCollections
import Framing
import Streams
import Trace

/// Holds the events of a connection until its format is known.
///
/// Every format that can be recognised frames both directions on trial. The strongest one that fits wins as soon as all stronger
/// ones are ruled out; ties are decided by the server's port, then by the order of formats, and are reported. A stream that
/// begins with a protocol that is known but not framed, such as TLS, is that protocol and nothing else. The trials are fed up to
/// fixed positions in the stream, and decisions are made only there, however the chunks are split. Mid-stream, stronger ones are seldom ruled
/// out, and not waited for until then (`decideMidStream`).
///
/// Trials take memory, so a detection may be put to sleep. It then only holds what arrives, and looks again when that has
/// doubled: only with the formats that are not ruled out, and with the same result as if it had been awake.
final class Detection {
    /// A format, and the reason it was chosen.
    typealias Choice = (Chosen, FormatChoice)

    /// What was chosen. A format is large: it is not copied for each connection.
    enum Chosen {
        /// A format that was on trial.
        case trial(TrialPlan)
        /// A protocol that is known but not framed.
        case signature(Format)

        var format: Format {
            switch self {
            case .trial(let plan): plan.format
            case .signature(let format): format
            }
        }
    }

    /// When the last bytes arrived.
    var lastTime: Timestamp?
    private(set) var held = HeldEvents()
    /// All formats that may be recognized; a format is known by its place among them.
    let plans: [TrialPlan]
    /// Those that were not ruled out when it was put to sleep; nil: it was not.
    private var left: BitSet?
    /// Their trials; none while asleep.
    @exclusivity(unchecked) var candidates: [Candidate] = []
    /// The formats that need no trial yet.
    @exclusivity(unchecked) var deferred = BitSet()
    /// Which of the held events the trials have come to.
    @exclusivity(unchecked) private(set) var taken = 0
    /// How many bytes of each direction they have been fed.
    @exclusivity(unchecked) private(set) var fed = PerDirection(fromClient: 0, fromServer: 0)
    /// How many had been fed when it was put to sleep.
    private(set) var looked = PerDirection(fromClient: 0, fromServer: 0)
    private(set) var isAwake = false
    /// Whether it is among the awake ones that have to sleep if there are too many (`DetectionQueue`).
    var isQueued = false
    /// How many bytes must be held before it wakes by itself.
    private var nextLook = 0
    let isAligned: Bool
    private let defers: Bool
    @exclusivity(unchecked) private var signatures = PerDirection(
        fromClient: SignatureProbe(), fromServer: SignatureProbe())
    /// How many bytes of each direction have arrived, as far as they count.
    @exclusivity(unchecked) private var counted = PerDirection(fromClient: 0, fromServer: 0)
    /// How many of them the trials have seen, and the bytes that wait for the next position.
    @exclusivity(unchecked) private var seen = PerDirection(fromClient: 0, fromServer: 0)
    @exclusivity(unchecked) private var waiting = PerDirection<[UInt8]>(fromClient: [], fromServer: [])
    let limit: Int
    private let port: UInt16

    /// - Parameter defers: whether formats that have to wait for stronger ones are on trial only once they need not; it changes
    ///   nothing but the time that is needed.
    init(_ plans: [TrialPlan], aligned: Bool, limit: Int, port: UInt16, defers: Bool = true) {
        self.defers = defers
        self.limit = limit
        self.port = port
        self.plans = plans
        isAligned = aligned
    }

    /// Whether nothing has arrived yet.
    var isFresh: Bool { lastTime == nil && held.events.isEmpty && !isAwake }

    /// Approximately how much memory is held.
    var memory: Int {
        let trials = candidates.reduce(0) { $0 + $1.heldMemory + Self.memoryOfTrial }
        return held.memory + trials + waiting.fromClient.accountedCapacity + waiting.fromServer.accountedCapacity
            + signatures.fromClient.memory + signatures.fromServer.memory
    }

    /// The approximate size of a trial, in addition to the bytes that it holds.
    private static let memoryOfTrial = 1_536

    /// Whether enough of a direction was seen to force the decision.
    var isExhausted: Bool { max(counted.fromClient, counted.fromServer) >= limit }

    /// How much was seen, in words.
    var extent: String {
        "the first \(counted.fromClient) bytes from the client and \(counted.fromServer) from the server"
    }

    // MARK: Sleeping

    /// Releases the memory of the trials. It looks again when twice as much is held.
    func sleep() {
        isQueued = false
        guard isAwake else { return }
        nextLook = max(2 * held.bytes.count, 256)
        var left = deferred
        for candidate in candidates { left.insert(candidate.order) }
        self.left = left
        looked = fed
        endTrials()
    }

    /// Whether a few numbers say all there is to know of it while it sleeps: it has seen a few short chunks.
    var isShort: Bool {
        // No look at what was picked up mid-stream has been taken.
        held.bytes.count < Self.look(after: 0) && held.events.count <= 8
            && held.events.allSatisfy { $0.kind == .received }
    }

    /// Packs a short detection that sleeps, or makes a fresh one know the same.
    func pass(through numbers: inout PackedNumbers) {
        held.passChunks(through: &numbers)
        numbers.pass(&nextLook)
        var orders = left.map(Array.init) ?? []
        var count = orders.count
        numbers.pass(&count)
        for index in 0..<count {
            var order = index < orders.count ? orders[index] : 0
            numbers.pass(&order)
            if index == orders.count { orders.append(order) }
        }
        left = BitSet(orders)
        counted = PerDirection(fromClient: 0, fromServer: 0)
        for event in held.events {
            counted[event.direction] = min(limit, counted[event.direction] + event.count)
            lastTime = max(event.time, lastTime ?? event.time)
        }
    }

    /// Releases all memory: the format is known, or not looked for any more. The queue of those that are awake may keep it for long.
    func end() {
        endTrials()
        held = HeldEvents()
    }

    /// Releases the memory of the trials. What is held remains.
    private func endTrials() {
        (isAwake, candidates, deferred) = (false, [], BitSet())
        waiting = PerDirection(fromClient: [], fromServer: [])
        signatures = PerDirection(fromClient: SignatureProbe(), fromServer: SignatureProbe())
    }

    /// Begins the trials of the formats that the first byte does not rule out.
    private func begin() {
        var first: (byte: UInt8, direction: Direction)?
        look: for event in held.events {
            switch event.kind {
            case .received where event.count > 0:
                first = (held.bytes[event.place], event.direction)
                break look
            case .missing, .finished: break look
            case .received, .noticed, .opened, .closed, .advanced, .learned: continue
            }
        }
        deferred.reserveCapacity(plans.count)
        for (order, plan) in plans.enumerated() where left?.contains(order) ?? true {
            if let first, plan.isOut(afterFirst: first.byte, from: first.direction, aligned: isAligned) { continue }
            deferred.insert(order)
        }
        beginStrongest(defers ? first?.direction : nil)
    }

    /// Begins the trials with the held events; returns the format if they settle it.
    private func wake() -> Choice? {
        isAwake = true
        begin()
        seen = PerDirection(fromClient: 0, fromServer: 0)
        fed = PerDirection(fromClient: 0, fromServer: 0)
        let held = held
        for (index, event) in held.events.enumerated() {
            taken = index
            switch event.kind {
            case .received:
                let chunk = held.bytes.span.bytes.extracting(event.place..<event.place + event.count)
                if let choice = take(chunk, from: event.direction) { return choice }
            case .missing:
                takeGap(event.count, from: event.direction)
                if let choice = decide() { return choice }
            case .finished:
                finishTrials(of: event.direction)
                if let choice = decide() { return choice }
            case .noticed, .opened, .closed, .advanced, .learned: continue
            }
        }
        return nil
    }

    // MARK: Events

    /// Holds a chunk; returns the format if it settles it.
    func receive(_ bytes: RawSpan, from direction: Direction, at time: Timestamp, packet: Int) -> Choice? {
        held.append(bytes, direction, time, packet: packet)
        counted[direction] = min(limit, counted[direction] + bytes.byteCount)
        guard isAwake else { return held.bytes.count >= nextLook || isExhausted ? wake() : nil }
        taken = held.events.count - 1
        return take(bytes, from: direction)
    }

    /// Holds a gap; returns the format if it settles it.
    func missing(_ byteCount: Int, from direction: Direction, at time: Timestamp) -> Choice? {
        held.append(.missing(byteCount, direction, 0, time))
        guard isAwake else { return nil }
        taken = held.events.count - 1
        takeGap(byteCount, from: direction)
        return decide()
    }

    /// Holds the end of a direction; returns the format if it settles it.
    func finished(_ ending: Ending, from direction: Direction, at time: Timestamp) -> Choice? {
        held.append(.finished(ending, direction, 0, time))
        guard isAwake else { return wake() }
        taken = held.events.count - 1
        finishTrials(of: direction)
        return decide()
    }

    /// Holds a notice, so that its finding knows the format; returns whether there was room.
    func notice(_ notice: StreamNotice, _ packet: NoticedPacket) -> Bool {
        held.append(notice, packet.direction, packet.time, packet: packet.number)
    }

    /// The best guess when no more can be seen.
    func conclude() -> Choice? {
        if !isAwake, let choice = wake() { return choice }
        taken = max(0, held.events.count - 1)
        dropImpossible()
        catchUp { _ in true }
        for direction in Direction.allCases { finishTrials(of: direction) }
        if let known = known(isOver: true) { return known }
        let fitting = candidates.compactMap { candidate in
            candidate.conclusion.map { (candidate, $0.rank, $0.evidence) }
        }
        guard let best = fitting.map(\.1).min() else { return knownMidStream(isOver: true) }
        return choose(fitting.filter { $0.1 == best }.map { ($0.0, $0.2) })
    }

    // MARK: Trials

    /// Feeds the trials with a chunk, up to the position at which the format is settled.
    private func take(_ bytes: RawSpan, from direction: Direction) -> Choice? {
        // Trials of conversations see both sides' bytes in the order in which they came.
        if !waiting[direction.opposite].isEmpty { feedWaiting(of: direction.opposite) }
        // Only the bytes up to the limit count, however the chunks are split.
        let count = min(bytes.byteCount, limit - seen[direction])
        for candidate in candidates where candidate.takesChunks && count > 0 {
            candidate.receive(bytes.extracting(0..<count), from: direction)
        }
        let fed = seen[direction] - waiting[direction].count
        seen[direction] += count
        // What was just passed may have been what others waited for.
        if !deferred.isEmpty { catchUp() }
        if waiting[direction].isEmpty { return feed(bytes.extracting(0..<count), at: fed, of: direction) }
        var all: [UInt8] = []
        swap(&all, &waiting[direction])
        all.append(contentsOf: bytes.extracting(0..<count))
        return feed(all.span.bytes, at: fed, of: direction)
    }

    /// Feeds bytes up to each fixed position, deciding there; keeps the bytes after the last one.
    private func feed(_ bytes: RawSpan, at offset: Int, of direction: Direction) -> Choice? {
        var at = 0
        while true {
            // Nothing is decided before the first place at which a trial may change.
            let step = steady(bytes.extracting(at..<bytes.byteCount), from: direction)
            var end = min(Self.place(atOrAfter: offset + at + min(step, limit)), limit) - offset
            if !isAligned { end = min(end, Self.look(after: offset + at) - offset) }
            if end > bytes.byteCount { end = Self.place(atOrBefore: offset + bytes.byteCount) - offset }
            guard end > at else { break }
            feedTrials(bytes.extracting(at..<end), of: direction)
            at = end
            if let choice = decide() ?? decideMidStream(at: offset + at, of: direction) { return choice }
        }
        if at < bytes.byteCount { waiting[direction] = bytes.copied(at..<bytes.byteCount) }
        return nil
    }

    /// Up to which positions trials are fed: every byte at first, where heads are, then less often.
    private static func step(at offset: Int) -> Int { offset < 256 ? 1 : offset < 2_048 ? 8 : 256 }

    /// The first of them that is not before an offset.
    static func place(atOrAfter offset: Int) -> Int {
        let step = step(at: offset - 1)
        return (offset + step - 1) / step * step
    }

    /// The last of them that is not after an offset.
    static func place(atOrBefore offset: Int) -> Int {
        let step = step(at: offset)
        return offset / step * step
    }

    /// How many of the next bytes change nothing before the last of them; at least 1.
    private func steady(_ next: RawSpan, from direction: Direction) -> Int {
        if signatures[direction].isOpen { return 1 }
        var least = Int.max
        for candidate in candidates {
            // What comes after the least need not be looked at.
            let near = least < next.byteCount ? next.extracting(0..<least) : next
            least = min(least, candidate.steady(near, from: direction))
            if least == 1 { break }
        }
        return least
    }

    private func feedTrials(_ bytes: RawSpan, of direction: Direction) {
        guard bytes.byteCount > 0 else { return }
        fed[direction] += bytes.byteCount
        for candidate in candidates where !candidate.takesChunks { candidate.receive(bytes, from: direction) }
        signatures[direction].receive(bytes)
        dropRefuted()
    }

    /// Most formats are soon ruled out.
    private func dropRefuted() {
        for candidate in candidates where candidate.isOut {
            candidates.removeAll { $0.isOut }
            return
        }
    }

    private func takeGap(_ byteCount: Int, from direction: Direction) {
        feedWaiting(of: direction)
        for candidate in candidates { candidate.missing(byteCount, from: direction) }
        signatures[direction].finish()
    }

    private func finishTrials(of direction: Direction) {
        feedWaiting(of: direction)
        for candidate in candidates { candidate.finish(direction) }
        signatures[direction].finish()
    }

    private func feedWaiting(of direction: Direction) {
        var bytes: [UInt8] = []
        swap(&bytes, &waiting[direction])
        feedTrials(bytes.span.bytes, of: direction)
    }

    // MARK: Deciding

    /// The strongest format that fits, unless a stronger one may still fit.
    private func decide() -> Choice? {
        if let known = known(isOver: false) { return known }
        if isUndecidedSignature { return nil }
        if !deferred.isEmpty { catchUp() }
        // Called for every byte: nothing is copied until there is a choice.
        var best = 0
        for candidate in candidates where candidate.plan.strength > best && candidate.fits {
            best = candidate.plan.strength
        }
        guard best > 0 else { return nil }
        for candidate in candidates where candidate.plan.strength > best && isBlocking(candidate) { return nil }
        // The others that fit are weaker.
        return choose(candidates.filter { $0.fits && $0.plan.strength == best }.map { ($0, $0.evidence) })
    }

    /// Whether the next bytes may complete a protocol's first bytes.
    var isUndecidedSignature: Bool { signatures.fromClient.isUndecided || signatures.fromServer.isUndecided }

    /// Whether weaker formats have to wait for a format.
    func isBlocking(_ candidate: Candidate) -> Bool {
        let isSeen =
            candidate.asks(.fromClient) && seen.fromClient > 0 || candidate.asks(.fromServer) && seen.fromServer > 0
        return isSeen && candidate.blocks
    }

    /// The protocol that a side's first bytes belong to.
    private func known(isOver: Bool) -> Choice? {
        guard signatures.fromClient.mayMatch || signatures.fromServer.mayMatch else { return nil }
        for direction in Direction.allCases {
            guard signatures[direction].mayMatch,
                let match = isOver ? signatures[direction].bestMatch : signatures[direction].match
            else { continue }
            if isReplaced(match.signature.name, isOver: isOver) { continue }
            return (.signature(match.signature.format), FormatChoice(by: .content, evidence: match.evidence))
        }
        return nil
    }

    /// Whether a format that frames a protocol has the first say.
    func isReplaced(_ name: String, isOver: Bool) -> Bool {
        candidates.contains { $0.detection.replaces == name && (isOver ? $0.fits : !$0.isOut) }
    }

    /// The strongest; among several the one with the server's port, then the first. The alternatives are reported.
    func choose(_ fitting: [(candidate: Candidate, evidence: String)]) -> Choice? {
        guard let best = fitting.map(\.candidate.plan.strength).max() else { return nil }
        let equal = fitting.filter { $0.candidate.plan.strength == best }
        guard let first = equal.first else { return nil }
        guard equal.count > 1 else { return choice(of: first.candidate, first.evidence, others: []) }
        let winner = equal.first { $0.candidate.plan.format.ports.contains(port) } ?? first
        let label = winner.candidate.plan.format.label
        return choice(
            of: winner.candidate, winner.evidence,
            others: equal.map(\.candidate.plan.format.label).filter { $0 != label })
    }

    private func choice(of candidate: Candidate, _ reason: String, others: [String]) -> Choice {
        let plan = candidate.plan
        var evidence = reason
        if !plan.format.variant.isEmpty { evidence += ", with \(plan.format.variant)" }
        if !others.isEmpty { evidence += "; could also be \(others.joined(separator: " or "))" }
        return (.trial(plan), FormatChoice(by: .content, evidence: evidence))
    }
}
