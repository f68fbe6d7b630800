import Streams
import Trace

/// A difference as human-readable text.
///
///     #1 = #2  im-json  127.0.0.1:51034 → 127.0.0.1:8088
///       … 12 frames alike
///         3  → txt  {"size":"5"}  Hello
///     ~   4  → txt  {"size":"5"}  World
///            body.text  "World" → "Wörld"
///     -   5  ← ok
///
/// `-` expected only, `+` actual only, `~` changed, `^` moved, `x` in a different order relative to the other side. Numbers count
/// the expected items (with `+`, the actual ones) from 1.
package struct DiffText {
    private let options: DiffTextOptions
    private(set) var text = ""

    private enum Color: String {
        case removed = "31"
        case added = "32"
        case changed = "33"
        case head = "1"
        case faint = "2"
        case none = ""
    }

    /// The text of a difference; it ends with a line of counts.
    package static func of(_ difference: TraceDifference, _ options: DiffTextOptions = DiffTextOptions()) -> String {
        var writer = DiffText(options: options)
        writer.write(difference)
        return writer.text
    }

    private init(options: DiffTextOptions) {
        self.options = options
    }

    private mutating func line(_ text: String, _ color: Color = .none) {
        let isPlain = !options.isColored || color == .none
        self.text += isPlain ? text + "\n" : "\u{1b}[\(color.rawValue)m\(text)\u{1b}[0m\n"
    }

    private mutating func write(_ difference: TraceDifference) {
        for conversation in difference.conversations where !conversation.isEmpty { write(conversation) }
        let crossings = difference.conversations.reduce(0) { $0 + $1.crossings }
        let endings = difference.conversations.count { $0.ending == .finOrReset && $0.isEmpty }
        let unknown = difference.conversations.count { $0.ending == .unknown && $0.isEmpty }
        var notes: [String] = []
        if crossings > 0 { notes.append("\(crossings) in another turn, which is not compared") }
        if endings > 0 {
            notes.append(
                "\(Quantities.counted(endings, "connection")) reset instead of FIN or the reverse, which is not compared"
            )
        }
        if unknown > 0 {
            notes.append(
                "\(Quantities.counted(unknown, "connection")) still open at the end of one recording, whose end is not compared"
            )
        }
        if difference.hasRules { notes.append(difference.share.description) }
        let note = notes.isEmpty ? "" : " (\(notes.joined(separator: "; ")))"
        if difference.isEmpty {
            let frames = difference.conversations.reduce(0) { $0 + $1.rows.count }
            let connections = Quantities.counted(difference.conversations.count, "connection")
            line("same: \(connections), \(Quantities.counted(frames, "frame")) compared\(note)")
        } else {
            line("different: " + Self.summary(of: difference) + note, .head)
        }
    }

    /// How many differences there are of each kind.
    package static func summary(of difference: TraceDifference) -> String {
        difference.counts.map(counted).joined(separator: ", ")
    }

    private static func counted(_ kind: String, _ count: Int) -> String {
        switch kind {
        case "heartbeats": "\(count) heartbeat\(count == 1 ? "" : "s") not as often or not the same"
        case "connection": Quantities.counted(count, "difference") + " of connections"
        case "removed connection", "added connection": Quantities.counted(count, kind)
        case "crossed": "\(Quantities.counted(count, "frame")) in another turn"
        default: "\(Quantities.counted(count, "frame")) \(kind)"
        }
    }

    // MARK: Connections

    private mutating func write(_ conversation: ConversationDifference) {
        line(Self.title(conversation), .head)
        let width = conversation.changes.map(\.path.count).max() ?? 0
        for change in conversation.changes { write(change, "~ ", width) }
        write(conversation.rows, conversation)
        for beats in conversation.heartbeats where !beats.isExplained { write(beats) }
    }

    private static func title(_ conversation: ConversationDifference) -> String {
        func ends(_ connection: RecordedConnection) -> String {
            "\(connection.format ?? "no format")  \(connection.client) → \(connection.server)"
        }
        switch (conversation.expected, conversation.actual) {
        case (let old?, let new?): return "#\(old.number) = #\(new.number)  \(PrintableText.of(ends(old)))"
        case (let old?, nil): return "#\(old.number) has no partner  \(PrintableText.of(ends(old)))"
        case (nil, let new?): return "no partner for #\(new.number)  \(PrintableText.of(ends(new)))"
        case (nil, nil): return ""
        }
    }

    private mutating func write(_ beats: HeartbeatDifference) {
        let arrow = beats.from == .fromClient ? "→" : "←"
        var text =
            "~   ♥  \(arrow) \(PrintableText.of(beats.type ?? "-"))  \(beats.expected) expected, \(beats.actual) seen"
        if beats.allowance > 0 { text += "; the difference in duration explains \(beats.allowance)" }
        line(text, .changed)
        let width = beats.changes.map(\.path.count).max() ?? 0
        for change in beats.changes { write(shown(change, beats.from), Self.indentation, width) }
    }

    // MARK: Frames

    private static let indentation = "        "

    private mutating func write(_ rows: [ConversationDifference.Row], _ conversation: ConversationDifference) {
        var isShown = [Bool](repeating: false, count: rows.count)
        for (place, row) in rows.enumerated() where row.isDifference {
            for near in max(0, place - options.context)...min(rows.count - 1, place + options.context) {
                isShown[near] = true
            }
        }
        var alike = 0
        for (place, row) in rows.enumerated() {
            guard isShown[place] else {
                alike += 1
                continue
            }
            report(&alike)
            write(row, conversation)
        }
        report(&alike)
    }

    private mutating func report(_ alike: inout Int) {
        if alike > 0 { line("  … \(Quantities.counted(alike, "frame")) alike", .faint) }
        alike = 0
    }

    private mutating func write(_ row: ConversationDifference.Row, _ conversation: ConversationDifference) {
        let (old, new) = (conversation.expectedItems, conversation.actualItems)
        switch row {
        case .same(let place, let other): write(" ", place, old[place], new[other], .none)
        case .removed(let place): write("-", place, old[place], nil, .removed)
        case .added(let place): write("+", place, nil, new[place], .added)
        case .moved(let place, let other):
            write("^", place, old[place], options.sideBySide ? new[other] : nil, .changed)
            line("\(Self.indentation)is now frame \(other + 1)", .changed)
        case .crossed(let place, let other):
            write("x", place, old[place], options.sideBySide ? new[other] : nil, .changed)
            line("\(Self.indentation)came in another turn, as frame \(other + 1)", .changed)
        case .changed(let place, let other, let changes):
            write("~", place, old[place], options.sideBySide ? new[other] : nil, .changed)
            let width = changes.map { DisplayWidth.of($0.path) }.max() ?? 0
            for change in changes { write(shown(change, old[place].from), Self.indentation, min(width, 40)) }
        }
    }

    private mutating func write(
        _ mark: String, _ place: Int, _ old: RecordedItem?, _ new: RecordedItem?, _ color: Color
    ) {
        let number = String(place + 1)
        let head = mark + String(repeating: " ", count: max(1, 5 - number.count)) + number + "  "
        let (old, new) = (old.map(shown), new.map(shown))
        guard options.sideBySide else {
            if let item = old ?? new { line(head + FrameText.of(item, columns: options.columns - 8), color) }
            return
        }
        let half = max(16, (options.columns - 11) / 2)
        let left = old.map { FrameText.of($0, columns: half) } ?? ""
        let right = new.map { FrameText.of($0, columns: half) } ?? ""
        line(head + left + String(repeating: " ", count: max(0, half - DisplayWidth.of(left))) + " │ " + right, color)
    }

    private func shown(_ item: RecordedItem) -> RecordedItem { options.hidden?.shown(item) ?? item }

    private func shown(_ change: FieldChange, _ direction: Direction) -> FieldChange {
        options.hidden?.shown(change, from: direction) ?? change
    }

    private mutating func write(_ change: FieldChange, _ indentation: String, _ width: Int) {
        let room = options.columns - indentation.count
        for text in ChangeText.lines(change, pathColumns: width, columns: room) { line(indentation + text, .changed) }
    }
}
