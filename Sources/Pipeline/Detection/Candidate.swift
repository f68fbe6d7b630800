import Framing
import Streams

/// What all trials of a format have in common. A class: a format is large, and every connection has its trials.
final class TrialPlan {
    let format: Format
    let detection: FormatDetection
    let strength: Int
    /// Whether the trial has to see chunks as they arrived.
    let takesChunks: Bool
    /// The only side that is evidence; nil: both are.
    let only: Direction?
    let sides: PerDirection<TrialSide>
    /// The rules of both directions; nil if each connection has its own.
    let rules: PerDirection<SharedRule>?
    /// Whether each first byte rules the format out, as far as it was asked for: those of clients, then those of servers.
    @exclusivity(unchecked) private var firstBytes = [Bool?](repeating: nil, count: 512)
    /// The work to do for its connections, once one was recognized: of the decoder that it belongs to.
    var decoding: FormatPlan?

    /// Nil if the format is not recognized by its bytes.
    init?(_ format: Format) {
        guard let detection = format.detection else { return nil }
        (self.format, self.detection) = (format, detection)
        strength = detection.strength
        only = detection.from
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

    /// Whether a stream that was seen from its first byte on is known not to be in the format once that byte is seen. Most formats
    /// are ruled out here, without a trial.
    func isOut(afterFirst byte: UInt8, from direction: Direction, aligned: Bool) -> Bool {
        guard let rules, !takesChunks, strength < FormatDetection.outweighing, only == nil || only == direction,
            aligned || sides[direction].startsStreams
        else { return false }
        let place = Int(byte) + (direction == .fromClient ? 0 : 256)
        if let known = firstBytes[place] { return known }
        var memory = ScanMemory()
        let scan = rules[direction].scan([byte].span.bytes, from: 0, origin: 0, ended: false, memory: &memory)
        let isOut = if case .bad = scan { true } else { false }
        firstBytes[place] = isOut
        return isOut
    }

    /// Whether a trial may recognize the format in streams that were picked up mid-stream, given all that is seen of them, without gaps.
    func mayFit(midStream streams: PerDirection<[UInt8]>) -> Bool {
        guard let rules, format.upgrade == nil else { return true }
        // Frames of which all bytes consist are enough if one may be alone, or if there are some more, perhaps on the other side.
        let areBothSeen = only == nil && !streams.fromClient.isEmpty && !streams.fromServer.isEmpty
        let mayBeFew = areBothSeen || detection.alone != nil
        var hasBytes = false
        for direction in Direction.allCases where only == nil || only == direction {
            let (side, rule, stream) = (sides[direction], rules[direction], streams[direction])
            if stream.isEmpty { continue }
            if side.startsStreams { return true }
            let bytes = stream.span.bytes
            if strength >= FormatDetection.outweighing {
                // A head on one side is enough.
                if rule.mayHaveHead(midStream: bytes) { return true }
            } else {
                let fromStart = mayBeFew ? 1 : side.frames
                guard rule.mayHaveFrames(midStream: bytes, fromStart: fromStart, inARow: side.neededMidStream) else {
                    return false
                }
            }
            hasBytes = true
        }
        return hasBytes && strength < FormatDetection.outweighing
    }
}

/// A format on trial in both directions of a connection. A class, since it is accessed at every step and is large.
///
/// Nothing that a trial calls comes back to it, so that the checks for that are left out.
final class Candidate {
    let plan: TrialPlan
    var format: Format { plan.format }
    var detection: FormatDetection { plan.detection }
    /// The trials of the directions that had bytes or gaps.
    @exclusivity(unchecked) private var probes = PerDirection<FormatProbe?>(fromClient: nil, fromServer: nil)
    /// Their verdicts; without any bytes, nothing speaks for or against the format.
    @exclusivity(unchecked) private var verdicts: PerDirection<FormatProbe.Verdict>
    /// Whether no further bytes can make it fit.
    @exclusivity(unchecked) private(set) var isOut = false
    /// Whether it fits, whatever comes next. Strong evidence outweighs preceding bytes that are no frame.
    @exclusivity(unchecked) private(set) var fits = false
    /// Whether each direction had bytes.
    @exclusivity(unchecked) private var hasBytes = PerDirection(fromClient: false, fromServer: false)
    private let conversation: Conversation?
    /// Where the conversation changes to TLS; nil if its format has no such place.
    private let upgrade: TLSUpgradeWatch?
    /// Whether it has changed to TLS: what follows is no evidence.
    private var isUpgraded: Bool { upgrade?.isAgreed == true }
    /// Whether the streams' first bytes were seen.
    private let seesStart: Bool
    /// Whether the streams' first bytes were seen, or are not needed.
    private let isAligned: Bool
    let takesChunks: Bool
    /// The only side that is evidence; nil: both are.
    private let only: Direction?
    /// Its place in the order of formats.
    let order: Int

