import Streams

/// Where in a frame a value is that the format refers to: its source, its id.
package enum ValuePlace: Hashable, Sendable {
    /// A field of the header or the trailer.
    case field(String)
    /// A value in a field that is a list or an object: the field's name, then the path.
    case inField([String])
    /// A value of the body, by its path: `["text"]`, `["json", "user"]`, or `["user"]` for a member of JSON or Protobuf.
    case body([String])

    /// The place written `command`, `args[0]`, `tags[tag=108].value` or `headers.host` in a format file; nil if the text is none.
    init?(field text: String) {
        guard let path = Self.path(text[...]) else { return nil }
        self = path.count == 1 ? .field(path[0]) : .inField(path)
    }

    /// The place written `body.user` or `body.json.items[0]` in a format file; nil if the text names nothing in a body.
    init?(body text: String) {
        guard text.hasPrefix("body."), let path = Self.path(text.dropFirst(5)) else { return nil }
        self = .body(path)
    }

    /// Its path in expressions.
    var path: [String] {
        switch self {
        case .field(let name): ["fields", name]
        case .inField(let path): ["fields"] + path
        case .body(let path): ["body"] + path
        }
    }

    /// The components of a path: `items[0]` is two. Nil if one is empty.
    static func path(_ text: Substring) -> [String]? {
        var path: [String] = []
        for part in text.split(separator: ".", omittingEmptySubsequences: false) {
            // `items[0]` is two components.
            let steps = part.split(separator: "[", omittingEmptySubsequences: false)
            for (index, step) in steps.enumerated() {
                if index == 0 {
                    path.append(String(step))
                } else if step.last == "]" {
                    path.append(String(step.dropLast()))
                } else {
                    return nil
                }
            }
        }
        return path.contains("") ? nil : path
    }
}

extension DirectionFormat {
    /// The value at a place; nil if the frame has none.
    package func value(at place: ValuePlace, of content: RawSpan, _ shape: FrameShape) -> FieldValue? {
        value(at: place, of: content, shape, body: nil)
    }

    /// The value at a place.
    ///
    /// - Parameter body: the frame's body, if already decoded.
    package func value(
        at place: ValuePlace, of content: RawSpan, _ shape: FrameShape, body: DecodedBody?, isTyped: Bool = true
    ) -> FieldValue? {
        switch place {
        case .field(let name): return field(name, of: content, shape)
        case .inField(let path):
            guard case .json(let text)? = field(path[0], of: content, shape) else { return nil }
            return FieldValue.inside(text, at: path.dropFirst())
        case .body(let path):
            let bytes = content.extracting(shape.head..<shape.head + shape.body)
            let decoded = body ?? decodeBody(of: content, shape, isTyped: isTyped)
            return decoded.value(atShort: path, of: bytes)
        }
    }
}

extension DecodedBody {
    /// The value at a path that may leave out the body's form: `user` is short for `json.user`, `protobuf.user` and `fields.user`.
    func value(atShort path: [String], of bytes: RawSpan) -> FieldValue? {
        if let first = path.first, BodyFormat.isForm(first) { return value(at: path, of: bytes) }
        return value(at: ["json"] + path, of: bytes) ?? value(at: ["protobuf"] + path, of: bytes)
            ?? value(at: ["fields"] + path, of: bytes)
    }
}

extension FieldValue {
    /// A value in a field that is a list or an object. The names of header lines may be in another case; of a list of objects,
    /// `[tag=108]` is the first whose `tag` is 108.
    static func inside(_ text: String, at path: ArraySlice<String>) -> FieldValue? {
        let bytes = Array(text.utf8)
        if let value = JSONLookup.value(at: Array(path), in: bytes.span.bytes) { return value }
        let value = JSONValue(compact: bytes.span.bytes).value(at: path, ignoringCase: true)
        return value.map { $0.scalar ?? .json($0.compactText) }
    }
}

extension JSONValue {
    /// A value inside, as conditions find it in a field: names exactly as they are written, or else in another case.
    package func inside(_ path: ArraySlice<String>) -> JSONValue? {
        value(at: path, ignoringCase: false) ?? value(at: path, ignoringCase: true)
    }

