import Streams

/// The values given for the items of a sequence, by name.
struct StructureMembers {
    private(set) var members: [JSONValue.Member]

    init(_ fields: [Field]) { members = fields.map { JSONValue.Member($0.name, JSONValue($0.value)) } }

    init(_ value: JSONValue?) { if case .object(let given)? = value { members = given } else { members = [] } }

    subscript(name: String) -> JSONValue? {
        get { members.last { $0.name == name }?.value }
        set {
            members.removeAll { $0.name == name }
            if let newValue { members.append(JSONValue.Member(name, newValue)) }
        }
    }

    var names: [String] { members.map(\.name) }

    /// Those of these names.
    func only(_ names: [String]) -> StructureMembers {
        var part = self
        part.members.removeAll { !names.contains($0.name) }
        return part
    }

    func fields(named names: [String]) -> [Field] {
        members.compactMap { member in
            guard names.contains(member.name), let value = member.value.field else { return nil }
            return Field(member.name, value)
        }
    }
}

extension JSONValue {
    /// The value as a field's: what is no scalar as JSON.
    var field: FieldValue? { scalar ?? .json(compactText) }
}
