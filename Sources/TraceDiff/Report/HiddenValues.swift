import Framing
import Streams
import Trace

/// The values of frames that are not shown, for traces that have them all: what is sent again must not be redacted, what is printed must.
///
/// Whether a secret's condition holds cannot be determined of a recorded frame: its value is hidden in all frames of the side.
package struct HiddenValues: Sendable {
    private let paths: PerDirection<SecretPaths>
    private static let hidden = JSONValue.text(JSONRedaction.mark)

    /// The values that a format calls secret; nil if there are none.
    package init?(_ format: Format) {
        guard !format.secrets.isEmpty else { return nil }
        let secrets = format.secrets.map { secret in
            var secret = secret
            // The frame after another one cannot be told from the rest.
            secret.after = nil
            return secret
        }
        paths = PerDirection(
            fromClient: SecretPaths(secrets, from: .fromClient) { _ in true },
            fromServer: SecretPaths(secrets, from: .fromServer) { _ in true })
    }

    /// An item with its hidden values replaced. Text and bytes that were not read, and those that belong to no frame, may hold any.
    func shown(_ item: RecordedItem) -> RecordedItem {
        switch item {
        case .frame(var frame):
            let fields = paths[frame.from].fields
            frame.fields = shown(frame.fields, fields.isEmpty ? [] : fields + [[StructuredHead.raw]])
            frame.body = body(frame.body, paths[frame.from].body)
            return .frame(frame)
        case .unframed(var run):
            run.hex = ""
            return .unframed(run)
        case .missing: return item
        }
    }

    /// A change with its values replaced, if they are hidden or contain hidden ones.
    ///
    /// - Parameter direction: whose frame has changed.
    package func shown(_ change: FieldChange, from direction: Direction) -> FieldChange {
        guard hides(change.path, paths[direction]) else { return change }
        var shown = change
        (shown.old, shown.new) = (change.old.map { _ in Self.hidden }, change.new.map { _ in Self.hidden })
        shown.note = change.note ?? "hidden; --show-secrets shows it"
        return shown
    }

    private func hides(_ path: String, _ paths: SecretPaths) -> Bool {
        let parts = path.split { $0 == "." || $0 == "[" || $0 == "]" }.map { $0.lowercased() }
        func overlap(_ secret: [String], _ path: ArraySlice<String>) -> Bool {
            // Indices are passed over: a name applied to an array is looked up in each element.
            let names = path.filter { Int($0) == nil }
            let wanted = secret.filter { Int($0) == nil && !$0.contains("=") }.map { $0.lowercased() }
            return names.starts(with: wanted) || wanted.starts(with: names)
        }
        switch (parts.first, parts.dropFirst().first) {
        // The bytes as they came hold all values.
        case ("fields", StructuredHead.raw): return !paths.fields.isEmpty
        case ("fields", _): return paths.fields.contains { overlap($0, parts.dropFirst()) }
        case ("body", "json"), ("body", "protobuf"), ("body", "fields"):
            let inner = parts.dropFirst(2)
            if inner.first == StructuredHead.raw { return !paths.body.isEmpty }
            return Self.withoutForms(paths.body).contains { overlap($0, inner) }
        // What was not read may hold any of them.
        case ("body", "text"), ("body", "hex"), ("body", nil): return !paths.body.isEmpty
        case ("unframed", "hex"), ("unframed", nil): return !paths.isEmpty
        default: return false
        }
    }

    /// Paths in a body without its form, which may be left out: `json.user` is `user`.
    private static func withoutForms(_ paths: [[String]]) -> [[String]] {
        paths.map { $0.first.map(BodyFormat.isForm) == true ? Array($0.dropFirst()) : $0 }
    }

    private func body(_ body: JSONValue, _ paths: [[String]]) -> JSONValue {
        guard !paths.isEmpty, case .object(let members) = body else { return body }
        let inner = Self.withoutForms(paths)
        return .object(
            members.map { member in
                var member = member
                switch member.name {
                case "json", "protobuf": member.value = shown(member.value, inner)
                case "fields": member.value = shown(member.value, inner + [[StructuredHead.raw]])
                case "text", "hex": member.value = Self.hidden
                default: break
                }
                return member
            })
    }

    private func shown(_ value: JSONValue, _ paths: [[String]]) -> JSONValue {
        if paths.isEmpty { return value }
        if paths.contains(where: \.isEmpty) { return Self.hidden }
        var redaction = JSONRedaction(paths, ignoringCase: true, hidingUnread: true)
        let text = Array(value.compactText.utf8)
        guard let shown = redaction.of(text.span.bytes) else { return Self.hidden }
        return JSONValue(compact: shown.span.bytes)
    }
}
