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
        for (group, result) in zip(groups, try await play(groups)) {
            section.tried += group.cuts.count
            if result.symptom == nil {
                section.proven += result.outcome.isProven ? group.cuts.count : 0
            } else {
                singles += group.cuts.sorted().map { Variation(cuts: [$0]) }
            }
        }
        // In the order of the conversation.
        singles.sort { ($0.cuts.min() ?? Cut(message: 0, offset: 0)) < ($1.cuts.min() ?? Cut(message: 0, offset: 0)) }
        for (single, result) in zip(singles, isDead ? [] : try await play(singles)) {
            if result.outcome.isProven { section.proven += 1 }
            guard let symptom = result.symptom, let cut = single.cuts.first else { continue }
            section.failed += 1
            failing[cut] = symptom
            found.append((single, broken(at: cut, "two-part cut", symptom)))
        }
        add(section)
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
            guard result.symptom != nil else { continue }
            var symptom = result.symptom
            let cuts = try await least(of: run.cuts.sorted()) { cuts in
                let trial = try await alone(Variation(cuts: Set(cuts)))
                if let found = trial.symptom { symptom = found }
                return trial.symptom != nil && !isDead
            }
            guard let cut = cuts.first, let symptom else { continue }
            report.sections[index].failed += 1
            var broken = broken(at: cut, run.name, symptom)
            if cuts.count > 1 {
                let others = cuts.dropFirst().prefix(5).map {
                    "byte \($0.offset) of \(batch.script.name(of: $0.message))"
                }
                broken.text += ", and at \(others.joined(separator: ", "))"
            }
            found.append((Variation(cuts: Set(cuts)), broken))
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
