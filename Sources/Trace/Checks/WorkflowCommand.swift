/// A workflow command of GitHub Actions: a line of a step's output that becomes an annotation.
///
/// Source: GitHub's documentation, "Workflow commands for GitHub Actions"; the escapes are those of its toolkit (`@actions/core`).
package struct WorkflowCommand {
    /// How an annotation is marked.
    package enum Level: String {
        case error, warning, notice
    }

    private let line: String

    /// More annotations of a level than this are not shown for a step.
    package static let most = 10

    /// - Parameters:
    ///   - title: what it is about.
    ///   - place: a file and its line, where there is one.
    ///   - text: the message; may quote the network.
    package init(_ level: Level, title: String, at place: (file: String, line: Int?)? = nil, _ text: String) {
        var properties = place.map { [("file", $0.file)] } ?? []
        if let number = place?.line { properties.append(("line", String(number))) }
        properties.append(("title", title))
        let list = properties.map { "\($0.0)=\(Self.escaped($0.1, isProperty: true))" }.joined(separator: ",")
        line = "::\(level.rawValue) \(list)::\(Self.escaped(text, isProperty: false))"
    }

    /// The line, with its end.
    package var text: String { line + "\n" }

    private static func escaped(_ text: String, isProperty: Bool) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "%": escaped += "%25"
            case "\r": escaped += "%0D"
            case "\n": escaped += "%0A"
            case ":" where isProperty: escaped += "%3A"
            case "," where isProperty: escaped += "%2C"
            default: escaped += PrintableText.of(String(scalar))
            }
        }
        return escaped
    }
}
