/// Keys and their values, in the order of the text. Keys that are scalars are unique.
package struct Mapping: Sendable, RandomAccessCollection, ExpressibleByDictionaryLiteral {
    package typealias Element = (key: Node, value: Node)

    private var pairs: [Element]

    package init(_ pairs: [Element]) { self.pairs = pairs }

    package init(dictionaryLiteral pairs: (Node, Node)...) { self.pairs = pairs.map { (key: $0, value: $1) } }

    package var startIndex: Int { pairs.startIndex }
    package var endIndex: Int { pairs.endIndex }
    package subscript(index: Int) -> Element { pairs[index] }

    /// The value of the key that is this text; nil if there is none.
    package subscript(key: String) -> Node? { pairs.first { $0.key.string == key }?.value }

    /// Puts a pair in the place of the one with the same key, or at the end.
    package mutating func set(_ pair: Element) {
        if let key = pair.key.string, let index = pairs.firstIndex(where: { $0.key.string == key }) {
            pairs[index] = pair
        } else {
            pairs.append(pair)
        }
    }

    /// Removes the key that is this text, and its value.
    package mutating func remove(_ key: String) { pairs.removeAll { $0.key.string == key } }
}
