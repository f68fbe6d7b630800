import Expressions
import Streams

extension Format {
    /// Whether the bodies of a side's frames may be streamed instead of held whole: they are plain text or bytes, no checksum
    /// covers them, and no condition of the format reads them.
    package func streamsBodies(from direction: Direction) -> Bool {
        let format = directions[direction]
        return isFramed && format.hasPlainBodies && !format.rule.transforms && secrets.isEmpty
            && relay == nil && broadcast == nil && !format.hasChecksums && !format.namesByBody
            && !conditions.contains(where: \.readsBodies)
            && !allPairings.contains { $0.rule.readsBodies }
    }

    /// The conditions on frames.
    private var conditions: [Expression] {
        [
            heartbeat?.condition, heartbeat?.announced?.condition, beginning?.condition, upgrade?.after,
            upgrade?.answered,
        ].compactMap(\.self)
            + allPairings.flatMap { [$0.request, $0.answer] } + (states?.transitions.map(\.condition) ?? [])
    }
}

extension DirectionFormat {
    /// Whether any kind of frame has a checksum.
    fileprivate var hasChecksums: Bool { layouts.contains(where: \.hasChecksums) }

    /// Whether the body names the frame's type, source or target.
    fileprivate var namesByBody: Bool {
        for case .body? in [fromPlace, toPlace] { return true }
        switch typeName {
        case .value(.body): return true
        case .cases(let cases):
            return cases.contains { known in
                if case .place(.body) = known.name { return true }
                return known.condition?.readsBodies == true
            }
        default: return false
        }
    }

    /// The body of a frame whose last bytes were streamed.
    package func streamedBody(of frame: FrameInfo, _ content: RawSpan) -> DecodedBody {
        if frame.missing > 0 { return .incomplete }
        let body = body(of: frame.partsAtHand)
        let type = body.byType.isEmpty ? nil : type(of: content, frame.partsAtHand)
        return DecodedBody(frame.isText && !body.chain(for: type).isOpaque ? .text : .opaque)
    }
}

extension Pairing.Rule {
    fileprivate var readsBodies: Bool {
        switch self {
        case .body, .value(.body): true
        case .order, .type, .value(.field), .value(.inField): false
        }
    }
}

extension Expression {
    /// Whether it reads more of a body than its length.
    package var readsBodies: Bool { paths.contains { $0.first == "body" && $0 != ["body", "length"] } }
}
