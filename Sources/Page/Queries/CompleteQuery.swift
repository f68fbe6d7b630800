import Framing
import Streams

/// `GET complete`: words that may follow in a condition.
enum CompleteQuery {
    private static let words = [
        "type", "from", "length", "index", "offset", "segments", "merged", "missing", "heartbeat", "source", "target",
        "body.length", "body.text", "body.json", "and", "or", "not", "contains", "matches", "exists", "client",
        "server",
    ]
    private static let most = 50

    static func answer(_ query: QueryParameters, _ page: Page) -> [UInt8] {
        let prefix = query["prefix"] ?? ""
        let (seen, names) = page.store.read { ($0.seen.formats, $0.names) }
        var words = Set(Self.words)
        for format in seen.values {
            for field in format.fields { words.insert("fields.\(field)") }
            for type in format.types.fromClient.union(format.types.fromServer) {
                words.insert("\"\(names[Int(type)])\"")
            }
        }
        // The last word of a condition that has begun.
        let last = prefix.split(whereSeparator: { " ()&|!=<>{},".contains($0) }).last.map(String.init) ?? ""
        let isNewWord = prefix.last.map { " ()&|!=<>{},".contains($0) } ?? true
        let begun = isNewWord ? "" : last
        let found = words.filter {
            $0.hasPrefix(begun) || $0.hasPrefix("fields.\(begun)") || $0.hasPrefix("\"\(begun)")
        }
        return JSONText.object { json in
            json.key("words")
            json.array { json in for word in found.sorted().prefix(most) { json.text(word) } }
        }
    }
}
