import ArgumentParser
import Framing
import Trace

/// Options that make a command a check.
struct FailOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Exit with 1 if there was one of these: a kind of finding, unframed, missing, dropped. Separated by commas; may be repeated.",
            valueName: "kinds"), completion: .list(FailOptions.known))
    var failOn: [String] = []

    func validate() throws {
        if let empty = failOn.first(where: { Self.kinds(in: $0).isEmpty }) {
            throw ValidationError("--fail-on '\(empty)' names no kind; known are \(Self.known.joined(separator: ", "))")
        }
        if let wrong = kinds.first(where: { !Self.known.contains($0) }) {
            throw ValidationError("--fail-on does not know \(wrong); known are \(Self.known.joined(separator: ", "))")
        }
    }

    /// Rejects a check for hazards where none are looked for: it would always pass.
    ///
    /// - Parameter areSought: whether they are; nil for a command that never does.
    func checkHazards(areSought: Bool?) throws {
        guard areSought != true, kinds.contains(Finding.Kind.hazard.rawValue) else { return }
        throw ValidationError(
            areSought == nil
                ? "--fail-on hazard would always pass: this command looks for none; decode its capture with --hazards"
                : "--fail-on hazard needs --hazards: without it, no hazards are looked for")
    }

    private static let known = Finding.Kind.allCases.map(\.rawValue) + ["unframed", "missing", "dropped"]

    /// Whether the command is a check.
    var isGiven: Bool { !failOn.isEmpty }

    private var kinds: [String] { failOn.flatMap { Self.kinds(in: $0) } }

    /// The names in a list; there may be blanks between them, too.
    private static func kinds(in list: String) -> [String] {
        list.split { $0 == "," || $0.isWhitespace }.map(String.init)
    }

    /// What fails a check, for those who show it.
    var checked: CheckedKinds { CheckedKinds(Set(kinds)) }

    /// Whether the trace contains anything that `--fail-on` asks about.
    func fails(_ summary: Summary) -> Bool {
        let total = summary.total
        return kinds.contains { kind in
            switch kind {
            case "unframed": total.bytes.unframed > 0
            case "missing": total.bytes.missing > 0
            case "dropped": summary.dropped > 0
            default: Finding.Kind(rawValue: kind).map { total.findings[$0, default: 0] > 0 } ?? false
            }
        }
    }
}
