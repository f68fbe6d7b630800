import Streams

/// A JSON value in memory, for what has to be built from it.
indirect enum JSONTree {
    case object([(name: String, value: JSONTree)])
    case array([JSONTree])
    case scalar(FieldValue)

    fileprivate struct Container {
        var isObject: Bool
        var members: [(name: String, value: JSONTree)] = []
        var key = ""

        var tree: JSONTree { isObject ? .object(members) : .array(members.map(\.value)) }
    }

    /// The value that a text is.
    init(_ text: RawSpan) throws(JSONSyntaxError) {
        if let offset = text.firstInvalidUTF8() { throw JSONSyntaxError(offset: offset, expected: "UTF-8") }
        var tokens = JSONTokens()
        var open = [Container(isObject: false)]
        while let token = try tokens.next(text) {
            switch token {
            case .beginObject: open.append(Container(isObject: true))
            case .beginArray: open.append(Container(isObject: false))
            case .key(let range): open[open.count - 1].key = JSONText.string(range, escaped: true, in: text)
            case .scalar(let kind, let range):
                open[open.count - 1].add(.scalar(JSONText.value(kind, range, in: text)))
            case .endObject, .endArray:
                let tree = open.removeLast().tree
                open[open.count - 1].add(tree)
            }
        }
        // There is exactly one value, or the tokens would have thrown.
        self = open[0].members.first?.value ?? .scalar(.null)
    }
}

extension JSONTree.Container {
    fileprivate mutating func add(_ value: JSONTree) { members.append((key, value)) }
}