    /// The value at a path: names of members, and indices into lists; of a list of objects, `tag=108` is the first whose `tag` is 108.
    package func value(at path: ArraySlice<String>, ignoringCase: Bool) -> JSONValue? {
        var value = self
        for step in path {
            let next: JSONValue? =
                switch value {
                case .object(let members) where ignoringCase:
                    members.first { $0.name.lowercased() == step.lowercased() }?.value
                case .object: value[step]
                case .array(let elements):
                    (Int(step) ?? Self.index(where: step, elements)).flatMap {
                        elements.indices.contains($0) ? elements[$0] : nil
                    }
                case .null, .boolean, .number, .text: nil
                }
            guard let next else { return nil }
            value = next
        }
        return value
    }

    /// The first element whose member has a value: `tag=108`.
    private static func index(where step: String, _ elements: [JSONValue]) -> Int? {
        guard let sign = step.firstIndex(of: "=") else { return nil }
        let (name, wanted) = (String(step[..<sign]), String(step[step.index(after: sign)...]))
        return elements.firstIndex { $0[name]?.scalar?.plainText == wanted }
    }
}

extension BodyFormat {
    /// What the first component of a path in a body may be, other than a member of JSON or Protobuf.
    package static let formNames = ["text", "json", "protobuf", "fields"]

    /// Whether a name is one of `formNames`. Asked for each body that may have secrets.
    package static func isForm(_ name: String) -> Bool {
        switch name {
        case "text", "json", "protobuf", "fields": true
        default: false
        }
    }

    /// The error in a path in a body whose first component seems to be a misspelt form; nil if there is none. It could also be a
    /// member's name, but that can be written otherwise, and a value that no frame has would not be noticed.
    static func misspelling(in path: [String]) -> String? {
        guard path.count > 1, let first = path.first, !isForm(first) else { return nil }
        let meant = ["json", "protobuf", "fields"].first { form in
            let distance = editDistance(form, first)
            return distance == 1 || distance == 2 && form.sorted() == first.sorted()
        }
        guard let meant else { return nil }
        let inside = path.dropFirst().joined(separator: ".")
        return "\(first) is no form of a body; did you mean body.\(meant).\(inside)? "
            + "A value called \(first) is body.json.\(first).\(inside), or in place of json another form"
    }

    /// The error in a path in the bodies of frames of several kinds; nil if some of them may have it.
    ///
    /// - Parameter mayBeAll: whether the path may be that of a whole body.
    static func complaint(about path: [String], in bodies: [BodyFormat], mayBeAll: Bool = false) -> String? {
        let complaints = bodies.map { $0.complaint(about: path, mayBeAll: mayBeAll) }
        if complaints.contains(nil) { return nil }
        // What bodies with values say is more to the point than that others have none.
        return complaint(naming: path, in: bodies) ?? complaints.first ?? nil
    }

    /// The error in the names of a path, in bodies whose names the format determines; nil if some may have it.
    static func complaint(naming path: [String], in bodies: [BodyFormat]) -> String? {
        guard let first = path.first, first != "text", path != ["length"] else { return nil }
        let isForm = Self.isForm(first)
        let inside = isForm ? Array(path.dropFirst()) : path
        let chains = bodies.flatMap(\.chains).filter { chain in
            chain.form.map { isForm ? $0 == first : $0 != "text" } ?? false
        }
        let complaints = chains.map { $0.complaint(about: inside) }
        return complaints.contains(nil) ? nil : complaints.first ?? nil
    }

    /// The error in a path in these bodies; nil if some of them may have it.
    private func complaint(about path: [String], mayBeAll: Bool) -> String? {
        let forms = Set(chains.compactMap(\.form))
        let known = forms.sorted().joined(separator: " and ")
        let bodies = forms.isEmpty ? "bodies are hex, which has no values inside" : "bodies are \(known)"
        guard let first = path.first else { return bodies }
        if Self.isForm(first) {
            if !forms.contains(first) { return bodies }
            if first == "text", path.count > 1 { return "body.text has no values inside" }
            if first != "text", path.count == 1 {
                return mayBeAll ? nil : "body.\(first) is all of the body; expected a value in it"
            }
            return Self.complaint(naming: path, in: [self])
        }
        return forms.contains("json") || forms.contains("protobuf") || forms.contains("fields")
            ? Self.misspelling(in: path) ?? Self.complaint(naming: path, in: [self])
            : bodies + (forms.isEmpty ? "" : ", which has no values inside")
    }
}

extension BodyChain {
    /// The form of its bodies: `text`, `json`, `protobuf` or `fields`; nil if they are bytes.
    var form: String? {
        if encodings.last is FormatBody { return "json" }
        return encodings.last.map { type(of: $0).name }.flatMap { BodyFormat.isForm($0) ? $0 : nil }
    }
}
