import Framing
import Streams
import Trace

/// How a message is identified both when sent and when received: by its id, by its body, or, if bodies are JSON objects, by the
/// members that both the sent and the received ones have: they may include the message's source and target, too.
enum MessageIdentity: Hashable {
    case whole(ContentIdentity)
    case members([String: ContentIdentity])

    /// At most how many members of an object are compared.
    private static let most = 64

    /// The identity of a frame's content; nil if the frame lacks a required id.
    ///
    /// - Parameter id: where messages have their id, if any.
    init?(_ frame: TracedFrame, _ bytes: RawSpan, _ side: DirectionFormat, id: ValuePlace?) {
        if let id {
            guard let value = side.value(at: id, of: bytes, frame.shape, body: frame.body),
                let identity = ContentIdentity(value)
            else { return nil }
            self = .whole(identity)
            return
        }
        let body = bytes.extracting(frame.shape.head..<frame.shape.head + frame.shape.body)
        let decoded = frame.body ?? side.decodeBody(of: bytes, frame.shape)
        if decoded.form == .json, case .object(let members)? = decoded.withBytes(of: body, Self.value) {
            var identities: [String: ContentIdentity] = [:]
            for member in members.prefix(Self.most) where !side.namesType(member.name) {
                identities[member.name] = ContentIdentity(member.value.sorted.compactText)
            }
            self = .members(identities)
        } else {
            self = .whole(ContentIdentity(body))
        }
    }

    private static func value(_ bytes: RawSpan) -> JSONValue? { try? JSONValue(parsing: bytes) }

    /// The names of the members.
    var names: Set<String> {
        if case .members(let members) = self { Set(members.keys) } else { [] }
    }

    /// The object reduced to those members; all of it if none is left.
    func restricted(to names: Set<String>) -> MessageIdentity {
        guard case .members(let members) = self else { return self }
        let common = members.filter { names.contains($0.key) }
        return common.isEmpty ? self : .members(common)
    }
}

extension DirectionFormat {
    /// Whether a member of a JSON body names the frame's type.
    fileprivate func namesType(_ name: String) -> Bool {
        if case .value(.body(let path)) = typeName { path == ["json", name] || path == [name] } else { false }
    }
}

extension JSONValue {
    /// The value with the members of all objects sorted by name.
    fileprivate var sorted: JSONValue {
        switch self {
        case .object(let members):
            .object(members.map { Member($0.name, $0.value.sorted) }.sorted { $0.name < $1.name })
        case .array(let values): .array(values.map(\.sorted))
        default: self
        }
    }
}
