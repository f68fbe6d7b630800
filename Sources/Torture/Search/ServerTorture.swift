import Framing
import NIOCore
import NIOPosix
import Replay
import Streams
import Trace
import TraceDiff

/// Plays a recorded conversation with a server under every segmentation, and finds what breaks.
package struct ServerTorture {
    let options: TortureOptions
    var batch: RunBatch
    var judge: Judge
    /// The parts of each message.
    let anatomies: [FrameAnatomy]
    var report = TortureReport()
    /// The two-part cuts that fail, and how.
    var failing: [Variation.Cut: String] = [:]
    /// What fails, before those that mean the same are put together.
    var found: [(variation: Variation, broken: TortureReport.Break)] = []
    /// How many runs may be the one that it did not survive.
    var fatal = 0
    /// Whether the server has stopped answering.
    var isDead = false
    /// Whether the server answers one connection while another one is open.
    var servesSeveral = true

    /// Tortures a server.
    ///
    /// - Throws: `TortureError` if the server does not answer the conversation, or each time otherwise.
    package static func run(
        _ recording: Recording, host: String, port: Int, _ options: TortureOptions
    ) async throws -> TortureReport {
        var torture = try await ServerTorture(recording, host: host, port: port, options)
        do {
            try await torture.search()
        } catch is CancellationError {
            torture.interrupt("interrupted: this is what was found until then, and not repeated")
        }
        try await torture.confirm()
        return torture.report
    }

    /// Nothing more is played: what was found so far is not lost.
    mutating func interrupt(_ note: String) {
        (isDead, report.isComplete) = (true, false)
        report.notes.append(note)
    }

    /// Tries everything, as long as the server lives.
    private mutating func search() async throws {
        try await findSeveral()
        if servesSeveral { try await findParallel() }
        // What most often breaks comes first: a server may not live long enough for all of it.
        try await tryCuts(at: \.tellingPlaces)
        if !isDead { try await tryFields() }
        if !isDead { try await tryMerges() }
        if !isDead {
            try await tryCuts { anatomy in
                let tried = Set(anatomy.tellingPlaces)
                return anatomy.places.filter { !tried.contains($0) }
            }
        }
        if !isDead { try await tryManyCuts() }
    }

    // MARK: The baseline

    /// How often the baseline is played until it is known what differs each time.
    private static let mostBaselines = 6

    /// Plays the baseline, and learns what differs each time.
    ///
    /// - Throws: `TortureError` if the server does not answer it, or each time otherwise.
    init(_ recording: Recording, host: String, port: Int, _ options: TortureOptions) async throws {
        self.options = options
        let server: SocketAddress
        do { server = try SocketAddress.makeAddressResolvingHost(host, port: port) } catch {
            throw TortureError("the name \(host) cannot be resolved; expected the server's host:port")
        }
        // Secrets are compared, too; reports do not have them (`Judge.hidden`).
        var plain = options.format
        plain.secrets = []
        let builder = FrameBuilder(options.format, recording)
        let longest = recording.connections.map(\.longestPause).max() ?? Interval(nanoseconds: 0)
        var why = ""
        for includesHeartbeats in [true, false] {
            let script = try Script(recording, builder, includesHeartbeats: includesHeartbeats)
            var batch = RunBatch(script: script, builder: builder, format: plain, server: server)
            batch.patience = Interval(nanoseconds: 2_000_000_000 + min(longest.nanoseconds, 10_000_000_000))
            let first = try await batch.play()
            try Self.check(first, script, server)
            if first.unanswered > 0, includesHeartbeats { continue }
            batch.script.adapt(to: first.reached)
            batch.closes = first.closes
            batch.patience = max(options.patience, Interval(nanoseconds: 20 * first.slowest.nanoseconds))
            batch.lingering = max(.milliseconds(20), Interval(nanoseconds: 2 * first.slowest.nanoseconds))
            switch try await Self.learn(&batch, first, options) {
            case .success(let judge):
                (self.batch, self.judge) = (batch, judge)
                anatomies = Self.anatomies(of: batch.script, options.format)
                report.connections = script.connections.count
                report.frames = script.messages.count
                report.bytes = script.byteCount
                (report.seed, report.patience) = (options.seed, batch.patience)
                report.note(
                    judge.comparison.rules, beyond: options.comparison.rules,
                    and: judge.ends == nil ? ["closed.reason"] : [])
                switch AnswerComparison.compare(first.items, judge) {
                case .nothingAlike(let text):
                    throw TortureError(
                        "the server answers nothing as in the recording: \(text); expected one that answers as it did there"
                    )
                case .different(let text):
                    report.notes.append(
                        "not all answers are those of the recording; all runs are compared with the baseline: \(text)")
                case nil: break
                }
                if first.unanswered > 0 {
                    report.notes.append(
                        "the server did not send \(first.unanswered) of the frames that the recording has; the others are compared"
                    )
                }
                return
            case .failure(let error): why = error.description
            }
        }
        throw TortureError(why)
    }

    private static func check(_ outcome: Outcome, _ script: Script, _ server: SocketAddress) throws {
        let message: (Int?) -> String = { $0.map { " after \(script.name(of: $0))" } ?? " before the first frame" }
        switch outcome.failure {
        case .refused(let why):
            throw TortureError("cannot connect to \(server.ipAddress ?? ""):\(server.port ?? 0): \(why)")
        case .closed(let ending, let last):
            throw TortureError(
                "the server \(ending == .fin ? "closes" : "resets") the connection\(message(last)), without any torture; expected one that answers as in the recording"
            )
        case .noAnswer, .notClosed, nil: break
        }
        let recorded = script.connections.reduce(0) { $0 + $1.frames.count { $0.from == .fromServer } }
        if recorded > 0, outcome.items.allSatisfy({ $0.allSatisfy { $0.frame == nil } }) {
            throw TortureError("the server sent no frame; the recording has \(recorded) of them")
        }
    }

    /// Plays the baseline until the differences between its runs are known.
    private static func learn(
        _ batch: inout RunBatch, _ first: Outcome, _ options: TortureOptions
    ) async throws -> Result<Judge, TortureError> {
        var comparison = options.comparison
        comparison.heartbeats = batch.script.includesHeartbeats ? .exact : .ignore
        let given = comparison
        let hidden = HiddenValues(options.format)
        var runs = [first]
        var slowest = first.slowest
        while runs.count < mostBaselines {
            let run = try await batch.play()
            let judge = Judge(
                script: batch.script, comparison: comparison, expected: first.items, patience: batch.patience,
                ends: runs.allSatisfy { $0.ends == first.ends } ? first.ends : nil, hidden: hidden)
            // Two runs are learned from, the next one shows whether that was enough.
            if runs.count >= 2, judge.symptom(of: run) == nil { return .success(judge) }
            if run.failure != nil {
                return .failure(
                    TortureError(
                        "the server does not answer the same conversation again: \(judge.symptom(of: run) ?? ""); expected one that answers whenever it is asked"
                    ))
            }
            runs.append(run)
            slowest = max(slowest, run.slowest)
            batch.patience = max(batch.patience, Interval(nanoseconds: 20 * slowest.nanoseconds))
            let traces = runs.map { Judge.trace(of: $0.items, batch.script) }
            comparison.rules = RuleLearning.learn(from: traces, given).rules
        }
        let judge = Judge(
            script: batch.script, comparison: comparison, expected: first.items, patience: batch.patience, ends: nil,
            hidden: hidden)
        let symptom = runs.last.flatMap { judge.symptom(of: $0) } ?? "its answers differ"
        return .failure(
            TortureError(
                "the server answers each of \(runs.count) runs differently: \(symptom); expected answers that differ in masked values only (--ignore, --mask)"
            ))
    }

    private static func anatomies(of script: Script, _ format: Format) -> [FrameAnatomy] {
        var anatomies = script.messages.map { FrameAnatomy($0.bytes) }
        for place in script.connections.indices {
            let own = script.messages.indices.filter { script.messages[$0].connection == place }
            let found = AnatomyReading.anatomies(of: own.map { script.messages[$0].bytes }, format, from: .fromClient)
            for (message, anatomy) in zip(own, found) { anatomies[message] = anatomy }
        }
        return anatomies
    }

    // MARK: At once

    /// Finds out whether the server answers while another connection is open, on which nothing is said.
    private mutating func findSeveral() async throws {
        let idle = try? await Sentinel.open(batch.server)
        let symptom = judge.symptom(of: try await batch.play())
        idle?.close()
        guard let symptom else { return }
        servesSeveral = false
        report.notes.append(
            "the server serves one connection at a time (\(symptom) while another one is open); runs are played one after the other"
        )
        try await requireAnswer(after: "a run beside an open connection")
    }

    /// Makes sure that the server still answers.
    private func requireAnswer(after what: String, or advice: String = "") async throws {
        guard try await isBroken() else { return }
        throw TortureError("the server no longer answers after \(what); expected one that answers again\(advice)")
    }

    /// Finds out whether runs disturb each other: beside a connection that is stuck in the middle of a frame, several baselines at
    /// once must go as one alone.
    private mutating func findParallel() async throws {
        guard options.parallel > 1, let first = batch.script.messages.first else { return }
        let stuck = try? await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton.any())
            .connect(to: batch.server).get()
        if let stuck, first.bytes.count > 1 {
            try? await stuck.writeAndFlush(ByteBuffer(bytes: first.bytes.prefix(first.bytes.count / 2)))
        }
        var trial = batch
        trial.parallel = options.parallel
        let results = try await trial.play([Variation](repeating: Variation(), count: options.parallel), judge)
        try? await stuck?.close()
        try Task.checkCancellation()
        let slowest = results.map(\.outcome.slowest).max() ?? batch.patience
        if results.allSatisfy({ $0.symptom == nil }), slowest.nanoseconds < batch.patience.nanoseconds / 2 {
            batch = trial
        } else {
            report.notes.append(
                "runs are played one after the other: several at once disturb each other (\(results.lazy.compactMap(\.symptom).first ?? "answers are slow"))"
            )
            try await requireAnswer(after: "several runs at once", or: ", or --parallel 1")
        }
    }
}

extension RecordedConnection {
    /// The longest time between two events.
    var longestPause: Interval {
        var (last, longest) = (opened, Interval(nanoseconds: 0))
        for item in items { (last, longest) = (item.time, max(longest, item.time - last)) }
        return longest
    }
}

extension Script {
    /// `frame 3 (`img`)`, with its connection if there are several.
    func name(of message: Int) -> String {
        let message = messages[message]
        let type = message.item.frame?.type.map { " (`\(PrintableText.of($0))`)" } ?? ""
        let place = connections.count > 1 ? " of connection \(connections[message.connection].number)" : ""
        return "frame \(message.index)\(type)\(place)"
    }
}
