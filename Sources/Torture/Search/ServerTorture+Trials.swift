import Streams

/// Runs that a server may not survive.
extension ServerTorture {
    /// After this many runs it is looked whether the server still answers.
    private static var chunk: Int { 64 }

    /// Plays variations, and judges them. What fails only because the server has stopped answering is not counted.
    ///
    /// - Returns: the results in order, up to where the server stopped answering (`isDead`), or the task was cancelled:
    ///   who calls this adds them to the report before the cancellation goes on.
    mutating func play(_ variations: [Variation]) async throws -> [Trial] {
        var trials: [Trial] = []
        do { try await play(variations, into: &trials) } catch is CancellationError {}
        return trials
    }

    private mutating func play(_ variations: [Variation], into trials: inout [Trial]) async throws {
        var next = 0
        while next < variations.count, !isDead {
            try Task.checkCancellation()
            let part = Array(variations[next..<min(next + Self.chunk, variations.count)])
            next += part.count
            let sentinel = servesSeveral ? try? await Sentinel.open(batch.server) : nil
            let results = try await batch.play(part, judge)
            // If a connection on which nothing was said has ended, the server has: runs at the same time are not to blame. Without
            // one, it may have.
            let hasEnded = sentinel?.hasEnded ?? true
            sentinel?.close()
            let isFailing = results.contains { $0.symptom != nil }
            let symptom: String?
            do {
                try Task.checkCancellation()
                symptom = isFailing ? try await brokenNow() : nil
            } catch let cancellation as CancellationError {
                // If the server has ended, what fails may do so only because of that.
                trials += sentinel != nil && hasEnded ? Array(results.prefix { $0.symptom == nil }) : results
                throw cancellation
            }
            guard isFailing, hasEnded || symptom != nil else {
                trials += results
                continue
            }
            if let symptom, try await isBroken() {
                (isDead, report.isComplete) = (true, false)
                blame(part, results, symptom)
                return
            }
            // It was started again, or has recovered: now one by one.
            for (variation, result) in zip(part, results) {
                guard result.symptom != nil else {
                    trials.append(result)
                    continue
                }
                trials.append(try await alone(variation))
                if isDead { return }
            }
        }
    }

    /// Plays a variation by itself, and waits until the server answers again.
    mutating func alone(_ variation: Variation) async throws -> Trial {
        var outcome = try await batch.play(variation)
        // It may not be there again since the run before.
        if case .refused = outcome.failure, try await !isBroken() { outcome = try await batch.play(variation) }
        let trial = Trial(outcome: outcome, symptom: judge.symptom(of: outcome))
        if trial.symptom != nil, try await isBroken() {
            (isDead, report.isComplete) = (true, false)
            report.notes.append("the server no longer answers as in the baseline; the search has ended early")
        }
        return trial
    }

    /// Adds the results of a kind of segmentation, with the runs that the server did not survive.
    mutating func add(_ section: TortureReport.Section) {
        guard section.tried + section.uncounted + section.leftOut + fatal > 0 else { return }
        var section = section
        (section.tried, section.failed) = (section.tried + fatal, section.failed + fatal)
        section.proven += fatal
        fatal = 0
        if let known = report.sections.firstIndex(where: { $0.name == section.name }) {
            report.sections[known].tried += section.tried
            report.sections[known].proven += section.proven
            report.sections[known].failed += section.failed
            report.sections[known].leftOut += section.leftOut
        } else {
            report.sections.append(section)
        }
    }

    /// Why the baseline fails at this moment; nil if it does not.
    private func brokenNow() async throws -> String? { judge.symptom(of: try await batch.play()) }

    /// Whether the server no longer answers the baseline; one that is being started again gets some time.
    func isBroken() async throws -> Bool {
        for attempt in 0..<6 {
            if attempt > 0 { try await Task.sleep(for: .milliseconds(500)) }
            if try await brokenNow() == nil { return false }
        }
        return true
    }

    /// Reports the runs during which the server stopped answering: those whose connections it ended, or else those that it no
    /// longer answered first.
    private mutating func blame(_ variations: [Variation], _ results: [Trial], _ symptom: String) {
        var (ended, silent): ([Int], [Int]) = ([], [])
        for (place, result) in results.enumerated() {
            switch result.outcome.failure {
            case .closed(_, .some): ended.append(place)
            case .noAnswer(.some): silent.append(place)
            default: break
            }
        }
        // One after the other, the first is to blame: a later one may still have reached the server while that was dying.
        if batch.parallel == 1 { ended = Array(ended.prefix(1)) }
        let suspects = ended.isEmpty ? Array(silent.prefix(batch.parallel)) : ended
        for place in suspects {
            let (variation, outcome) = (variations[place], results[place].outcome)
            let what = "\(results[place].symptom ?? ""), and then it answers nobody: \(symptom)"
            let message: Int? =
                switch outcome.failure {
                case .closed(_, let message), .noAnswer(let message): message
                default: nil
                }
            if let run = variation.pipeline {
                note(run, what)
            } else if let cut = variation.cuts.filter({ $0.message == message }).min() ?? variation.cuts.max() {
                found.append((Variation(cuts: [cut]), broken(at: cut, "two-part cut", what)))
            }
        }
        fatal += suspects.count
        let which =
            switch suspects.count {
            case 0: "what it answers has changed for good, and not because of a cut: \(symptom)"
            case 1: symptom
            default: "because of one of \(suspects.count) runs at once (--parallel 1 tells which); \(symptom)"
            }
        report.notes.append("the server no longer answers as in the baseline; the search has ended early: \(which)")
    }
}
