import Trace

/// A difference as JUnit XML: a test case for each connection, for what shows test results.
public enum DiffJUnit {
    /// The document.
    ///
    /// - Parameter name: what was compared.
    public static func of(_ difference: TraceDifference, name: String) -> String {
        var cases = ""
        var failures = 0
        for conversation in difference.conversations {
            let title = title(of: conversation)
            if conversation.isEmpty {
                cases +=
                    "    <testcase classname=\"\(MarkupText.escaped(name))\" name=\"\(MarkupText.escaped(title))\"/>\n"
                continue
            }
            failures += 1
            let lines = DiffText.of(TraceDifference(conversations: [conversation])).split(separator: "\n")
            let message = lines.last.map(String.init) ?? ""
            cases += """
                    <testcase classname="\(MarkupText.escaped(name))" name="\(MarkupText.escaped(title))">
                      <failure type="different" message="\(MarkupText.escaped(message))">\(MarkupText.escaped(lines.joined(separator: "\n")))</failure>
                    </testcase>

                """
        }
        let count = difference.conversations.count
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites tests="\(count)" failures="\(failures)">
              <testsuite name="\(MarkupText.escaped(name))" tests="\(count)" failures="\(failures)">
            \(cases)  </testsuite>
            </testsuites>

            """
    }

    private static func title(of conversation: ConversationDifference) -> String {
        let format = (conversation.expected ?? conversation.actual)?.format ?? "no format"
        switch (conversation.expected?.number, conversation.actual?.number) {
        case (let old?, let new?): return "connection \(old) = \(new), \(format)"
        case (let old?, nil): return "connection \(old) without partner, \(format)"
        case (nil, let new?): return "no partner for connection \(new), \(format)"
        case (nil, nil): return ""
        }
    }
}
