import Interception
import Streams
import Trace

/// Which rules applied to a frame. One that never did is mostly misspelled, and a test that injects a fault with it tests nothing.
final class AppliedRules: TraceSink {
    private var names: Set<String> = []

    // Frames themselves are nothing to it.
    var takesFrames: Bool { false }
    var bodyLimit: Int { 0 }

    func action(_ report: ActionReport, on connection: TracedConnection) {
        if !report.detail.hasPrefix(ActionReport.notDone) { names.insert(report.rule) }
    }

    /// Warns of the rules for frames that applied to none.
    func warnOfOthers(_ rules: [Rule]) {
        for rule in rules where !names.contains(rule.name) {
            if case .frame = rule.action { warn("the rule \(rule.name) applied to no frame") }
        }
    }
}
