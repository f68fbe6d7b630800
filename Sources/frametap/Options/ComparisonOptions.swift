import ArgumentParser
import Streams
import TraceDiff

/// What is compared between two traces.
struct ComparisonOptions: ParsableArguments {
    @Option(help: "How to compare heartbeats: as frames, by their number, not at all.")
    var heartbeats = Comparison.Heartbeats.count

    @Option(
        help: ArgumentHelp(
            "Compare more: \(Comparison.Aspect.allCases.map(\.rawValue).joined(separator: ", ")), separated by commas.",
            valueName: "what,…"), completion: .list(Comparison.Aspect.allCases.map(\.rawValue)))
    var compare: [String] = []

    @Option(
        help: ArgumentHelp(
            "With --compare times: how far pauses may differ, such as 50ms,20%; the larger counts.", valueName: "by"))
    var tolerance = "50ms,20%"

    @Option(
        help: ArgumentHelp(
            "Ignore these values, such as fields.token or body.json.time. May be repeated.", valueName: "path"))
    var ignore: [String] = []

    @Option(
        help: ArgumentHelp(
            "Mask the values listed in this file (--learn creates one). May be repeated.", valueName: "file"),
        completion: .file())
    var mask: [String] = []

    /// The requested comparison.
    func comparison() throws -> Comparison {
        var comparison = Comparison()
        comparison.heartbeats = heartbeats
        for name in compare.flatMap({ $0.split(separator: ",") }) {
            guard let aspect = Comparison.Aspect(rawValue: String(name)) else {
                let known = Comparison.Aspect.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("--compare \(name): there is no such thing to compare; known are \(known)")
            }
            comparison.aspects.insert(aspect)
        }
        comparison.tolerance = try parsedTolerance()
        for file in mask {
            let bytes = try FileInput.contents(of: file, limit: 4 << 20)
            comparison.rules.add(try RulesYAML.rules(in: String(decoding: bytes, as: UTF8.self), file: file))
        }
        for text in ignore {
            guard let path = FieldPath(text) else {
                throw ValidationError("--ignore \(text): expected a path such as fields.token or body.json.items[0].id")
            }
            comparison.rules.ignored.append(TraceRules.Place(path: path))
        }
        return comparison
    }

    private func parsedTolerance() throws -> Comparison.Tolerance {
        var tolerance = Comparison.Tolerance(Interval(nanoseconds: 0), fraction: 0)
        for part in toleranceParts {
            if part.hasSuffix("%"), let percent = Double(part.dropLast()), percent >= 0 {
                tolerance.fraction = percent / 100
            } else if part.hasSuffix("ms"), let number = Double(part.dropLast(2)), number >= 0 {
                tolerance.interval = .seconds(number / 1_000)
            } else if part.hasSuffix("s"), !part.hasSuffix("ms"), let number = Double(part.dropLast()), number >= 0 {
                tolerance.interval = .seconds(number)
            } else {
                throw ValidationError("--tolerance \(self.tolerance): expected a time and a part, such as 50ms,20%")
            }
        }
        return tolerance
    }

    private var toleranceParts: [Substring] { tolerance.split(separator: ",") }
}

extension Comparison.Heartbeats: ExpressibleByArgument {}
