import Streams

/// Writes tokens of JSON text without white space between them.
struct JSONCompaction {
    /// The output so far.
    private(set) var bytes: [UInt8] = []
    private var followsValue = false

    /// The text as compact JSON; DEL and C1 controls in strings escaped, so that they never reach a terminal.
    static func of(_ text: RawSpan) throws(JSONSyntaxError) -> [UInt8] {
        if let offset = text.firstInvalidUTF8() { throw JSONSyntaxError(offset: offset, expected: "UTF-8") }
        var compaction = JSONCompaction()
        compaction.bytes.reserveCapacity(text.byteCount)
        var tokens = JSONTokens()
        while let token = try tokens.next(text) { compaction.append(token, of: text) }
        return compaction.bytes
    }

    /// Writes a token and the comma before it.
    mutating func append(_ token: JSONTokens.Token, of text: RawSpan) {
        switch token {
        case .endObject: end(UInt8(ascii: "}"))
        case .endArray: end(UInt8(ascii: "]"))
        case .beginObject: begin(UInt8(ascii: "{"))
        case .beginArray: begin(UInt8(ascii: "["))
        case .key(let range):
            separate()
            append(range, of: text)
            bytes.append(UInt8(ascii: ":"))
            followsValue = false
        case .scalar(_, let range):
            separate()
            append(range, of: text)
            followsValue = true
        }
    }

    /// Writes a string in place of another value of the text.
    mutating func append(string: String) {
        separate()
        JSONOutput.string(string, into: &bytes)
        followsValue = true
    }

    private mutating func separate() {
        if followsValue { bytes.append(UInt8(ascii: ",")) }
    }

    private mutating func begin(_ bracket: UInt8) {
        separate()
        bytes.append(bracket)
        followsValue = false
    }

    private mutating func end(_ bracket: UInt8) {
        bytes.append(bracket)
        followsValue = true
    }

    private mutating func append(_ range: Range<Int>, of text: RawSpan) {
        let token = text.extracting(range)
        // 0xc2 starts the C1 controls, among others.
        if token.firstIndex(of: 0x7f, from: 0) == nil, token.firstIndex(of: 0xc2, from: 0) == nil {
            bytes.append(contentsOf: token)
        } else {
            bytes += JSONText.compact(range, in: text)
        }
    }
}
