import Streams

/// Reads JSON text token by token, checking the grammar on the way.
///
/// `JSONScanner` recurses for nested values, which suits heads of a few levels; a body may be hundreds deep. Here open containers
/// are kept in an array, so nesting costs memory instead of stack.
package struct JSONTokens {
    /// How deeply arrays and objects may nest.
    package static let depthLimit = 512

    /// A token. Ranges include quotes.
    package enum Token {
        case beginObject
        case endObject
        case beginArray
        case endArray
        case key(Range<Int>)
        case scalar(JSONScanner.Kind, Range<Int>)
    }

    private enum Expected {
        case value
        case firstMember
        case firstElement
        case separator
    }

    private var scanner = JSONScanner()
    private var expected = Expected.value
    private var open = OpenContainers()
    private let depthLimit: Int

    /// Tokens of a text that nests no deeper than `depthLimit`.
    package init(depthLimit: Int = JSONTokens.depthLimit) {
        self.depthLimit = depthLimit
    }

    /// Where the next token is read.
    package var position: Int { scanner.position }

    /// The next token of the text; nil after the only value, with nothing but white space following it.
    package mutating func next(_ text: RawSpan) throws(JSONSyntaxError) -> Token? {
        scanner.skipSpace(text)
        switch expected {
        case .value: return try value(text)
        case .firstMember:
            if let token = end(UInt8(ascii: "}"), .endObject, text) { return token }
            return try key(text)
        case .firstElement:
            if let token = end(UInt8(ascii: "]"), .endArray, text) { return token }
            return try value(text)
        case .separator:
            guard let isObject = open.last else {
                guard scanner.isAtEnd(text) else { throw fault("the end") }
                return nil
            }
            if scanner.take(UInt8(ascii: ","), text) {
                scanner.skipSpace(text)
                return try isObject ? key(text) : value(text)
            }
            let close = isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
            if let token = end(close, isObject ? .endObject : .endArray, text) { return token }
            throw fault(isObject ? "',' or '}'" : "',' or ']'")
        }
    }

    /// Where bytes cannot be the beginning of a JSON text or a sequence of them; nil if they can.
    ///
    /// - Parameters:
    ///   - limit: how many of them are examined.
    ///   - depthLimit: how many containers may be open.
    static func fault(_ bytes: RawSpan, at start: Int, within limit: Int, depthLimit: Int) -> Int? {
        let text = bytes.extracting(start..<min(bytes.byteCount, start + limit))
        var tokens = JSONTokens(depthLimit: depthLimit)
        do throws(JSONSyntaxError) {
            while try tokens.next(text) != nil {}
            return nil
        } catch {
            // At the end of the available bytes, more bytes may resolve the error.
            return error.offset + 8 >= text.byteCount ? nil : start + error.offset
        }
    }

    /// Whether text may be the beginning of a JSON value, whatever follows.
    mutating func mayBegin(_ text: RawSpan) -> Bool {
        do throws(JSONSyntaxError) {
            while try next(text) != nil { if open.isEmpty { return true } }
            return true
        } catch {
            return error.offset + 8 >= text.byteCount
        }
    }

    private mutating func end(_ byte: UInt8, _ token: Token, _ text: RawSpan) -> Token? {
        guard scanner.take(byte, text) else { return nil }
        open.removeLast()
        expected = .separator
        return token
    }

    private mutating func key(_ text: RawSpan) throws(JSONSyntaxError) -> Token {
        guard scanner.peek(text) == UInt8(ascii: "\"") else { throw fault("a key in quotes") }
        let range = try scanner.value(text).range
        scanner.skipSpace(text)
        try scanner.expect(UInt8(ascii: ":"), text)
        expected = .value
        return .key(range)
    }

    private mutating func value(_ text: RawSpan) throws(JSONSyntaxError) -> Token {
        let isObject = scanner.peek(text) == UInt8(ascii: "{")
        guard isObject || scanner.peek(text) == UInt8(ascii: "[") else {
            let (kind, range) = try scanner.value(text)
            expected = .separator
            return .scalar(kind, range)
        }
        guard open.count < depthLimit else { throw fault("no more than \(depthLimit) levels") }
        _ = scanner.take(isObject ? UInt8(ascii: "{") : UInt8(ascii: "["), text)
        open.append(isObject)
        expected = isObject ? .firstMember : .firstElement
        return isObject ? .beginObject : .beginArray
    }

    private func fault(_ expected: String) -> JSONSyntaxError {
        JSONSyntaxError(offset: scanner.position, expected: expected)
    }
}

/// The containers that are open, outermost first: whether each is an object. Up to 64 take no memory of their own.
private struct OpenContainers {
    private(set) var count = 0
    private var first: UInt64 = 0
    private var deeper: [Bool] = []

    var isEmpty: Bool { count == 0 }

    /// Whether the innermost is an object; nil if none is open.
    var last: Bool? {
        if count == 0 { return nil }
        return count <= 64 ? first >> UInt64(count - 1) & 1 == 1 : deeper.last
    }

    mutating func append(_ isObject: Bool) {
        if count < 64 {
            first = first & ~(1 << UInt64(count)) | (isObject ? 1 : 0) << UInt64(count)
        } else {
            deeper.append(isObject)
        }
        count += 1
    }

    mutating func removeLast() {
        if count > 64 { deeper.removeLast() }
        count -= 1
    }
}
