import Expressions
import Foundation
import Streams
import TraceDiff

/// What of a trace is another one in each run, and not compared.
public struct TraceMask: Sendable {
    let rules: TraceRules

    private init(_ rules: TraceRules) {
        self.rules = rules
    }

    private static func masking(_ path: FieldPath, _ pattern: Pattern? = nil) -> TraceRules.Mask {
        TraceRules.Mask(TraceRules.Place(path: path), pattern: pattern)
    }

    /// A field of the head: it has to be there, and may be anything.
    public static func field(_ name: String) -> TraceMask {
        var rules = TraceRules()
        rules.masks = [masking(FieldPath([.member("fields"), .member(name)]))]
        return TraceMask(rules)
    }

    /// A value at a path such as `body.json.items[*].id`: it has to be there, and may be anything.
    ///
    /// - Throws: `TraceTestingError`, where it is no path.
    public static func path(_ text: String) throws -> TraceMask {
        guard let path = FieldPath(text) else {
            throw TraceTestingError(description: "\(text) is no path; expected one such as body.json.items[*].id")
        }
        var rules = TraceRules()
        rules.masks = [masking(path)]
        return TraceMask(rules)
    }

    /// What a regular expression finds in the texts of fields and bodies.
    ///
    /// - Throws: what is wrong with the expression.
    public static func text(matching expression: String) throws -> TraceMask {
        var rules = TraceRules()
        let pattern = try Pattern(parsing: expression)
        rules.masks = ["fields", "body"].map { masking(FieldPath([.member($0)]), pattern) }
        return TraceMask(rules)
    }

    /// What looks like a time of day or a date inside of texts. When frames were seen is never compared.
    public static var times: TraceMask {
        var rules = TraceRules()
        let pattern = try? Pattern(
            parsing: #"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d:?\d\d)?)?|\d\d:\d\d:\d\d([.,]\d+)?"#)
        guard let pattern else { return TraceMask(rules) }
        rules.masks = ["fields", "body"].map { masking(FieldPath([.member($0)]), pattern) }
        return TraceMask(rules)
    }

    /// The rules of a file that `frametap diff --learn` made.
    ///
    /// - Throws: what is wrong with the file.
    public static func rules(contentsOf file: URL) throws -> TraceMask {
        TraceMask(try RulesYAML.rules(in: String(contentsOf: file, encoding: .utf8), file: file.lastPathComponent))
    }
}
