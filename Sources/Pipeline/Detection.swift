import Analysis
import Framing
import Streams
import Trace

/// Holds what happens on a connection until its format is known.
///
/// Every format that can be recognised frames both directions on trial. The strongest that fits wins as soon as all that
/// say more are ruled out; what stands equal is decided by the server's port, then by the order of formats, and said.
/// A stream that begins as a protocol that is known but not framed, such as TLS, is that and nothing else.
/// The trials are fed up to fixed places of the stream, and a decision falls only there, wherever the chunks end.
final class Detection {
    /// What was held, to be told again once the format is known.
    enum Held {
        case received(bytes: [UInt8], direction: Direction, time: Timestamp, packet: Int)
        case missing(byteCount: Int, direction: Direction, time: Timestamp)
        case finished(direction: Direction, time: Timestamp)
        case noticed(StreamNotice, NoticedPacket)
    }

    /// How many notices are held at most; a connection with more of them is an odd one.
    private static let heldNotices = 64

    /// When bytes came last.
    var lastTime: Timestamp?
    private(set) var held: [Held] = []
    private var noticeCount = 0
    /// None while the trials sleep.
    private var candidates: [Candidate] = []
    private var isAsleep = true
    private let formats: [Format]
    private let isAligned: Bool
    private var signatures = PerDirection(fromClient: SignatureProbe(), fromServer: SignatureProbe())
    /// How many bytes of each direction count so far, and those of them that wait for the next place.
    private var seen = PerDirection(fromClient: 0, fromServer: 0)
    private var waiting = PerDirection<[UInt8]>(fromClient: [], fromServer: [])
    private let limit: Int
    private let port: UInt16

    /// A format on trial. A class, since it is looked at for every byte and is large.
    private final class Candidate {
        let format: Format
        let detection: FormatDetection
        var probes: PerDirection<FormatProbe>

        /// Whether the trial has to see chunks as they came.
        let takesChunks: Bool

        init(_ format: Format, _ detection: FormatDetection, aligned: Bool) {
            func probe(_ direction: Direction) -> FormatProbe {
                FormatProbe(format.directions[direction], detection, direction: direction, aligned: aligned)
            }
            self.format = format
            self.detection = detection
            probes = PerDirection(fromClient: probe(.fromClient), fromServer: probe(.fromServer))
            takesChunks = Direction.allCases.contains {
                (detection.from ?? $0) == $0 && format.directions[$0].rule.dependsOnCutting
            }
        }

        /// Whether what a side sends tells anything.
        func asks(_ direction: Direction) -> Bool { detection.from == nil || detection.from == direction }

        var isRefuted: Bool {
            (asks(.fromClient) && probes.fromClient.isRefuted) || (asks(.fromServer) && probes.fromServer.isRefuted)
        }

        /// Whether nothing that may still come makes it fit.
        var isOut: Bool { isRefuted && detection.strength < 80 }

        /// Strong evidence outweighs bytes that came before it and are no frame.
        var fits: Bool {
            if isOut { return false }
            let client = asks(.fromClient) && probes.fromClient.fits
            let server = asks(.fromServer) && probes.fromServer.fits
            guard detection.needsBoth else { return client || server }
            return (client || !asks(.fromClient)) && (server || !asks(.fromServer))
        }

        var blocks: Bool {
            !isRefuted
                && ((asks(.fromClient) && probes.fromClient.blocks) || (asks(.fromServer) && probes.fromServer.blocks))
        }
    }

    // MARK: Trials

    init(_ formats: [Format], aligned: Bool, limit: Int, port: UInt16) {
        self.limit = limit
        self.port = port
        self.formats = formats
        isAligned = aligned
    }

    /// Gives back the memory that the trials take, which is much. The next event makes them anew out of what is held.
    func sleep() {
        isAsleep = true
        candidates = []
        waiting = PerDirection(fromClient: [], fromServer: [])
    }

    private func wake() {
        guard isAsleep else { return }
        isAsleep = false
        let aligned = isAligned
        candidates = formats.compactMap { format in
            format.detection.map { Candidate(format, $0, aligned: aligned) }
        }
        signatures = PerDirection(fromClient: SignatureProbe(), fromServer: SignatureProbe())
        seen = PerDirection(fromClient: 0, fromServer: 0)
        for event in held {
            switch event {
            case .received(let bytes, let direction, _, _):
                take(bytes.span.bytes, from: direction) { false }
            case .missing(let byteCount, let direction, _): takeHole(byteCount, from: direction)
            case .finished(let direction, _): finishTrials(of: direction)
            case .noticed: continue
            }
        }
    }

    /// Whether so much was seen of a direction that the decision has to fall.
    var isExhausted: Bool { max(seen.fromClient, seen.fromServer) >= limit }

    /// How much was seen, for people.
    var extent: String { "the first \(seen.fromClient) bytes from the client and \(seen.fromServer) from the server" }

    /// Holds a chunk; returns the format that it settles.
    func receive(
        _ bytes: RawSpan, from direction: Direction, at time: Timestamp, packet: Int
    ) -> (Format, FormatChoice)? {
        wake()
        held.append(.received(bytes: bytes.copied(), direction: direction, time: time, packet: packet))
        var choice: (Format, FormatChoice)?
        take(bytes, from: direction) {
            choice = decide()
            return choice != nil
        }
        return choice
    }

