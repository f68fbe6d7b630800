import Framing
import Streams
import Trace

/// How published receivers would treat bytes that belong to no frame.
extension HazardFinder {
    /// Evaluates a run.
    func judge(
        _ run: UnframedRun, from direction: Direction, _ format: Format, _ state: HazardState,
        _ connection: TracedConnection, into findings: inout [Finding]
    ) {
        let side = format.directions[direction]
        let rule = side.rule as? HeadAndBody
        let chunks = state.sides[direction].ends.chunks(of: run.offset..<run.offset + run.byteCount).places
        var span: UnframedSpan
        if let open = state.sides[direction].span, open.end == run.offset {
            span = open
            span.add(run, rule)
        } else {
            span = UnframedSpan(run, rule)
        }
        state.sides[direction].reported = span.end
        // The beginning of a frame, and not just its continuation.
        let isCut = span.cut?.offset == run.offset
        let knownHead = state.sides[direction].head
        for hazard in format.hazards.map(\.hazard) where !span.reported.contains(hazard) {
            var place = run.offset..<span.end
            let harm: String?
            switch (hazard, run.reason) {
            case (.badHead, _) where span.beginsWithHead:
                place = span.start..<span.end
                harm = span.head == .unreadable ? Self.unreadable : nil
            case (.zeroSizeBody, _) where span.beginsWithHead:
                place = span.start..<span.end
                harm = span.head == .asks(0) ? Self.asksForNothing : nil
            case (.endlessHead, _) where span.beginsWithHead:
                if let endless = span.endless { place = endless }
                harm = span.endless == nil ? nil : Self.looksForEver
            case (.noMagicCheck, _):
                let needed = side.headLength
                if let lost = span.lostStep { place = lost..<span.end }
                harm = span.lostStep != nil && place.count >= needed ? Self.outOfStep : nil
            case (.noLengthLimit, _):
                let long = Self.tooLongFrame(in: run, side.rule)
                if let long { place = run.offset + long..<span.end }
                harm = long == nil ? nil : "waits for ever for a body of any length"
            case (.wideID, .tooLong), (.wideID, .incomplete):
                let ids = side.usualIDs
                let isWide =
                    direction == .fromClient && span.start == run.offset
                    && knownHead.map { $0 >= ids.last?.upperBound ?? 0 } ?? true
                    && Hazard.hasWideIDs(run.bytes.span.bytes, at: ids)
                harm = isWide ? Hazard.isWide : nil
            case (.shortResponse, _) where direction == .fromServer:
                harm = Hazard.shortRead(chunks, side.headLength).map(Hazard.takesForAnswer)
            case (.perRead, .incomplete), (.perRead, .tooLong):
                harm = direction == .fromClient ? "misreads: takes each read for a line" : nil
            case (_, .incomplete) where isCut:
                harm = hazard.harm(atCut: run, chunks, from: direction, side, isKept: state.isKept)
            default: harm = nil
            }
            guard let harm else { continue }
            span.reported.insert(hazard)
            findings += report(hazard, harm, direction, run.time, place, state, connection)
        }
        state.sides[direction].span = span
    }

    /// A frame ends the unframed bytes: their open questions are settled.
    func endSpan(
        before frame: HazardView, _ format: Format, _ state: HazardState, _ connection: TracedConnection,
        into findings: inout [Finding]
    ) {
        let direction = frame.direction
        state.sides[direction].head = frame.shape.head
        guard let span = state.sides[direction].span else { return }
        state.sides[direction].span = nil
        guard span.end == frame.info.offset else { return }
        func report(_ hazard: Hazard, _ harm: String, _ start: Int) {
            guard format.has(hazard), !span.reported.contains(hazard) else { return }
            findings += self.report(hazard, harm, direction, span.time, start..<span.end, state, connection)
        }
        if let lost = span.lostStep { report(.noMagicCheck, Self.outOfStep, lost) }
        guard let rule = format.directions[direction].rule as? HeadAndBody, span.beginsWithHead else { return }
        // The end of the frame's head is the end of what a receiver treats as one.
        if span.end - span.search + frame.shape.head > rule.headLimit {
            report(.endlessHead, Self.looksForEver, span.search)
        } else if span.head == nil, !span.isBlank, span.endless == nil {
            report(.badHead, Self.unreadable, span.start)
        }
    }

    /// A direction is over: the frame it was truncated in will not be completed.
    func endSpan(
        of direction: Direction, _ state: HazardState, _ connection: TracedConnection, into findings: inout [Finding]
    ) {
        guard let span = state.sides[direction].span else { return }
        state.sides[direction].span = nil
        guard let cut = span.cut, span.end == state.sides[direction].ends.total else { return }
        guard direction == .fromServer else {
            servers[connection.opening.server]?.isLeftOver = true
            return
        }
        guard let head = cut.head, head != .unreadable,
            connection.format?.has(.staleHead) == true
        else { return }
        let harm = "goes deaf when it connects again: it keeps the head of this frame"
        findings += report(.staleHead, harm, direction, span.time, cut.offset..<span.end, state, connection)
    }

    /// Where a frame beyond its limit begins, which a receiver without limit would wait for: at the beginning, or where a
    /// receiver that searches for a head finds it.
    private static func tooLongFrame(in run: UnframedRun, _ rule: any FramingRule) -> Int? {
        switch run.reason {
        case .tooLong: return 0
        case .badHead, .badLength:
            // Of frames whose bytes are encoded, no length says how long they are.
            if rule.transforms { return nil }
            let bytes = run.bytes.span.bytes
            return run.bytes.indices.first { start in
                var memory = ScanMemory()
                let scan = rule.scan(bytes, from: start, origin: run.offset, ended: false, memory: &memory)
                if case .bad(let bad) = scan { return bad.reason == .tooLong }
                return false
            }
        default: return nil
        }
    }

    private static var unreadable: String { "goes deaf: has no read outstanding after a head that it cannot read" }
    private static var asksForNothing: String { "stalls: asks for exactly 0 bytes and is never called back" }
    private static var looksForEver: String { "looks for the head's end without limit" }
    private static var outOfStep: String { "misreads: never notices that it is out of step" }
}

extension Hazard {
    /// What a published receiver has already done with the beginning of a frame when the end truncates it.
    fileprivate func harm(
        atCut run: UnframedRun, _ chunks: [Range<Int>], from direction: Direction, _ side: DirectionFormat, isKept: Bool
    ) -> String? {
        let isRequest = direction == .fromClient
        switch self {
        case .shortFirstRead where isRequest:
            let beginsWithin = chunks.first.map { $0.lowerBound < run.offset } ?? false
            let held = chunks.dropFirst(beginsWithin ? 1 : 0).map { $0.upperBound - run.offset }
            return held.first { $0 < side.headLength }.map { Self.readsHead(side.headLength, of: $0) }
        case .keptBuffer where isRequest && isKept: return Self.isKept
        case .doubleAppend:
            let held = chunks.dropLast().map { $0.upperBound - run.offset }.first { $0 >= side.headLength }
            return held.map(Self.appendsTwice)
        case .negativeLength:
            var memory = ScanMemory()
            let scan = side.rule.scan(
                run.bytes.span.bytes, from: 0, origin: run.offset, ended: false, memory: &memory)
            guard case .shape(let shape) = scan else { return nil }
            return Self.readsSign(shape.total)
        default: return nil
        }
    }
}

extension DirectionFormat {
    /// The length of heads if all are the same; otherwise 1.
    fileprivate var headLength: Int { (layouts.first?.head as? BinaryHead)?.fixedLength ?? 1 }
}
