import Streams

/// Counts frames, and picks those that a caller wants to see: most frames are only counted.
package final class FrameSieve {
    /// What was counted in one direction.
    package struct Counts: Sendable {
        /// Frames that lay in more than one chunk.
        package var split = 0
        /// Frames that shared a chunk with other bytes.
        package var merged = 0
        /// Heartbeats.
        package var heartbeats = 0
        /// Faulty bodies, by kind of fault.
        package var faults = FaultCounts()
        /// Whether requests and answers are no longer paired.
        package var skipsPairs = false

        package init() {}

        /// Packs or unpacks them.
        package mutating func pass(through numbers: inout PackedNumbers) {
            numbers.pass(&split)
            numbers.pass(&merged)
            numbers.pass(&heartbeats)
            faults.pass(through: &numbers)
            numbers.pass(&skipsPairs)
        }
    }

    /// A frame that was picked.
    package struct Pick {
        /// Its place in the batch.
        package var index: Int
        /// Its kind, if determined.
        package var kind: Int?
        package var isHeartbeat: Bool
        /// Whether it is a request or an answer; false if pairing is not wanted.
        package var isPaired = false
        /// Whether its body is among the first faulty ones.
        package var hasNewFault: Bool
    }

    /// The kinds of the frames to pick from.
    package let kinds: FrameKinds
    private let wanted: FrameInterest
    private let hasHeartbeats: Bool
    private let checksBodies: Bool
    /// Whether frames' content may differ from their bytes: then each is examined.
    private let transforms: Bool
    /// The work for frames of the kinds that a number determines.
    @exclusivity(unchecked) private var work = WorkByNumber()

    /// The number that determines kinds, if frames of which nothing is wanted can be counted without being recorded.
    let countedBy: FixedPlace?
    /// Whether there are such frames.
    package var countsAlone: Bool { countedBy != nil }

    /// A sieve for the frames of one direction.
    package init(_ kinds: FrameKinds, _ format: Format, wanted: FrameInterest) {
        self.kinds = kinds
        // The frames that a conversation, or TLS, begins with must be seen.
        self.wanted = format.beginning == nil && format.upgrade == nil ? wanted : wanted.union(.all)
        hasHeartbeats = format.heartbeat != nil
        checksBodies = self.wanted.contains(.faultyBodies) && !kinds.format.hasPlainBodies
        transforms = kinds.format.rule.transforms
        countedBy = transforms || self.wanted.contains(.all) ? nil : kinds.place
    }

    /// Whether nothing is wanted of a whole frame but to count it; a faulty body is then counted, too.
    ///
    /// - Parameter place: `countedBy`, unwrapped: the loop over a chunk's frames does that once.
    @inline(__always)
    func counts(
        _ frame: RawSpan, by place: FixedPlace, _ lengths: PlainLengths, _ counts: inout Counts
    ) -> Bool {
        let work = work[place.value(in: frame, at: 0)]
        if work.examines(pairs: !counts.skipsPairs) { return false }
        if !work.contains(.messageCheck) { return true }
        return isPlainMessage(frame, lengths.head..<frame.byteCount &- lengths.tail, &counts)
    }

    /// Goes through the frames of a batch. If frames' content differs from their bytes, all are picked, unjudged.
    package func sift(_ batch: FrameBatch, in bytes: RawSpan, counts: inout Counts, picks: inout [Pick]) {
        if transforms {
            for index in 0..<batch.count {
                count(batch[index], index, batch, &counts)
                picks.append(Pick(index: index, kind: nil, isHeartbeat: false, hasNewFault: false))
            }
        } else if let place = kinds.place {
            sift(batch, by: place, in: bytes, &counts, &picks)
        } else {
            for index in 0..<batch.count {
                let item = batch[index]
                count(item, index, batch, &counts)
                if wanted.isEmpty, !hasHeartbeats { continue }
                let content = bytes.extracting(item.start..<item.start + item.shape.total)
                if let pick = judge(content, item.shape, counts: &counts, index: index, batch.info(index)) {
                    picks.append(pick)
                }
            }
        }
    }

    /// The same if a number determines the kinds: a kind's properties are looked up, and little else is examined.
    private func sift(
        _ batch: FrameBatch, by place: FixedPlace, in bytes: RawSpan, _ counts: inout Counts, _ picks: inout [Pick]
    ) {
        let length = batch.chunk.range.count
        for index in batch.range {
            let item = batch.noted(index)
            if item.extent >= 0 {
                countHeld(index &- batch.range.lowerBound, batch, &counts)
            } else if item.shape.total < length {
                counts.merged &+= 1
            }
            let frame = bytes.extracting(item.start..<item.start &+ item.shape.total)
            let key = place.value(in: frame, at: 0)
            let work = work[key]
            if work == .unknown {
                learn(key, frame, item.shape)
            } else if !work.examines(pairs: !counts.skipsPairs) {
                if !work.contains(.messageCheck)
                    || isPlainMessage(frame, item.shape.head..<item.shape.head &+ item.shape.body, &counts)
                {
                    continue
                }
            }
            judge(index &- batch.range.lowerBound, batch, frame, &counts, &picks)
        }
    }

    /// Whether a body is a Protobuf message, or yet another of many that are not: then there is nothing more to do.
    @inline(__always)
    private func isPlainMessage(_ frame: RawSpan, _ body: Range<Int>, _ counts: inout Counts) -> Bool {
        let isMessage = ProtobufReader.isMessage(frame.extracting(body))
        return isMessage == true || isMessage == false && counts.faults.countAnother(.badBody)
    }

    /// Determines the work for frames of a kind.
    @inline(never)
    private func learn(_ key: UInt64, _ frame: RawSpan, _ shape: FrameShape) {
        guard let kind = kinds.kind(of: frame, shape) else { return }
        let traits = kinds.traits[kind]
        let isPaired = wanted.contains(.paired) && (traits.isPaired || traits.asksForPairs)
        let isPicked = wanted.contains(.all) || traits.isHeartbeat || traits.asksForHeartbeat
        switch checksBodies ? traits.check : .none {
        case .none: work[key] = isPicked ? .everything : isPaired ? .pair : []
        case .protobuf: work[key] = isPicked ? .everything : isPaired ? [.messageCheck, .pair] : .messageCheck
        case .closer: work[key] = .everything
        }
    }

    /// Examines a frame of a batch.
    @inline(never)
    private func judge(
        _ index: Int, _ batch: FrameBatch, _ frame: RawSpan, _ counts: inout Counts, _ picks: inout [Pick]
    ) {
        if let pick = judge(frame, batch[index].shape, counts: &counts, index: index, batch.info(index)) {
            picks.append(pick)
        }
    }

    /// Counts a frame that does not lie in the newest chunk alone.
    @inline(never)
    private func countHeld(_ index: Int, _ batch: FrameBatch, _ counts: inout Counts) {
        count(batch.info(index), &counts)
    }

    @inline(__always)
    private func fault(
        _ check: BodyChain.QuickCheck, _ kind: Int, _ frame: RawSpan, _ shape: FrameShape
    ) -> BodyFault.Kind? {
        switch check {
        case .none: return nil
        case .protobuf:
            let body = frame.extracting(shape.head..<shape.head &+ shape.body)
            if let isMessage = ProtobufReader.isMessage(body) { return isMessage ? nil : .badBody }
            return kinds.fault(kind, frame, shape)
        case .closer: return kinds.fault(kind, frame, shape)
        }
    }

    @inline(__always)
    private func count(_ item: FrameItem, _ index: Int, _ batch: FrameBatch, _ counts: inout Counts) {
        if item.extent >= 0 {
            count(batch.info(index), &counts)
        } else if item.shape.total < batch.chunk.range.count {
            counts.merged &+= 1
        }
    }

    /// Counts a frame whose chunks were shared, or several.
    package func count(_ info: FrameInfo, _ counts: inout Counts) {
        if info.segments > 1 { counts.split += 1 }
        if info.merged { counts.merged += 1 }
    }

    /// Counts a frame, and returns whether it is picked.
    ///
    /// - Parameters:
    ///   - content: its content, with escapes resolved.
    ///   - info: where it is; evaluated only if needed.
    package func judge(
        _ content: RawSpan, _ shape: FrameShape, counts: inout Counts, index: Int = 0,
        _ info: @autoclosure () -> FrameInfo, isWhole: Bool = true
    ) -> Pick? {
        let kind = kinds.kind(of: content, shape)
        var pick = Pick(index: index, kind: kind, isHeartbeat: false, hasNewFault: false)
        var isPicked = wanted.contains(.all)
        if let kind, !kinds.traits[kind].asksForHeartbeat {
            pick.isHeartbeat = kinds.traits[kind].isHeartbeat
        } else if hasHeartbeats {
            pick.isHeartbeat = kinds.isHeartbeat(kind, info(), content, shape)
        }
        if pick.isHeartbeat {
            counts.heartbeats &+= 1
            if wanted.contains(.heartbeats) { isPicked = true }
        }
        if wanted.contains(.paired), !counts.skipsPairs {
            if let kind, !kinds.traits[kind].asksForPairs {
                pick.isPaired = kinds.traits[kind].isPaired
            } else {
                pick.isPaired = !kinds.roles(kind, info(), content, shape).isEmpty
            }
            if pick.isPaired { isPicked = true }
        }
        // A body with a gap is not judged.
        if checksBodies, isWhole {
            let fault =
                if let kind { fault(kinds.traits[kind].check, kind, content, shape) } else {
                    kinds.fault(nil, content, shape)
                }
            if let fault, counts.faults.count(fault) {
                pick.hasNewFault = true
                isPicked = true
            }
        }
        return isPicked ? pick : nil
    }
}
