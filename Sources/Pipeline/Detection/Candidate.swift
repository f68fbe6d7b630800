import Framing
import Streams

/// What all trials of a format have in common. A class: a format is large, and every connection has its trials.
final class TrialPlan {
    let format: Format
    let detection: FormatDetection
    let strength: Int
    /// Whether the trial has to see chunks as they arrived.
    let takesChunks: Bool
    let sides: PerDirection<TrialSide>
    /// The rules of both directions; nil if each connection has its own.
    let rules: PerDirection<SharedRule>?

    /// Nil if the format is not recognised by its bytes.
    init?(_ format: Format) {
        guard let detection = format.detection else { return nil }
        (self.format, self.detection) = (format, detection)
        strength = detection.strength
        takesChunks = Direction.allCases.contains {
            (detection.from ?? $0) == $0 && format.directions[$0].rule.dependsOnCutting
        }
        sides = PerDirection(
            fromClient: TrialSide(format.directions.fromClient, detection),
            fromServer: TrialSide(format.directions.fromServer, detection))
        if Conversation(format, aligned: true) == nil {
            let directions = format.directions
            rules = PerDirection(
                fromClient: SharedRule.of(directions.fromClient.rule),
                fromServer: SharedRule.of(directions.fromServer.rule))
        } else {
            rules = nil
        }
    }
}

/// A format on trial in both directions of a connection. A class, since it is accessed for every byte and is large.
final class Candidate {
    let plan: TrialPlan
    var format: Format { plan.format }
    var detection: FormatDetection { plan.detection }
    /// The trials of the directions that had bytes or gaps.
    private var probes = PerDirection<FormatProbe?>(fromClient: nil, fromServer: nil)
    private let conversation: Conversation?
    /// Whether the streams' first bytes were seen.
    private let seesStart: Bool
    /// Whether each direction had bytes.
    private var hasBytes = PerDirection(fromClient: false, fromServer: false)
    /// Whether the streams' first bytes were seen, or are not needed.
    private let isAligned: Bool
    var takesChunks: Bool { plan.takesChunks }
    /// The only side that is evidence; nil: both are.
    private let only: Direction?

    init(_ plan: TrialPlan, aligned: Bool) {
        let isAtStart = plan.sides.fromClient.startsStreams
        conversation = plan.rules == nil ? Conversation(plan.format, aligned: aligned || isAtStart) : nil
        self.plan = plan
        only = plan.detection.from
        seesStart = aligned
        isAligned = aligned || isAtStart || plan.strength >= FormatDetection.outweighing
    }

    private func probe(_ direction: Direction) -> FormatProbe {
        if let probe = probes[direction] { return probe }
        let rule =
            plan.rules?[direction]
            ?? SharedRule.of(plan.format.rule(direction, in: conversation), conversation: conversation)
        let probe = FormatProbe(plan.sides[direction], rule, direction: direction, aligned: seesStart)
        probes[direction] = probe
        return probe
    }

    /// The verdict on a direction; without any bytes, nothing speaks for or against the format.
    private func verdict(_ direction: Direction) -> FormatProbe.Verdict {
        probes[direction]?.verdict ?? plan.sides[direction].initialVerdict
    }

    func receive(_ bytes: RawSpan, from direction: Direction) {
        guard bytes.byteCount > 0, asks(direction) else { return }
        hasBytes[direction] = true
        probe(direction).receive(bytes)
    }

    /// How many of the next bytes may be passed at once so that the verdict changes with the last of them, if it does; at least 1.
    func steady(_ next: RawSpan, from direction: Direction) -> Int {
        guard asks(direction), !takesChunks else { return .max }
        return probes[direction]?.steady(next) ?? 1
    }

    func missing(_ byteCount: Int, from direction: Direction) {
        if asks(direction) { probe(direction).missing(byteCount) }
    }

    func finish(_ direction: Direction) {
        if asks(direction) { probes[direction]?.finish() }
    }

    /// Approximately how much memory the trials hold.
    var heldMemory: Int { (probes.fromClient?.heldMemory ?? 0) + (probes.fromServer?.heldMemory ?? 0) }

    /// Whether the bytes of a side are evidence.
    func asks(_ direction: Direction) -> Bool { only == nil || only == direction }

    /// The verdicts of the sides that count, for those with bytes.
    private var verdicts: [FormatProbe.Verdict] {
        Direction.allCases.filter { asks($0) && hasBytes[$0] }.map { verdict($0) }
    }

    private var isRefuted: Bool {
        (asks(.fromClient) && verdict(.fromClient).isRefuted)
            || (asks(.fromServer) && verdict(.fromServer).isRefuted)
    }

    /// Whether no further bytes can make it fit.
    var isOut: Bool { isRefuted && plan.strength < FormatDetection.outweighing }

    /// Whether it fits, whatever comes next. Strong evidence outweighs preceding bytes that are no frame.
    var fits: Bool {
        if isOut { return false }
        let client = asks(.fromClient) && verdict(.fromClient).fits
        let server = asks(.fromServer) && verdict(.fromServer).fits
        if detection.needsBoth { return (client || !asks(.fromClient)) && (server || !asks(.fromServer)) }
        guard client || server else { return false }
        // Picked up mid-stream: both sides have to agree, or one of them has to be certain.
        if isAligned || detection.from != nil { return true }
        let verdicts = verdicts
        return verdicts.allSatisfy(\.fits) && (verdicts.count == 2 || verdicts.allSatisfy(\.isSure))
    }

    /// Whether weaker formats have to wait.
    var blocks: Bool {
        !isRefuted
            && ((asks(.fromClient) && verdict(.fromClient).blocks)
                || (asks(.fromServer) && verdict(.fromServer).blocks))
    }

    /// The evidence for the format, if it fits.
    var evidence: String {
        guard let among = detection.among, verdicts.contains(where: \.isAmongOthers) else { return detection.evidence }
        return among.evidence
    }

    /// How well it fits if no more of the streams is seen, and the evidence; nil if it does not fit.
    ///
    /// The rank is 0 for the usual evidence, 1 if there are only a few frames or just a head, 2 for a single frame.
    var conclusion: (rank: Int, evidence: String)? {
        if fits { return (0, evidence) }
        let verdicts = verdicts
        guard !isOut, !verdicts.isEmpty, !detection.needsBoth else { return nil }
        if !isAligned, verdicts.allSatisfy(\.fits) { return (1, evidence) }
        // A side that has only begun is no evidence against it.
        guard verdicts.allSatisfy({ $0.isAlone || $0.isOpenHead }) else { return nil }
        if !isAligned, verdicts.contains(where: \.hasEnough) { return (1, evidence) }
        if let openHead = detection.openHead, verdicts.contains(where: \.isOpenHead) { return (1, openHead) }
        return detection.alone.map { (2, $0) }
    }
}
