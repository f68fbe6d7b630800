import Streams
import TraceDiff

/// What torture found.
package struct TortureReport: Sendable {
    /// One thing that breaks: the least segmentation that shows it.
    package struct Break: Hashable, Sendable {
        /// The connection's number in the recording.
        package var connection: Int
        /// Whose frame.
        package var from: Direction
        /// The frame's place among those of its sender, from 0.
        package var index: Int
        package var type: String?
        /// The field that is cut, or before which the cut is; `head`, `body`, `delimiter` or `frame` if it is none.
        package var field: String
        /// After how many of the frame's bytes the cut is; 0: it is not cut, but joined with the frame before it.
        package var offset: Int
        package var segmentation: String
        /// What happens.
        package var symptom: String
        /// Which part of the frame it is that is split, if it is one: `head`, `body` or `delimiter`.
        package var area: String?
        /// Where, in words.
        package var text: String
        /// How many segmentations like this one fail.
        package var count = 1
    }

    /// The runs of one kind of segmentation.
    package struct Section: Hashable, Sendable {
        package var name: String
        /// How many there were, how many were proven to have been seen as they were sent, and how many failed.
        package var tried = 0
        package var proven = 0
        package var failed = 0
        /// How many do not count: the same frames fail without being joined.
        package var uncounted = 0
        /// How many places were left out: a cut there fails alone.
        package var leftOut = 0
    }

    package var connections = 0
    package var frames = 0
    package var bytes = 0
    package var seed: UInt64 = 0
    /// For how long an answer was awaited.
    package var patience = Interval(nanoseconds: 0)
    package var sections: [Section] = []
    package var least: [Break] = []
    /// The paths of values that differed between baselines, and are therefore not compared.
    package private(set) var notCompared: [String] = []
    /// Whether the search came to its end.
    package var isComplete = true
    /// What else the user should know, as lines.
    package var notes: [String] = []

    package init() {}

    /// Notes what is not compared, since it differed between baselines.
    ///
    /// - Parameters:
    ///   - given: the rules of the user.
    ///   - learned: those, and what was learned from baselines.
    ///   - others: the paths of what differed and needs no rule.
    mutating func note(_ learned: TraceRules, beyond given: TraceRules, and others: [String] = []) {
        // Bound values are compared with those that were said first.
        let bound = Set(learned.bindings.flatMap { $0.places.dropFirst() })
        let masked = learned.masks.filter { !given.masks.contains($0) }.map(\.place).filter { !bound.contains($0) }
        let ignored = learned.ignored.filter { !given.ignored.contains($0) }
        notCompared = Set((masked + ignored).map(\.path.description) + others).sorted()
        guard !notCompared.isEmpty else { return }
        let more = notCompared.count - Self.mostPaths
        notes.append(
            "not compared, since it differed between baselines: \(notCompared.prefix(Self.mostPaths).joined(separator: ", "))"
                + (more > 0 ? ", and \(more) more" : ""))
    }

    /// At most how many paths a note names.
    private static let mostPaths = 10

    /// How many segmentations were tried, proven, and failed.
    package var cuts: Int { sections.reduce(0) { $0 + $1.tried } }
    package var proven: Int { sections.reduce(0) { $0 + $1.proven } }
    package var failed: Int { sections.reduce(0) { $0 + $1.failed } }
    package var isClean: Bool { failed == 0 && least.isEmpty }

    /// What is wrong, one text for each thing; empty if nothing breaks and all was tried.
    ///
    /// - Parameter server: what was tortured.
    package func issues(of server: String) -> [String] {
        let breaks = least.map { "\(server) breaks where \($0.text): \($0.symptom)" }
        if !breaks.isEmpty || isClean && isComplete { return breaks }
        // Something failed that is not known in detail, or not all could be tried.
        let summary = isClean ? [] : ["\(server): \(TortureText.summary(of: self))"]
        return [(summary + notes).joined(separator: "\n")]
    }
}