    init(_ plan: TrialPlan, aligned: Bool, order: Int = 0) {
        self.order = order
        let isAtStart = plan.sides.fromClient.startsStreams
        conversation = plan.rules == nil ? Conversation(plan.format, aligned: aligned || isAtStart) : nil
        upgrade = plan.format.upgrade.map { TLSUpgradeWatch($0) }
        self.plan = plan
        takesChunks = plan.takesChunks
        only = plan.only
        seesStart = aligned
        isAligned = aligned || isAtStart || plan.strength >= FormatDetection.outweighing
        verdicts = PerDirection(
            fromClient: plan.sides.fromClient.initialVerdict, fromServer: plan.sides.fromServer.initialVerdict)
    }

    private func probe(_ direction: Direction) -> FormatProbe {
        if let probe = probes[direction] { return probe }
        let rule =
            plan.rules?[direction]
            ?? SharedRule.of(plan.format.rule(direction, in: conversation), conversation: conversation)
        let probe = FormatProbe(
            plan.sides[direction], rule, direction: direction, aligned: seesStart, upgrade: upgrade)
        probes[direction] = probe
        return probe
    }

    func receive(_ bytes: RawSpan, from direction: Direction) {
        guard bytes.byteCount > 0, follows(direction) else { return }
        let isFirst = !hasBytes[direction]
        hasBytes[direction] = true
        let probe = probe(direction)
        if let upgrade { receive(bytes, probe, until: upgrade) } else { probe.receive(bytes) }
        judge(probe.verdict, direction, isFirst)
    }

    /// Passes a trial what comes before TLS.
    private func receive(_ bytes: RawSpan, _ probe: FormatProbe, until upgrade: TLSUpgradeWatch) {
        var start = 0
        while start < bytes.byteCount, !upgrade.isAgreed {
            let count = TLSUpgradeWatch.plaintext(before: bytes.extracting(start..<bytes.byteCount))
            probe.receive(bytes.extracting(start..<start + count))
            start += count
        }
    }

    /// How many of the next bytes may be passed at once so that the verdict changes with the last of them, if it does; at least 1.
    func steady(_ next: RawSpan, from direction: Direction) -> Int {
        guard asks(direction), !takesChunks, !isUpgraded else { return .max }
        return probes[direction]?.steady(next) ?? 1
    }

    func missing(_ byteCount: Int, from direction: Direction) {
        guard follows(direction) else { return }
        let probe = probe(direction)
        probe.missing(byteCount)
        judge(probe.verdict, direction)
    }

    func finish(_ direction: Direction) {
        guard follows(direction), let probe = probes[direction] else { return }
        probe.finish()
        judge(probe.verdict, direction)
    }

    /// Whether a verdict may be reached at a position and stay, whatever follows. Mid-stream, it is that of all frames seen so far.
    var settlesOnTheWay: Bool { isAligned }

    /// Approximately how much memory the trials hold.
    var heldMemory: Int { (probes.fromClient?.heldMemory ?? 0) + (probes.fromServer?.heldMemory ?? 0) }

    /// Whether the bytes of a side are evidence.
    func asks(_ direction: Direction) -> Bool { only == nil || only == direction }

    /// Whether the bytes of a side are framed: as evidence, or since they may agree on TLS.
    private func follows(_ direction: Direction) -> Bool { !isUpgraded && (asks(direction) || upgrade != nil) }

