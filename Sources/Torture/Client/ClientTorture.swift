import Framing
import Interception
import Proxy
import Replay
import Streams
import Trace
import TraceDiff

/// Runs a client once under every segmentation of what its server says, and finds what breaks.
package struct ClientTorture {
    let options: TortureOptions
    let run: ClientRun
    var report = TortureReport()
    /// What is compared with, and how.
    private var baseline: RecordedTrace
    private var comparison: Comparison
    private var limit: Duration
    /// The places at which one cut alone fails.
    private var failing: Set<Int> = []
    /// The server's frames in the baseline, in order, and their parts.
    private let frames: [(frame: ClientRun.Frame, type: String?, anatomy: FrameAnatomy)]

    /// At most how many places of all frames are tried one after the other.
    private static let mostPlaces = 256

    /// Tortures a client.
    ///
    /// - Parameter command: a shell command, in which `{host}` and `{port}` stand for where to connect.
    /// - Throws: `TortureError` if the client fails without any torture.
    package static func run(
        _ command: String, to server: HostPort, _ options: TortureOptions
    ) async throws -> TortureReport {
        guard command.contains("{port}") else {
            throw TortureError(
                "the command does not say where the client connects: expected {port} in it, and usually {host}")
        }
        let run = ClientRun(
            client: ClientProcess(command: command), server: server, format: options.format, seed: options.seed)
        var torture = try await ClientTorture(run, options)
        do {
            try await torture.tryPlaces()
            try await torture.tryAll()
            try await torture.tryMerges()
        } catch is CancellationError {
            torture.report.isComplete = false
            torture.report.notes.append("interrupted: this is what was found until then")
        }
        return torture.report
    }

    private init(_ run: ClientRun, _ options: TortureOptions) async throws {
        (self.run, self.options) = (run, options)
        limit = .seconds(60)
        let first = try await run.run(.alone, atMost: limit)
        try Self.check(first)
        let second = try await run.run(.alone, atMost: limit)
        try Self.check(second)
        limit = max(.seconds(2), max(first.exit.took, second.exit.took) * 10)
        var comparison = options.comparison
        let learned = RuleLearning.learn(from: [first.trace, second.trace], comparison)
        comparison.rules = learned.rules
        let third = try await run.run(.alone, atMost: limit)
        let difference = TraceComparison.compare(expected: first.trace, actual: third.trace, comparison)
        if !difference.isEmpty {
            throw TortureError(
                "the client's conversation is another one each time: \(DiffText.summary(of: difference)); expected one that differs in masked values only (--ignore, --mask)"
            )
        }
        (baseline, self.comparison) = (first.trace, comparison)
        report.note(comparison.rules, beyond: options.comparison.rules)
        frames = first.frames.map { entry in
            (ClientRun.Frame(connection: entry.connection, index: entry.index), entry.type, entry.anatomy)
        }
        guard !frames.isEmpty else {
            throw TortureError("the server sent no frame of the format \(options.format.name) to the client")
        }
        report.connections = baseline.connections.count
        report.frames = frames.count
        report.bytes = frames.reduce(0) { $0 + $1.anatomy.byteCount }
        report.seed = options.seed
        report.patience = Interval(nanoseconds: Int64(limit / .nanoseconds(1)))
    }

    private static func check(_ outcome: ClientRun.Outcome) throws {
        guard outcome.exit.status != 0 || outcome.exit.isTimedOut else { return }
        let said =
            outcome.exit.errors.split(separator: "\n").last.map { ": \(PrintableText.of($0, columns: 200))" } ?? ""
        throw TortureError(
            "the client \(Self.ending(outcome.exit)) without any torture\(said); expected one that ends by itself with status 0"
        )
    }

    private static func ending(_ exit: ClientProcess.Exit) -> String {
        if exit.isTimedOut { return "does not end" }
        return exit.status < 0 ? "ends by signal \(-exit.status)" : "ends with status \(exit.status)"
    }

    // MARK: Runs

    /// What is wrong with a run; nil if nothing is.
    private func symptom(of outcome: ClientRun.Outcome) -> String? {
        if outcome.exit.isTimedOut { return "the client does not end within \(report.patience.rounded)" }
        if outcome.exit.status != 0 { return "the client \(Self.ending(outcome.exit))" }
        let difference = TraceComparison.compare(expected: baseline, actual: outcome.trace, comparison)
        return difference.isEmpty ? nil : "what it says differs: \(DiffText.summary(of: difference))"
    }

    private struct Trial: Sendable {
        var outcome: ClientRun.Outcome
        var symptom: String?
    }

    private func play(_ segments: ClientRun.Segments) async throws -> Trial {
        let outcome = try await run.run(segments, atMost: limit)
        return Trial(outcome: outcome, symptom: symptom(of: outcome))
    }

    private func play(_ all: [ClientRun.Segments]) async throws -> [Trial] {
        try await withThrowingTaskGroup(of: (Int, Trial).self) { group in
            var trials: [Trial?] = Array(repeating: nil, count: all.count)
            var next = 0
            func add() {
                guard next < all.count else { return }
                let place = next
                next += 1
                group.addTask { (place, try await play(all[place])) }
            }
            for _ in 0..<options.parallel { add() }
            while let (place, trial) = try await group.next() {
                trials[place] = trial
                add()
            }
            return trials.compactMap { $0 }
        }
    }

    /// Notes the runs of a kind, those that fail again when repeated alone as failures.
    private mutating func count(
        _ name: String, _ runs: [ClientRun.Segments], leftOut: Int = 0,
        _ broken: (Int, Trial) async throws -> TortureReport.Break?
    ) async throws {
        guard !runs.isEmpty || leftOut > 0 else { return }
        var section = TortureReport.Section(name: name, tried: runs.count, leftOut: leftOut)
        for (place, trial) in try await play(runs).enumerated() {
            section.proven += trial.outcome.cuts == trial.outcome.proven ? 1 : 0
            guard trial.symptom != nil else { continue }
            let again = try await play(runs[place])
            guard again.symptom != nil else {
                report.notes.append("a run of \(name) failed once and not when repeated: \(trial.symptom ?? "")")
                continue
            }
            section.failed += 1
            guard let found = try await broken(place, again) else { continue }
            if let known = report.least.firstIndex(where: { $0.isLike(found) }) {
                report.least[known].count += 1
            } else {
                report.least.append(found)
            }
        }
        report.sections.append(section)
    }

    // MARK: Segmentations

    private typealias Cuts = [ClientRun.Frame: [Int]]

    /// All frames in pieces at once, except at places where one cut alone fails.
    private mutating func tryAll() async throws {
        var chance = Chance(seed: options.seed, rule: 0, connection: 0, direction: .fromServer)
        let random = (0..<5).map { _ in
            cuts { anatomy in
                let places = anatomy.places
                return places.isEmpty ? [] : Set((0..<3).map { _ in places[chance.below(places.count)] }).sorted()
            }
        }
        let kinds = [("fields", [cuts(\.partPlaces)]), ("every-byte", [cuts(\.places)]), ("random", random)]
        for (name, unfiltered) in kinds {
            let all = unfiltered.map {
                $0.mapValues { $0.filter { !failing.contains($0) } }.filter { !$0.value.isEmpty }
            }
            .filter { !$0.isEmpty }
            let leftOut = Set(unfiltered.flatMap { $0.values.joined() }).intersection(failing)
            let torture = self
            try await count(name, all.map { .cuts($0) }, leftOut: leftOut.count) { place, trial in
                try await torture.shrink(all[place], name, trial.symptom ?? "")
            }
        }
    }

    /// Each frame in two, at one place of all frames after the other.
    private mutating func tryPlaces() async throws {
        var places = Set(frames.flatMap { $0.anatomy.places }).sorted()
        if places.count > Self.mostPlaces {
            let chosen = Set(frames.flatMap { $0.anatomy.partPlaces }).sorted().prefix(Self.mostPlaces / 2)
            let step = max(1, 2 * places.count / Self.mostPlaces)
            let all = places
            places = Set(chosen).union(stride(from: 0, to: all.count, by: step).map { all[$0] }).sorted()
            report.notes.append("cuts are tried at \(places.count) of \(all.count) places of the frames")
        }
        let all = places.map { offset in cuts { $0.places.contains(offset) ? [offset] : [] } }
        let torture = self
        var fails: Set<Int> = []
        try await count("two-part cuts", all.map { .cuts($0) }) { place, trial in
            fails.insert(places[place])
            return try await torture.shrink(all[place], "two-part cut", trial.symptom ?? "")
        }
        failing = fails
    }

    private func cuts(_ places: (FrameAnatomy) -> [Int]) -> Cuts {
        var cuts: Cuts = [:]
        for frame in frames { cuts[frame.frame] = places(frame.anatomy) }
        return cuts.filter { !$0.value.isEmpty }
    }

    /// The least cuts that still fail.
    private func shrink(_ cuts: Cuts, _ name: String, _ symptom: String) async throws -> TortureReport.Break? {
        var symptom = symptom
        let order = Dictionary(uniqueKeysWithValues: frames.enumerated().map { ($1.frame, $0) })
        let all = cuts.flatMap { frame, offsets in offsets.map { (frame: frame, offset: $0) } }.sorted {
            (order[$0.frame] ?? 0, $0.offset) < (order[$1.frame] ?? 0, $1.offset)
        }
        func fails(_ part: [(frame: ClientRun.Frame, offset: Int)]) async throws -> Bool {
            var cuts: Cuts = [:]
            for cut in part { cuts[cut.frame, default: []].append(cut.offset) }
            let trial = try await play(.cuts(cuts))
            if let why = trial.symptom { symptom = why }
            return trial.symptom != nil
        }
        // Most often the first one will do.
        let first = Array(all.prefix(1))
        let found = try await fails(first) ? first : try await least(of: all, most: 60) { try await fails($0) }
        guard let cut = found.first, let frame = frames.first(where: { $0.frame == cut.frame }) else { return nil }
        var text = frame.anatomy.text(at: cut.offset, of: Self.name(frame.frame, frame.type, baseline))
        if found.count > 1 { text += ", with \(found.count - 1) other cuts" }
        return TortureReport.Break(
            connection: cut.frame.connection, from: .fromServer, index: cut.frame.index, type: frame.type,
            field: frame.anatomy.part(at: cut.offset)?.name ?? "frame", offset: cut.offset, segmentation: name,
            symptom: symptom, area: frame.anatomy.area(at: cut.offset), text: text)
    }

    /// Frames that follow one another without a word of the client in between, together, alone and with half of the next one.
    private mutating func tryMerges() async throws {
        var pairs: [ClientRun.Frame] = []
        for (place, connection) in baseline.connections.enumerated() {
            let frames = connection.items.compactMap(\.frame)
            for (one, two) in zip(frames, frames.dropFirst()) where one.from == .fromServer && two.from == .fromServer {
                pairs.append(ClientRun.Frame(connection: place + 1, index: one.index))
            }
        }
        let (frames, baseline) = (frames, baseline)
        for (name, segmentation) in [
            ("merge", Segmentation.merge(2, within: .milliseconds(100))),
            ("merge-and-half", .mergeAndHalf(1, within: .milliseconds(100))),
        ] {
            try await count(name, pairs.map { .joined($0, segmentation) }) { place, trial in
                let first = pairs[place]
                let next = ClientRun.Frame(connection: first.connection, index: first.index + 1)
                func text(_ frame: ClientRun.Frame) -> String {
                    Self.name(frame, frames.first { $0.frame == frame }?.type, baseline)
                }
                let part = name == "merge" ? text(next) : "half of \(text(next))"
                return TortureReport.Break(
                    connection: next.connection, from: .fromServer, index: next.index,
                    type: frames.first { $0.frame == next }?.type, field: "frame", offset: 0, segmentation: name,
                    symptom: trial.symptom ?? "", text: "\(part) is read together with \(text(first))")
            }
        }
    }

    private static func name(_ frame: ClientRun.Frame, _ type: String?, _ trace: RecordedTrace) -> String {
        let kind = type.map { " (`\(PrintableText.of($0))`)" } ?? ""
        let place = trace.connections.count > 1 ? " of connection \(frame.connection)" : ""
        return "frame \(frame.index)\(kind) of the server\(place)"
    }
}

extension TortureReport.Break {
    /// Whether it means the same as another.
    fileprivate func isLike(_ other: TortureReport.Break) -> Bool {
        (segmentation, type, field) == (other.segmentation, other.type, other.field)
    }
}
