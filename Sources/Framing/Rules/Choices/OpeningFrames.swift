import Streams

/// A stream whose first frame is unlike the rest, or whose first few are.
///
/// PostgreSQL's start-up packet has no type byte; requests for encryption may come before it (protocol 3, "Start-up").
struct OpeningFrames: CompositeRule {
    static let name = "first"

    let opening: RulePart
    let rest: RulePart
    /// Values of a field of the first frame after which another such frame follows, and the heads it may be in, by layout.
    let again: (heads: [BinaryHead?], field: String, values: [FieldValue])?

    var parts: [RulePart] { [opening, rest] }
    /// Whether a frame is one of the first is decided by its position.
    var choices: Int { 1 }
    /// A search for frames looks for repeating ones; the first ones are tried as well.
    var landmark: Landmark { rest.rule.landmark }
    var hasOpening: Bool { true }

    func bound(to conversation: Conversation, _ direction: Direction) -> (any FramingRule)? {
        guard isBound else { return nil }
        let parts = boundParts(conversation, direction)
        return OpeningFrames(opening: parts[0], rest: parts[1], again: again)
    }

    func scan(_ bytes: RawSpan, from start: Int, origin: Int, ended: Bool, memory: inout ScanMemory) -> FrameScan {
        guard memory.opening == origin + start else {
            return rest.scan(bytes, from: start, origin: origin, ended: ended, memory: &memory)
        }
        let scan = opening.scan(bytes, from: start, origin: origin, ended: ended, memory: &memory)
        if case .shape(let shape) = scan, let again, shape.layout < again.heads.count,
            let head = again.heads[shape.layout], start + shape.head <= bytes.byteCount,
            let value = head.field(again.field, of: bytes.extracting(start..<start + shape.head)),
            again.values.contains(value)
        {
            memory.opening = origin + start + shape.total
        }
        return scan
    }

}
