import Framing
import Streams

/// The rules of a proxy, and the seed of their choices.
package struct RuleSet: Sendable {
    /// The rules, in the order in which they apply.
    package var rules: [Rule]
    /// Decides every choice: the same seed and the same bytes give the same result.
    package var seed: UInt64

    /// Rules.
    package init(_ rules: [Rule], seed: UInt64) { (self.rules, self.seed) = (rules, seed) }

    /// Whether a rule applies to frames, so that the format must be known.
    package var needsFormat: Bool {
        rules.contains { if case .frame = $0.action { true } else { false } }
    }

    /// The stages of a connection; nil if no rule applies to it.
    ///
    /// - Parameters:
    ///   - connection: its number, from 1 in order of opening.
    ///   - format: the format of its frames; rules for frames need one.
    ///   - limits: how much the stages hold, and for how long.
    ///   - isCommanded: whether frames may be injected and stopped by command: then there are stages without a rule, too.
    ///   - breakpoints: conditions on frames that are stopped.
    package func stages(
        of connection: Int, format: Format?, limits: StageChain.Limits = StageChain.Limits(), isCommanded: Bool = false,
        breakpoints: [String] = []
    ) -> StageChain? {
        let rules = numbered(of: connection)
        return chain(
            rules, limits, isCommanded,
            breaking: { format.map { BreakStage(breakpoints, $0, largest: limits.bytes) } },
            framing: { own, isCommanded in
                format.map { FrameStage(own(rules), $0, largest: limits.bytes, isCommanded: isCommanded) }
            })
    }

    /// The stages of a connection whose format is recognised while it speaks; nil if no rule applies to it.
    ///
    /// - Parameters:
    ///   - connection: its number, from 1 in order of opening.
    ///   - limits: how much the stages hold, and for how long.
    ///   - isCommanded: whether frames may be injected and stopped by command: then there are stages without a rule, too.
    ///   - breakpoints: conditions on frames that are stopped.
    ///   - search: what recognises the format.
    ///   - rules: the same rules as these, read for a format; nil if they do not suit it.
    package func stages(
        of connection: Int, limits: StageChain.Limits = StageChain.Limits(), isCommanded: Bool = false,
        breakpoints: [String] = [], recognisedBy search: () -> any FormatSearch,
        _ rules: @escaping @Sendable (Format) -> RuleSet?
    ) -> StageChain? {
        chain(
            numbered(of: connection), limits, isCommanded,
            breaking: { RecognisingStage(search()) { BreakStage(breakpoints, $0, largest: limits.bytes) } },
            framing: { own, isCommanded in
                RecognisingStage(search()) { format in
                    rules(format).map {
                        FrameStage(
                            own($0.numbered(of: connection)), format, largest: limits.bytes, isCommanded: isCommanded)
                    }
                }
            })
    }

    /// Every stage that a connection may have, in the order in which bytes pass them. A new one is one line here.
    ///
    /// - Parameters:
    ///   - breaking: the stage that stops frames; nil without a format.
    ///   - framing: a stage that applies some of the rules to frames; nil without a format.
    /// - Returns: nil if the connection needs none of them.
    private func chain(
        _ rules: Numbered, _ limits: StageChain.Limits, _ isCommanded: Bool, breaking: () -> (any Stage)?,
        framing: (_ own: @escaping @Sendable (Numbered) -> [NumberedRule], _ isCommanded: Bool) -> (any Stage)?
    ) -> StageChain? {
        var stages: [(any Stage)?] = []
        if isCommanded { stages.append(breaking()) }
        if !rules.frames.isEmpty || isCommanded { stages.append(framing({ $0.frames }, isCommanded)) }
        if !rules.links.isEmpty { stages.append(LinkStage(rules.links)) }
        // Last: what other stages emit is cut.
        if !rules.segmentations.isEmpty { stages.append(framing({ $0.segmentations }, false)) }
        let made = stages.compactMap { $0 }
        return made.isEmpty ? nil : StageChain(made, limits: limits)
    }

    private typealias Numbered = (frames: [NumberedRule], links: [NumberedRule], segmentations: [NumberedRule])

    /// The rules for a connection, each with its chances.
    private func numbered(of connection: Int) -> Numbered {
        var numbered: Numbered = ([], [], [])
        for (number, rule) in rules.enumerated() {
            guard Direction.allCases.contains(where: { rule.applies(to: $0, of: connection) }) else { continue }
            let chances = PerDirection(
                fromClient: Chance(seed: seed, rule: number, connection: connection, direction: .fromClient),
                fromServer: Chance(seed: seed, rule: number, connection: connection, direction: .fromServer))
            let rule = NumberedRule(rule: rule, chances: chances)
            switch rule.rule.action {
            case .frame(.segment): numbered.segmentations.append(rule)
            case .frame: numbered.frames.append(rule)
            case .link: numbered.links.append(rule)
            }
        }
        return numbered
    }
}

/// A rule at work on one connection.
struct NumberedRule: Sendable {
    var rule: Rule
    /// Its choices.
    var chances: PerDirection<Chance>
    /// Whether the frame that it waits for has been seen.
    var isArmed = false
    /// For how many frames its condition has held.
    var matched = PerDirection(fromClient: 0, fromServer: 0)
    /// Since when it applies, and how many bytes had arrived before; for rules that come to a connection that is open.
    var start: (time: Timestamp, offset: PerDirection<Int>)?
    /// When it first kept bytes from passing.
    var armed: Timestamp?
    /// Whether it has closed the connection.
    var hasClosed = false
    /// How often it was applied.
    var applied = PerDirection(fromClient: 0, fromServer: 0)
    var timesApplied: Int { applied.fromClient + applied.fromServer }

    init(rule: Rule, chances: PerDirection<Chance>) {
        (self.rule, self.chances) = (rule, chances)
        isArmed = rule.selection.after == nil
    }
}
