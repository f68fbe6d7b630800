import Streams

/// A rule of which there is one copy for all streams that it cuts.
///
/// Its methods are the rule's own. A rule that is called through its protocol is copied for each call, if it lies in an object;
/// one whose type the object knows is not.
package class SharedRule {
    let rule: any FramingRule
    let idle: Interval?

    fileprivate init(_ rule: any FramingRule) {
        self.rule = rule
        idle = rule.idle
    }

    /// A rule to be shared.
    package static func of(_ rule: some FramingRule) -> SharedRule { TypedRule(rule) }

    func scan(_ bytes: RawSpan, from start: Int, origin: Int, ended: Bool, memory: inout ScanMemory) -> FrameScan {
        rule.scan(bytes, from: start, origin: origin, ended: ended, memory: &memory)
    }

    func frames(
        in bytes: RawSpan, from start: Int, origin: Int, memory: inout ScanMemory, into items: inout [FrameItem]
    ) -> FrameRun {
        rule.frames(in: bytes, from: start, origin: origin, memory: &memory, into: &items)
    }

    func resume(
        _ bytes: RawSpan, from start: Int, origin: Int, ended: Bool, memory: inout ScanMemory
    ) -> Resumption {
        rule.resume(bytes, from: start, origin: origin, ended: ended, memory: &memory)
    }
}

private final class TypedRule<Rule: FramingRule>: SharedRule {
    private let typed: Rule

    init(_ rule: Rule) {
        typed = rule
        super.init(rule)
    }

    override func scan(
        _ bytes: RawSpan, from start: Int, origin: Int, ended: Bool, memory: inout ScanMemory
    ) -> FrameScan {
        typed.scan(bytes, from: start, origin: origin, ended: ended, memory: &memory)
    }

    override func frames(
        in bytes: RawSpan, from start: Int, origin: Int, memory: inout ScanMemory, into items: inout [FrameItem]
    ) -> FrameRun {
        typed.frames(in: bytes, from: start, origin: origin, memory: &memory, into: &items)
    }
}
