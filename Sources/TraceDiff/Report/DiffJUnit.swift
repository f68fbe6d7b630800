import Streams
import Trace

/// A difference as JUnit XML: a test case for each connection, for tools that show test results.
package enum DiffJUnit {
    /// The document.
    ///
    /// A case is named by the connection's place in the expected trace, its format, its server and how it begins, so that its
    /// name is the same from run to run. Its time is how long the actual connection was open.
    ///
    /// - Parameter name: what was compared.
    package static func of(_ difference: TraceDifference, name: String) -> String {
        var cases = ""
        var failures = 0
        let suite = MarkupText.escaped(name)
        for conversation in difference.conversations {
            let title = MarkupText.escaped(PrintableText.of(title(of: conversation)))
            let head = "    <testcase classname=\"\(suite)\" name=\"\(title)\" time=\"\(seconds(conversation))\""
            if conversation.isEmpty {
                cases += "\(head)/>\n"
                continue
            }
            failures += 1
            let lines = DiffText.of(TraceDifference(conversations: [conversation])).split(separator: "\n")
            let message = MarkupText.escaped(PrintableText.of(message(of: conversation, lines)))
            cases += """
                \(head)>
                      <failure type="different" message="\(message)">\(MarkupText.escaped(lines.joined(separator: "\n")))</failure>
                    </testcase>

                """
        }
        let count = difference.conversations.count
        let opened = difference.conversations.compactMap { $0.actual?.opened ?? $0.expected?.opened }.min()
        let closed = difference.conversations.compactMap { ($0.actual ?? $0.expected)?.closing?.time }.max()
        let time = opened.flatMap { opened in closed.map { decimal(($0 - opened).nanoseconds) } } ?? decimal(0)
        let stamp = opened.map { " timestamp=\"\($0.rfc3339.prefix(19))\"" } ?? ""
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites tests="\(count)" failures="\(failures)" time="\(time)">
              <testsuite name="\(suite)" tests="\(count)" failures="\(failures)" errors="0" skipped="0" time="\(time)"\(stamp)>
            \(cases)  </testsuite>
            </testsuites>

            """
    }

    /// `connection 1: redis to 127.0.0.1:6379, begins with array`
    static func title(of conversation: ConversationDifference) -> String {
        guard let connection = conversation.expected ?? conversation.actual else { return "" }
        let first = connection.frames.first { !$0.isHeartbeat }?.type.map { ", begins with \($0)" } ?? ""
        let place = conversation.expected == nil ? "added connection" : "connection"
        return "\(place) \(connection.number): \(connection.format ?? "no format") to \(connection.server)\(first)"
    }

    /// The first difference, and how many there are.
    static func message(of conversation: ConversationDifference, _ lines: [Substring]) -> String {
        let marks: Set<Character> = ["-", "+", "~", "^", "x"]
        let first = lines.dropFirst().firstIndex { $0.first.map(marks.contains) ?? false }
        guard let first, let last = lines.last else { return lines.last.map(String.init) ?? "" }
        var detail = String(lines[first])
        if lines.indices.contains(first + 1), lines[first + 1].hasPrefix("        ") {
            detail += " " + lines[first + 1]
        }
        return "\(last): \(detail.split(separator: " ").joined(separator: " "))"
    }

    private static func seconds(_ conversation: ConversationDifference) -> String {
        guard let connection = conversation.actual ?? conversation.expected else { return decimal(0) }
        let end = max(connection.closing?.time ?? connection.opened, connection.lastTime)
        return decimal((end - connection.opened).nanoseconds)
    }

    /// Seconds with three decimals.
    private static func decimal(_ nanoseconds: Int64) -> String {
        let millis = max(0, nanoseconds) / 1_000_000
        let rest = String(millis % 1_000)
        return "\(millis / 1_000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }
}
