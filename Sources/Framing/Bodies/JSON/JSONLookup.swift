import Streams

/// Finds a value in JSON text by its path: names of members, and decimal indices into arrays.
enum JSONLookup {
    /// The value at a path; nil if the text has none there or is not JSON. Of members with the same name the last wins.
    static func value(at path: [String], in text: RawSpan) -> FieldValue? {
        var search = Search(path: path)
        var tokens = JSONTokens()
        do throws(JSONSyntaxError) {
            while let token = try tokens.next(text) { search.take(token, of: text, end: tokens.position) }
        } catch {
            return nil
        }
        return search.found
    }

    private struct Search {
        let path: [String]
        var found: FieldValue?
        /// How many values each open container has had; a member counts as one.
        private var counts: [Int] = []
        /// How many of the open containers are on the path, counting from the outermost.
        private var onPath = 0
        private var key: Range<Int>?
        /// Where the container being looked up starts, while it is open.
        private var start: Int?

        init(path: [String]) { self.path = path }

        mutating func take(_ token: JSONTokens.Token, of text: RawSpan, end: Int) {
            switch token {
            case .key(let range): key = range
            case .scalar(let kind, let range):
                if isOnPath(text), counts.count == path.count { found = JSONText.value(kind, range, in: text) }
                count()
            case .beginObject, .beginArray:
                if isOnPath(text) {
                    onPath = counts.count + 1
                    if counts.count == path.count { start = end - 1 }
                }
                counts.append(0)
                key = nil
            case .endObject, .endArray:
                counts.removeLast()
                if onPath > counts.count {
                    onPath = counts.count
                    if counts.count == path.count, let start { found = JSONText.value(.object, start..<end, in: text) }
                }
                count()
            }
        }

        /// Whether the value that starts here is on the path: all containers around it are, and its own name matches.
        private func isOnPath(_ text: RawSpan) -> Bool {
            guard onPath == counts.count, counts.count <= path.count else { return false }
            guard let index = counts.last else { return true }
            let name = path[counts.count - 1]
            guard let key else { return name == String(index) }
            return JSONText.string(key, escaped: true, in: text) == name
        }

        private mutating func count() {
            if !counts.isEmpty { counts[counts.count - 1] += 1 }
            key = nil
        }
    }
}
