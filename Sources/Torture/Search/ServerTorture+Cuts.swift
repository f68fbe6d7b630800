import Interception
import Streams
import Trace

/// Frames in pieces.
extension ServerTorture {
    private typealias Cut = Variation.Cut

    /// Cuts every frame in two, at each of its places.
    ///
    /// One run cuts each frame once; only where such a run fails, its cuts are tried one by one.
    mutating func tryCuts(at choose: (FrameAnatomy) -> [Int]) async throws {
        let places = anatomies.map(choose)
        let rounds = places.map(\.count).max() ?? 0
        var section = TortureReport.Section(name: "two-part cuts")
        var groups: [Variation] = []
        for round in 0..<rounds {
            let cuts = places.enumerated().compactMap { message, offsets in
                round < offsets.count ? Cut(message: message, offset: offsets[round]) : nil
            }
            groups.append(Variation(cuts: Set(cuts)))
        }
        var singles: [Variation] = []
        var broken: [(group: Variation, symptom: String)] = []
        for (group, result) in zip(groups, try await play(groups)) {
            section.tried += group.cuts.count
            if let symptom = result.symptom {
                broken.append((group, symptom))
                singles += group.cuts.sorted().map { Variation(cuts: [$0]) }
            } else {
                section.proven += result.outcome.isProven ? group.cuts.count : 0
            }
        }
        // In the order of the conversation.
        singles.sort { ($0.cuts.min() ?? Cut(message: 0, offset: 0)) < ($1.cuts.min() ?? Cut(message: 0, offset: 0)) }
        var tried: Set<Cut> = []
        for (single, result) in zip(singles, isDead ? [] : try await play(singles)) {
            tried.formUnion(single.cuts)
            if result.outcome.isProven { section.proven += 1 }
            guard let symptom = result.symptom, let cut = single.cuts.first else { continue }
            section.failed += 1
            failing[cut] = symptom
            found.append((single, self.broken(at: cut, "two-part cut", symptom)))
        }
        // Which of its cuts it is that fails may not have been found out.
        for (group, symptom) in broken
        where !group.cuts.isSubset(of: tried) && !group.cuts.contains(where: { failing[$0] != nil }) {
            section.failed += 1
            noteUnreduced(group, "two-part cut", symptom)
        }
        add(section)
        try Task.checkCancellation()
    }

    /// Notes cuts that fail together, when it can no longer be found out which of them do.
    private mutating func noteUnreduced(_ variation: Variation, _ segmentation: String, _ symptom: String) {
        let cuts = variation.cuts.sorted()
        guard let cut = cuts.first else { return }
        found.append((variation, broken(at: cut, and: cuts, segmentation, symptom, isLeast: false)))
    }

    /// What breaks at a cut, together with others.
    ///
    /// - Parameter isLeast: whether none of them can be left out.
    private func broken(
        at cut: Cut, and cuts: [Cut], _ segmentation: String, _ symptom: String, isLeast: Bool
    ) -> TortureReport.Break {
        var broken = broken(at: cut, segmentation, symptom)
        if cuts.count > 1 {
            let others = cuts.dropFirst().prefix(5).map {
                "byte \($0.offset) of \(batch.script.name(of: $0.message))"
            }
            let more = cuts.count - 1 - others.count
            broken.text += ", and at \(others.joined(separator: ", "))" + (more > 0 ? " and \(more) more" : "")
        }
        if !isLeast { broken.text += " (not reduced: some of these cuts may not matter)" }
        return broken
    }

    /// Cuts frames at and inside every field, except where one cut alone fails.
    mutating func tryFields() async throws { try await tryRuns([cutRun("fields", \.partPlaces)]) }

    /// One run with cuts at many places.
    private struct CutRun {
        var name: String
        var cuts: Set<Variation.Cut>
        /// Where one cut alone fails.
        var leftOut: Set<Variation.Cut>
    }

    /// Cuts frames at every byte, and at random, except where one cut alone fails.
    mutating func tryManyCuts() async throws {
        var runs = [cutRun("every-byte", \.places)]
        var chance = Chance(seed: options.seed, rule: 0, connection: 0, direction: .fromClient)
        for _ in 0..<Self.randomRuns {
            runs.append(
                cutRun("random") { anatomy in
                    let places = anatomy.places
                    guard !places.isEmpty else { return [] }
                    return (0..<3).map { _ in places[chance.below(places.count)] }
                })
        }
        try await tryRuns(runs)
    }

    /// Cuts at places of all frames, without those that fail alone.
    private func cutRun(_ name: String, _ places: (FrameAnatomy) -> [Int]) -> CutRun {
        let all = Set(
            anatomies.enumerated().flatMap { message, anatomy in
                places(anatomy).map { Cut(message: message, offset: $0) }
            })
        let leftOut = all.filter { failing[$0] != nil }
        return CutRun(name: name, cuts: all.subtracting(leftOut), leftOut: leftOut)
    }

    private mutating func tryRuns(_ all: [CutRun]) async throws {
        // Random places of several runs may be the same.
        for (name, own) in Dictionary(grouping: all, by: \.name).sorted(by: { $0.key < $1.key }) {
            let leftOut = own.reduce(into: Set<Cut>()) { $0.formUnion($1.leftOut) }
            add(TortureReport.Section(name: name, leftOut: leftOut.count))
        }
        let runs = all.filter { !$0.cuts.isEmpty }
        let results = try await play(runs.map { Variation(cuts: $0.cuts) })
        for (run, result) in zip(runs, results) {
            let index = report.sections.firstIndex { $0.name == run.name } ?? report.sections.count
            if index == report.sections.count { report.sections.append(TortureReport.Section(name: run.name)) }
            report.sections[index].tried += 1
            if result.outcome.isProven { report.sections[index].proven += 1 }
            guard var symptom = result.symptom else { continue }
            var isLeast = true
            let cuts = try await least(of: run.cuts.sorted()) { cuts -> Bool? in
                let trial = try await aloneIfPossible(Variation(cuts: Set(cuts)))
                isLeast = trial != nil
                guard let trial else { return nil }
                if let found = trial.symptom { symptom = found }
                return trial.symptom != nil
            }
            guard let cut = cuts.first else { continue }
            report.sections[index].failed += 1
            found.append(
                (Variation(cuts: Set(cuts)), broken(at: cut, and: cuts, run.name, symptom, isLeast: isLeast)))
        }
        try Task.checkCancellation()
    }

    /// Plays a variation by itself; nil if the server no longer answers, perhaps because of it, or if the search is
    /// interrupted.
    private mutating func aloneIfPossible(_ variation: Variation) async throws -> Trial? {
        if isDead || Task.isCancelled { return nil }
        do {
            let trial = try await alone(variation)
            return isDead ? nil : trial
        } catch is CancellationError {
            return nil
        }
    }

    /// How many runs have random cuts.
    private static var randomRuns: Int { 10 }

    func broken(at cut: Variation.Cut, _ segmentation: String, _ symptom: String) -> TortureReport.Break {
        let message = batch.script.messages[cut.message]
        let anatomy = anatomies[cut.message]
        return TortureReport.Break(
            connection: batch.script.connections[message.connection].number, from: .fromClient, index: message.index,
            type: message.item.frame?.type, field: anatomy.part(at: cut.offset)?.name ?? "frame", offset: cut.offset,
            segmentation: segmentation, symptom: symptom,
            area: anatomy.area(at: cut.offset),
            text: anatomy.text(at: cut.offset, of: batch.script.name(of: cut.message)))
    }
}

extension Outcome {
    /// Whether all of its cuts were seen.
    var isProven: Bool { cuts == proven }
}