    /// Feeds the trials with a chunk, and stops at the place where `isDecided` says so.
    private func take(
        _ bytes: RawSpan, from direction: Direction, _ isDecided: () -> Bool
    ) {
        // Only so many bytes count, wherever the chunks end.
        let count = min(bytes.byteCount, limit - seen[direction])
        for index in candidates.indices where candidates[index].takesChunks && count > 0 {
            candidates[index].probes[direction].receive(bytes.extracting(0..<count))
        }
        waiting[direction].append(contentsOf: bytes.extracting(0..<count))
        seen[direction] += count
        while true {
            let fed = seen[direction] - waiting[direction].count
            let step = min(Self.place(behind: fed), limit) - fed
            guard step > 0, waiting[direction].count >= step else { return }
            feed(step, of: direction)
            if isDecided() { return }
        }
    }

    /// The first place behind `offset` up to which trials are fed: each byte at first, where heads are, later fewer.
    private static func place(behind offset: Int) -> Int {
        if offset < 256 { return offset + 1 }
        let step = offset < 2_048 ? 8 : 256
        return (offset / step + 1) * step
    }

    private func feed(_ count: Int, of direction: Direction) {
        guard count > 0 else { return }
        var bytes: [UInt8] = []
        swap(&bytes, &waiting[direction])
        for index in candidates.indices where !candidates[index].takesChunks {
            candidates[index].probes[direction].receive(bytes.span.bytes.extracting(0..<count))
        }
        signatures[direction].receive(bytes.span.bytes.extracting(0..<count))
        bytes.removeFirst(count)
        waiting[direction] = bytes
        // Most formats are soon out of the question.
        if candidates.contains(where: { $0.isOut }) { candidates.removeAll { $0.isOut } }
    }

    /// Holds a hole; returns the format that it settles.
    func missing(
        _ byteCount: Int, from direction: Direction, at time: Timestamp
    ) -> (Format, FormatChoice)? {
        wake()
        held.append(.missing(byteCount: byteCount, direction: direction, time: time))
        takeHole(byteCount, from: direction)
        return decide()
    }

    private func takeHole(_ byteCount: Int, from direction: Direction) {
        feed(waiting[direction].count, of: direction)
        for index in candidates.indices { candidates[index].probes[direction].missing(byteCount) }
        signatures[direction].finish()
    }

    /// Holds the end of a direction; returns the format that it settles.
    func finished(_ direction: Direction, at time: Timestamp) -> (Format, FormatChoice)? {
        wake()
        held.append(.finished(direction: direction, time: time))
        finishTrials(of: direction)
        return decide()
    }

    /// Holds a notice, so that its finding knows the format; says whether there was room.
    func notice(_ notice: StreamNotice, _ packet: NoticedPacket) -> Bool {
        guard noticeCount < Self.heldNotices else { return false }
        noticeCount += 1
        held.append(.noticed(notice, packet))
        return true
    }

    /// The best guess when no more can be seen.
    func conclude() -> (Format, FormatChoice)? {
        wake()
        for direction in Direction.allCases { finishTrials(of: direction) }
        return known() ?? choose(candidates.filter { $0.fits })
    }

    private func finishTrials(of direction: Direction) {
        feed(waiting[direction].count, of: direction)
        for index in candidates.indices { candidates[index].probes[direction].finish() }
        signatures[direction].finish()
    }

    // MARK: Deciding

    /// The strongest format that fits, unless one that says more may still fit.
    private func decide() -> (Format, FormatChoice)? {
        if let known = known() { return known }
        if Direction.allCases.contains(where: { signatures[$0].isUndecided }) { return nil }
        // Asked at every byte: nothing is copied until there is a choice.
        var best = 0
        for index in candidates.indices where candidates[index].fits {
            best = max(best, candidates[index].detection.strength)
        }
        guard best > 0 else { return nil }
        for index in candidates.indices where candidates[index].detection.strength > best {
            let isSeen = Direction.allCases.contains { candidates[index].asks($0) && seen[$0] > 0 }
            if isSeen, candidates[index].blocks { return nil }
        }
        return choose(candidates.filter { $0.fits })
    }

    /// The protocol that a side's beginning is of.
    private func known() -> (Format, FormatChoice)? {
        Direction.allCases.lazy.compactMap { [signatures] in signatures[$0].match }.first.map {
            ($0.signature.format, FormatChoice(by: .content, evidence: $0.evidence))
        }
    }

    /// The strongest; of several the one whose port it is, then the first. What else it could be is said.
    private func choose(_ fitting: [Candidate]) -> (Format, FormatChoice)? {
        guard let best = fitting.map(\.detection.strength).max() else { return nil }
        let equal = fitting.filter { $0.detection.strength == best }
        guard let winner = equal.first(where: { $0.format.ports.contains(port) }) ?? equal.first else { return nil }
        let others = equal.map(\.format.name).filter { $0 != winner.format.name }
        var evidence = winner.detection.evidence
        if !others.isEmpty { evidence += "; could also be \(others.joined(separator: " or "))" }
        return (winner.format, FormatChoice(by: .content, evidence: evidence))
    }
}
