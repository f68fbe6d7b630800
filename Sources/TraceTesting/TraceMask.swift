import Expressions
import Foundation
import Streams
import TraceDiff

/// The parts of a trace that differ in each run, and are not compared.
public struct TraceMask: Sendable {
    let rules: TraceRules

    private init(_ rules: TraceRules) {
        self.rules = rules
    }

    private static func masking(_ path: FieldPath, _ pattern: Pattern? = nil) -> TraceRules.Mask {
        TraceRules.Mask(TraceRules.Place(path: path), pattern: pattern)
    }

    /// A field of the head: it must be present, and may have any value.
    public static func field(_ name: String) -> TraceMask {
        var rules = TraceRules()
        rules.masks = [masking(FieldPath([.member("fields"), .member(name)]))]
        return TraceMask(rules)
    }

    /// A value at a path such as `body.json.items[*].id`: it must be present, and may be anything.
    ///
    /// - Throws: `TraceTestingError`, if it is not a path.
    public static func path(_ text: String) throws -> TraceMask {
        guard let path = FieldPath(text) else {
            throw TraceTestingError(description: "\(text) is no path; expected one such as body.json.items[*].id")
        }
        var rules = TraceRules()
        rules.masks = [masking(path)]
        return TraceMask(rules)
    }

    /// The matches of a regular expression in the texts of fields and bodies.
    ///
    /// - Throws: the error in the expression.
    public static func text(matching expression: String) throws -> TraceMask {
        var rules = TraceRules()
        let pattern = try Pattern(parsing: expression)
        rules.masks = ["fields", "body"].map { masking(FieldPath([.member($0)]), pattern) }
        return TraceMask(rules)
    }

    /// Anything that looks like a time of day or a date within texts. Frame timestamps are never compared.
    public static var times: TraceMask {
        var rules = TraceRules()
        let pattern = try? Pattern(
            parsing: #"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d:?\d\d)?)?|\d\d:\d\d:\d\d([.,]\d+)?"#)
        guard let pattern else { return TraceMask(rules) }
        rules.masks = ["fields", "body"].map { masking(FieldPath([.member($0)]), pattern) }
        return TraceMask(rules)
    }

    /// The rules of a file created by `frametap diff --learn`.
    ///
    /// - Throws: the error in the file.
    public static func rules(contentsOf file: URL) throws -> TraceMask {
        TraceMask(try RulesYAML.rules(in: String(contentsOf: file, encoding: .utf8), file: file.lastPathComponent))
    }
}
