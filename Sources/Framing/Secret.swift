import Expressions
import Streams

/// A value that is redacted by default.
package struct Secret: Sendable {
    /// Where the value is: `fields.NAME` or a path in a field, or `body` and the path in it.
    package var path: [String]
    /// Which frames have it; nil: all.
    package var condition: Expression?
    /// The frame that precedes it, from the same side; nil if it does not depend on preceding frames.
    package var after: Expression?
    /// The frame that ends its scope; nil: only the next frame has it.
    package var until: Expression?

    /// Where its bytes are shown in frames of a side if those around it did not fit, as paths of the same kind.
    var leftovers = PerDirection<[[String]]>(fromClient: [], fromServer: [])

    /// A secret of the frames that fulfil a condition.
    package init(path: [String], condition: Expression? = nil) {
        self.path = path
        self.condition = condition
    }

    /// The error in a secret's path; nil if there is none.
    static func complaint(about path: [String]) -> String? {
        switch path.first {
        case "body": nil
        case "fields" where path.count >= 2: nil
        default:
            "is no secret's place; expected fields.NAME, a path in a field, body, or body and a path, such as body.password"
        }
    }
}

/// The parts of a frame to redact.
package struct SecretPaths: Sendable {
    /// Names of fields, or paths in them.
    package var fields: [[String]] = []
    /// Paths in the body.
    package var body: [[String]] = []

    /// The paths of those secrets of a format whose conditions hold, in frames of a side.
    package init(_ secrets: [Secret], from direction: Direction, where holds: (Expression) -> Bool) {
        for secret in secrets where secret.after == nil && secret.condition.map(holds) ?? true {
            if secret.path[0] == "body" {
                body.append(Array(secret.path.dropFirst()))
                body += secret.leftovers[direction]
            } else {
                fields.append(Array(secret.path.dropFirst()))
                fields += secret.leftovers[direction]
            }
        }
    }

    /// Hides the whole body.
    package mutating func hideBody() { body.append([]) }

    /// Whether everything may be shown.
    package var isEmpty: Bool { fields.isEmpty && body.isEmpty }
}
