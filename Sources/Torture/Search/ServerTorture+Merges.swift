import Streams
import Trace

/// Frames together.
extension ServerTorture {
    /// How many frames are written together.
    private static let sizes = [2, 3, 5, 10, .max]

    /// Writes frames together, alone and with a part of the next one.
    ///
    /// Only what the server answers as in the baseline if the same frames come one by one without waiting for answers: otherwise
    /// it is the missing wait that makes the difference.
    mutating func tryMerges() async throws {
        var merge = TortureReport.Section(name: "merge")
        var half = TortureReport.Section(name: "merge-and-half")
        var windows: [Range<Int>] = []
        for size in Self.sizes {
            var start = 0
            while start < anatomies.count {
                let window = batch.script.pipeline(from: start, atMost: size)
                if window.count > 1, size == .max || window.count == size, !windows.contains(window) {
                    windows.append(window)
                }
                start = size < 4 ? start + 1 : max(start + 1, window.upperBound - 1)
            }
        }
        let separate = try await play(windows.map { Variation.Pipeline(messages: $0, isMerged: false) })
        var broken: [Range<Int>] = []
        for (window, result) in zip(windows, separate) where result.symptom != nil {
            merge.uncounted += 1
            broken.append(window)
        }
        windows.removeAll(where: broken.contains)
        var failed: [Range<Int>] = []
        for size in Set(windows.map(\.count)).sorted() {
            // What contains a window that fails would fail with it.
            let own = windows.filter { window in window.count == size && !failed.contains { $0.isPart(of: window) } }
            let runs = own.map { Variation.Pipeline(messages: $0, isMerged: true) }
            for (run, result) in zip(runs, try await play(runs)) {
                merge.count(result)
                guard let symptom = result.symptom else { continue }
                failed.append(run.messages)
                note(run, symptom)
            }
        }
        var unfinished: [Variation.Pipeline] = []
        var leftOut: Set<Variation.Cut> = []
        for window in windows where window.count <= 3 && !failed.contains(where: { $0.isPart(of: window.dropLast()) }) {
            let last = window.upperBound - 1
            for offset in anatomies[last].unfinished {
                let cut = Variation.Cut(message: last, offset: offset)
                if failing[cut] == nil {
                    unfinished.append(Variation.Pipeline(messages: window, isMerged: true, lastBytes: offset))
                } else {
                    leftOut.insert(cut)
                }
            }
        }
        half.leftOut = leftOut.count
        for (run, result) in zip(unfinished, try await play(unfinished)) {
            half.count(result)
            if let symptom = result.symptom { note(run, symptom) }
        }
        add(merge)
        add(half)
        try Task.checkCancellation()
    }

    private mutating func play(_ pipelines: [Variation.Pipeline]) async throws -> [Trial] {
        try await play(pipelines.map { Variation(pipeline: $0) })
    }

    /// Notes frames together that fail.
    mutating func note(_ run: Variation.Pipeline, _ symptom: String) {
        let segmentation = run.isMerged ? (run.lastBytes == nil ? "merge" : "merge-and-half") : "pipelined"
        let last = run.messages.upperBound - 1
        let cut = Variation.Cut(message: last, offset: run.lastBytes ?? 0)
        var broken = broken(at: cut, segmentation, symptom)
        let name = batch.script.name(of: last)
        let before = batch.script.name(of: run.messages.lowerBound)
        let count = run.messages.count
        if let bytes = run.lastBytes {
            let first = count == 2 ? before : "\(count - 1) frames from \(before) on"
            broken.text =
                "\(first) and the first \(bytes == 1 ? "byte" : "\(bytes) bytes") of \(name) are read together"
        } else {
            broken.field = "frame"
            let how = run.isMerged ? "is read together with" : "comes before the answer to"
            broken.text =
                count == 2
                ? "\(name) \(how) \(before)"
                : "\(count) frames, \(before) to \(name), \(run.isMerged ? "are read together" : "come without waiting for answers")"
        }
        found.append((Variation(pipeline: run), broken))
    }
}

extension TortureReport.Section {
    fileprivate mutating func count(_ result: Trial) {
        tried += 1
        if result.outcome.isProven { proven += 1 }
        if result.symptom != nil { failed += 1 }
    }
}

extension Range<Int> {
    fileprivate func isPart(of other: Range<Int>) -> Bool {
        lowerBound >= other.lowerBound && upperBound <= other.upperBound
    }
}