    /// Takes a direction's verdict.
    private func judge(_ verdict: FormatProbe.Verdict, _ direction: Direction, _ isFirst: Bool = false) {
        guard isFirst || verdict != verdicts[direction] else { return }
        verdicts[direction] = verdict
        isOut = isRefuted && plan.strength < FormatDetection.outweighing
        fits = !isOut && isFitting
    }

    private var isRefuted: Bool {
        (asks(.fromClient) && verdicts.fromClient.isRefuted) || (asks(.fromServer) && verdicts.fromServer.isRefuted)
    }

    private var isFitting: Bool {
        let client = asks(.fromClient) && verdicts.fromClient.fits
        let server = asks(.fromServer) && verdicts.fromServer.fits
        if plan.detection.needsBoth { return (client || !asks(.fromClient)) && (server || !asks(.fromServer)) }
        guard client || server else { return false }
        // Picked up mid-stream: both sides have to agree, or one of them has to be certain.
        if isAligned || only != nil { return true }
        let known = knownVerdicts
        return known.allSatisfy(\.fits) && (known.count == 2 || known.allSatisfy(\.isSure))
    }

    /// Whether the only side that has bytes fits for so long that the other one is not needed, though it was picked up within a frame.
    var fitsForLong: Bool {
        guard !isOut, !detection.needsBoth, hasBytes.fromClient != hasBytes.fromServer else { return false }
        return probes[hasBytes.fromClient ? .fromClient : .fromServer]?.fitsForLong ?? false
    }

    /// How many frames follow one another up to this point, on the side with more of them.
    var row: Int { max(probes.fromClient?.row ?? 0, probes.fromServer?.row ?? 0) }

    /// Whether neither side has anything that may be a frame.
    var hasFoundNothing: Bool {
        probes.fromClient?.hasFoundNothing ?? true && probes.fromServer?.hasFoundNothing ?? true
    }

    /// The verdicts of the sides that count, for those with bytes.
    private var knownVerdicts: [FormatProbe.Verdict] {
        Direction.allCases.filter { asks($0) && hasBytes[$0] }.map { verdicts[$0] }
    }

    /// Whether weaker formats have to wait.
    var blocks: Bool {
        !isRefuted
            && ((asks(.fromClient) && verdicts.fromClient.blocks) || (asks(.fromServer) && verdicts.fromServer.blocks))
    }

    /// The evidence for the format, if it fits.
    var evidence: String {
        guard let among = plan.detection.among, knownVerdicts.contains(where: \.isAmongOthers) else {
            return plan.detection.evidence
        }
        return among.evidence
    }

    /// Whether a side may be enough for a format that does not fit without doubt.
    private func mayFit(_ verdict: FormatProbe.Verdict) -> Bool {
        verdict.fits || verdict.isAlone || verdict.isOpenHead
    }

    /// How well it fits if no more of the streams is seen, and the evidence; nil if it does not fit.
    ///
    /// The rank is 0 for the usual evidence, 1 if there are only a few frames or just a head, 2 for a single frame. Frames whose
    /// bodies were checked up to the last byte of the streams are never few: an object of several lines is no lines of text.
    var conclusion: (rank: Int, evidence: String)? {
        if fits { return (0, evidence) }
        guard mayFit(verdicts.fromClient) || mayFit(verdicts.fromServer) else { return nil }
        let verdicts = knownVerdicts
        guard !isOut, !verdicts.isEmpty, !detection.needsBoth else { return nil }
        if !isAligned, verdicts.allSatisfy(\.fits) { return (1, evidence) }
        // A side that has only begun is no evidence against it.
        guard verdicts.allSatisfy({ $0.isAlone || $0.isOpenHead }) else { return nil }
        let isProven = detection.needsValidBodies && verdicts.allSatisfy(\.isWhole)
        if !isAligned, verdicts.contains(where: \.hasEnough) { return (isProven ? 0 : 1, evidence) }
        if let openHead = detection.openHead, verdicts.contains(where: \.isOpenHead) { return (1, openHead) }
        return detection.alone.map { (isProven ? 0 : 2, $0) }
    }
}
