import Streams
import Trace

/// A difference as annotations of GitHub Actions, one for each connection that differs.
package enum DiffGitHub {
    /// A frame of a trace.
    package struct Place: Hashable, Sendable {
        /// The connection's number.
        package var connection: ConnectionLeg
        /// Who sent it.
        package var from: Direction
        /// Its place among its sender's frames.
        package var index: Int

        /// The place of a frame.
        package init(connection: ConnectionLeg, from: Direction, index: Int) {
            (self.connection, self.from, self.index) = (connection, from, index)
        }
    }

    /// The expected frames at which annotations are wanted: the first one that differs of each connection.
    package static func places(in difference: TraceDifference) -> Set<Place> {
        Set(difference.conversations.filter { !$0.isEmpty }.prefix(WorkflowCommand.most).compactMap { place(in: $0) })
    }

    /// The commands, and a line that says how much differs.
    ///
    /// - Parameters:
    ///   - file: the expected trace.
    ///   - lines: the lines of frames in it, as far as they are known.
    package static func of(_ difference: TraceDifference, file: String, lines: [Place: Int]) -> String {
        var text = ""
        for conversation in difference.conversations.filter({ !$0.isEmpty }).prefix(WorkflowCommand.most) {
            let report = DiffText.of(TraceDifference(conversations: [conversation])).split(separator: "\n")
            let message = "\(DiffJUnit.title(of: conversation)): \(DiffJUnit.message(of: conversation, report))"
            let line = place(in: conversation).flatMap { lines[$0] }
            text += WorkflowCommand(.error, title: "frametap diff", at: (file, line), message).text
        }
        let count = difference.conversations.count { !$0.isEmpty }
        if count > WorkflowCommand.most { text += "and \(count - WorkflowCommand.most) more connections that differ\n" }
        return text + (DiffText.of(difference).split(separator: "\n").last.map { $0 + "\n" } ?? "")
    }

    /// The step's summary, as Markdown.
    package static func summary(of difference: TraceDifference, name: String) -> String {
        let lines = DiffText.of(difference).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        return StepSummary.text(
            title: "frametap diff: \(PrintableText.of(name))", lines.last { !$0.isEmpty } ?? "",
            listing: difference.isEmpty ? [] : lines, language: "diff")
    }

    /// The first expected frame that differs; before one that was added, the one that it precedes, or the last.
    private static func place(in conversation: ConversationDifference) -> Place? {
        guard let connection = conversation.expected else { return nil }
        var expected: Int?
        for row in conversation.rows {
            switch row {
            case .same(let place, _): expected = place
            case .changed(let place, _, _), .removed(let place), .moved(let place, _), .crossed(let place, _):
                return frame(at: place, conversation, connection)
            case .added: if let expected { return frame(at: expected, conversation, connection) }
            }
        }
        return frame(at: expected ?? 0, conversation, connection)
    }

    private static func frame(
        at place: Int, _ conversation: ConversationDifference, _ connection: RecordedConnection
    ) -> Place? {
        guard conversation.expectedItems.indices.contains(place),
            case .frame(let frame) = conversation.expectedItems[place]
        else { return nil }
        return Place(
            connection: ConnectionLeg(connection.number, frame.leg), from: frame.from, index: frame.index)
    }
}
