import Streams

/// Counts frames, and picks those that somebody wants to see: of most frames nobody wants more than their number.
package final class FrameSieve {
    /// What was counted in one direction.
    package struct Counts: Sendable {
        /// Frames that lay in more than one chunk.
        package var split = 0
        /// Frames that shared a chunk with other bytes.
        package var merged = 0
        /// Heartbeats.
        package var heartbeats = 0
        /// Bodies that are not what they should be, by what is wrong.
        package var faults = FaultCounts()

        package init() {}
    }

    /// A frame that was picked.
    package struct Pick {
        /// Its place in the batch.
        package var index: Int
        /// Its kind, where one was told.
        package var kind: Int?
        package var isHeartbeat: Bool
        /// Whether it is a request or an answer; false where nobody asks.
        package var isPaired = false
        /// Whether its body is one of the first that are not what they should be.
        package var hasNewFault: Bool
    }

    /// The frames of which the sieve picks some.
    package let kinds: FrameKinds
    private let wanted: FrameInterest
    private let hasHeartbeats: Bool
    private let checksBodies: Bool
    /// What frames stand for may not be their bytes as they lie: then each is looked at closely.
    private let transforms: Bool

    /// A sieve for the frames of one direction.
    package init(_ kinds: FrameKinds, _ format: Format, wanted: FrameInterest) {
        self.kinds = kinds
        self.wanted = wanted
        hasHeartbeats = format.heartbeat != nil
        checksBodies = wanted.contains(.faultyBodies) && !kinds.format.body.isPlain
        transforms = kinds.format.rule.transforms
    }

    /// Goes through the frames of a batch. Where frames stand for other bytes than their own, all are picked, unjudged.
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

    /// The same, where a number tells the kinds: what is known of a kind is looked up, and little else is looked at.
    private func sift(
        _ batch: FrameBatch, by place: NumberPlace, in bytes: RawSpan, _ counts: inout Counts, _ picks: inout [Pick]
    ) {
        let isPicked = wanted.contains(.all)
        let picksHeartbeats = wanted.contains(.heartbeats)
        let picksPairs = wanted.contains(.paired)
        var (slots, traits) = (kinds.slots, kinds.traits)
        let length = batch.chunk.range.count
        for index in 0..<batch.count {
            let item = batch[index]
            if item.extent < 0 {
                if item.shape.total < length { counts.merged &+= 1 }
            } else {
                count(batch.info(index), &counts)
            }
            let frame = bytes.extracting(item.start..<item.start &+ item.shape.total)
            var kind = slots.kind(of: place.key(frame))
            if kind < 0 {
                kind = kinds.kind(of: frame, item.shape) ?? -1
                (slots, traits) = (kinds.slots, kinds.traits)
            }
            guard kind >= 0, !traits[kind].asksForHeartbeat, !(picksPairs && traits[kind].asksForPairs) else {
                if let pick = judge(frame, item.shape, counts: &counts, index: index, batch.info(index)) {
                    picks.append(pick)
                }
                continue
            }
            let known = traits[kind]
            if known.isHeartbeat { counts.heartbeats &+= 1 }
            var hasNewFault = false
            if checksBodies, let fault = fault(known.check, kind, frame, item.shape) {
                hasNewFault = counts.faults.count(fault)
            }
            let isPaired = picksPairs && known.isPaired
            if isPicked || hasNewFault || isPaired || (known.isHeartbeat && picksHeartbeats) {
                picks.append(
                    Pick(
                        index: index, kind: kind, isHeartbeat: known.isHeartbeat, isPaired: isPaired,
                        hasNewFault: hasNewFault))
            }
        }
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

    /// Whether the chunks of a frame were shared, or several.
    package func count(_ info: FrameInfo, _ counts: inout Counts) {
        if info.segments > 1 { counts.split += 1 }
        if info.merged { counts.merged += 1 }
    }

    /// Counts a frame, and says whether it is picked.
    ///
    /// - Parameters:
    ///   - content: what it stands for.
    ///   - info: where it lies; asked for only where that matters.
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
        if wanted.contains(.paired) {
            if let kind, !kinds.traits[kind].asksForPairs {
                pick.isPaired = kinds.traits[kind].isPaired
            } else {
                pick.isPaired = !kinds.roles(kind, info(), content, shape).isEmpty
            }
            if pick.isPaired { isPicked = true }
        }
        // A body with a hole is not judged.
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

/// How many bodies are not what they should be, by what is wrong.
package struct FaultCounts: Sendable {
    /// Of so many of a kind and direction each is told; of more only how many there were.
    package static let told = 10

    private var badJSON = 0
    private var badBody = 0
    private var wrongKey = 0

    /// None.
    package init() {}

    /// How many there are of a kind.
    package subscript(kind: BodyFault.Kind) -> Int {
        switch kind {
        case .badJSON: badJSON
        case .badBody: badBody
        case .wrongKey: wrongKey
        }
    }

    /// Counts one; says whether it is among those that are told each.
    @inline(__always)
    mutating func count(_ kind: BodyFault.Kind) -> Bool {
        switch kind {
        case .badJSON: badJSON &+= 1
        case .badBody: badBody &+= 1
        case .wrongKey: wrongKey &+= 1
        }
        return self[kind] <= Self.told
    }
}
