import Streams

/// One kind of frame of a direction: its rule, and the fields before and after the body.
package struct FrameLayout: Sendable {
    /// The kind's name; nil if there is only one.
    package var name: String?
    /// How to determine where such a frame ends.
    package var rule: any FramingRule
    /// The fields before the body.
    package var head: (any Head)? { didSet { binary = head as? BinaryHead } }
    /// The same, if it is binary: every access to `head` copies it.
    private(set) var binary: BinaryHead?
    /// The fields after the body.
    package var trailer: BinaryHead?
    /// How the kind's bodies are decoded, if it says so itself.
    package var body: BodyFormat?
    /// The keys of its checksums by name; that of the format's name as "".
    var keys: [String: [UInt8]] = [:]

    package init(name: String? = nil, rule: any FramingRule, head: (any Head)?, trailer: BinaryHead?) {
        self.name = name
        self.rule = rule
        self.head = head
        binary = head as? BinaryHead
        self.trailer = trailer
    }
}

extension FrameScan {
    /// The same, with the layouts of a part counted from `first`.
    func shifted(by first: Int) -> FrameScan {
        guard first > 0, case .shape(var shape) = self else { return self }
        shape.layout += first
        return .shape(shape)
    }
}

/// A part of a composite rule, whose layouts are numbered from `first` on. A class: to copy a rule takes longer than many scans.
final class RulePart: Sendable {
    let rule: any FramingRule
    let first: Int
    let layouts: Int
    /// The quick check that spares a search most walks; nil if the rule is not `fields`.
    private let startCheck: StructureStart?

    init(rule: any FramingRule, first: Int, layouts: Int) {
        (self.rule, self.first, self.layouts) = (rule, first, layouts)
        startCheck = (rule as? Structured)?.startCheck
    }

    func owns(_ layout: Int) -> Bool { (first..<first + layouts).contains(layout) }

    func scan(_ bytes: RawSpan, from start: Int, origin: Int, ended: Bool, memory: inout ScanMemory) -> FrameScan {
        if memory.search == .first, let startCheck, !startCheck.mayFit(bytes, at: start) {
            return .bad(BadBytes(.badHead, ""))
        }
        return rule.scan(bytes, from: start, origin: origin, ended: ended, memory: &memory).shifted(by: first)
    }

    /// The shape as the part itself numbers it.
    func own(_ shape: FrameShape) -> FrameShape {
        var own = shape
        own.layout -= first
        return own
    }
}

/// A rule that delegates to one of its parts, chosen by the frame's layout.
protocol CompositeRule: FramingRule {
    var parts: [RulePart] { get }
    /// How many kinds of frames are possible at each place.
    var choices: Int { get }
}

extension CompositeRule {
    var choices: Int { parts.count }

    func part(of layout: Int) -> RulePart? { parts.first { $0.owns(layout) } }

    package func content(of frame: RawSpan, _ shape: FrameShape) -> (bytes: [UInt8], shape: FrameShape)? {
        guard let part = part(of: shape.layout), var content = part.rule.content(of: frame, part.own(shape)) else {
            return nil
        }
        content.shape.layout = shape.layout
        return content
    }

    package var transforms: Bool { parts.contains { $0.rule.transforms } }

    package func notes(of frame: RawSpan, _ shape: FrameShape) -> [Field] {
        part(of: shape.layout).map { $0.rule.notes(of: frame, $0.own(shape)) } ?? []
    }

    package func progress(_ bytes: RawSpan, shape: FrameShape?) -> String {
        guard let shape, let part = part(of: shape.layout) else { return "\(bytes.byteCount) bytes of a frame" }
        return part.rule.progress(bytes, shape: part.own(shape))
    }

    /// The parts as those of a conversation.
    func boundParts(_ conversation: Conversation, _ direction: Direction) -> [RulePart] {
        parts.map { part in
            RulePart(
                rule: part.rule.bound(to: conversation, direction) ?? part.rule, first: part.first,
                layouts: part.layouts)
        }
    }

    package var remembersWalks: Bool { parts.contains { $0.rule.remembersWalks } }

    /// Whether it differs in a conversation.
    var isBound: Bool { remembersWalks || !requestPaths.isEmpty }

    package var requestPaths: [[String]] { parts.flatMap(\.rule.requestPaths) }

    package func isInterim(_ content: RawSpan, _ shape: FrameShape) -> Bool {
        part(of: shape.layout).map { $0.rule.isInterim(content, $0.own(shape)) } ?? false
    }

    package var idle: Interval? { parts.compactMap(\.rule.idle).min() }

    package var landmark: Landmark { .common(of: parts.map(\.rule.landmark)) }

    package var firstBytes: ByteSet { parts.reduce(into: ByteSet()) { $0.formUnion($1.rule.firstBytes) } }

    package var secondBytes: ByteSet { parts.reduce(into: ByteSet()) { $0.formUnion($1.rule.secondBytes) } }

    package var hasOpening: Bool { parts.contains { $0.rule.hasOpening } }

    package func mayStart(_ bytes: RawSpan, at start: Int) -> Bool {
        for part in parts where part.rule.mayStart(bytes, at: start) { return true }
        return false
    }

    package func fallsShort(_ bytes: RawSpan, at start: Int, of needed: NeededEvidence) -> Bool {
        // All of them: one that a search would not begin with may be what the frame is, if another one makes it begin here.
        parts.allSatisfy { $0.rule.fallsShort(bytes, at: start, of: needed) }
    }

    /// The evidence of the frame's kind, reduced by the number of kinds.
    package func evidence(
        of shape: FrameShape, in bytes: RawSpan, at start: Int, previous: (start: Int, shape: FrameShape)?,
        _ background: ByteBackground
    ) -> Evidence? {
        guard let part = part(of: shape.layout) else { return nil }
        let before = previous.flatMap {
            part.owns($0.shape.layout) ? (start: $0.start, shape: part.own($0.shape)) : nil
        }
        guard
            var evidence = part.rule.evidence(
                of: part.own(shape), in: bytes, at: start, previous: before, background)
        else { return nil }
        evidence.values += Evidence.choice(of: choices)
        return evidence
    }

    package func endFault(of frame: RawSpan, _ shape: FrameShape) -> String? {
        part(of: shape.layout).flatMap { $0.rule.endFault(of: frame, $0.own(shape)) }
    }

    package var checksEnds: Bool { parts.contains { $0.rule.checksEnds } }

    package func checksums(of shape: FrameShape) -> SearchedChecksums? {
        part(of: shape.layout).flatMap { $0.rule.checksums(of: $0.own(shape)) }
    }

    package var hasChecksums: Bool { parts.contains { $0.rule.hasChecksums } }

    package func closingEvidence(
        of shape: FrameShape, in bytes: RawSpan, at start: Int, _ background: ByteBackground
    ) -> Evidence? {
        part(of: shape.layout).flatMap {
            $0.rule.closingEvidence(of: $0.own(shape), in: bytes, at: start, background)
        }
    }
}
