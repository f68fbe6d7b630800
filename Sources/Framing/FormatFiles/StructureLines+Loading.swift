import Streams
import YAML

extension AllowedValues {
    /// The values under `equals`: one, or a list of them and of ranges `from..to`.
    static func read(_ map: YAMLMap) -> [AllowedValues] {
        map.texts("equals").compactMap { text, node in
            if let dots = text.range(of: "..") {
                guard let low = Int(number: String(text[..<dots.lowerBound])),
                    let high = Int(number: String(text[dots.upperBound...])), low <= high
                else {
                    map.context.add("equals is \(text); expected a range of numbers such as 1..5", at: node)
                    return nil
                }
                return AllowedValues(low: .integer(Int64(low)), high: .integer(Int64(high)))
            }
            let value = Int(number: text).map { FieldValue.integer(Int64($0)) } ?? .text(text)
            return AllowedValues(low: value, high: value)
        }
    }
}

extension String {
    func range(of part: String) -> Range<String.Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(part) { return start..<index(start, offsetBy: part.count) }
            start = index(after: start)
        }
        return nil
    }
}

extension Structure.Item {
    var isConstant: Bool { if case .literal = self.content { true } else { false } }
}

extension YAMLMap {
    /// Whether `size` is a number.
    var hasFixedSize: Bool { self["size"]?.string.flatMap { Int(number: $0) } != nil }

    /// Byte strings, the longest first.
    func ends(_ key: String) -> [[UInt8]] {
        if self[key] == nil { fault("\(path) lacks \(key): the bytes at its end, such as \"\\r\\n\"") }
        let ends = texts(key).map { [UInt8](written: $0.text) }
        if self[key]?.sequence?.isEmpty == true { fault("\(key) is an empty list; expected bytes", at: key) }
        if ends.contains([]) { fault("\(key) is empty; expected the bytes at its end", at: key) }
        return ends.contains([]) ? [] : ends.sorted { $0.count > $1.count }
    }
}

extension WordLine {
    /// `{ words: [verb, subject, "reply?", { size: decimal }, "text*"], ends: "\r\n" }`
    init?(_ map: YAMLMap) {
        guard let list = map["words"]?.sequence else {
            map.fault("words should be a list of names", at: "words")
            return nil
        }
        if list.isEmpty { map.fault("words is an empty list; expected the line's words", at: "words") }
        var words: [Word] = []
        for node in list {
            var word = Word(name: "")
            var name = node.string
            if let pair = node.mapping?.first, node.mapping?.count == 1 {
                name = pair.key.string
                if pair.value.string == "decimal" {
                    word.isNumber = true
                } else if let values = pair.value.sequence {
                    word.allowed = values.compactMap(\.string)
                } else {
                    word.allowed = [pair.value.string].compactMap { $0 }
                }
            }
            guard var name, !name.isEmpty else {
                map.context.add(
                    "a word should be a name, name: decimal, or name: [its values], found \(node.kindName)", at: node)
                continue
            }
            switch name.last {
            case "?": word.presence = .optional
            case "*": word.presence = .rest
            case "+": word.presence = .list
            default: break
            }
            if word.presence != .required { name.removeLast() }
            word.name = name
            words.append(word)
        }
        let last = words.dropLast().contains { $0.presence == .rest || $0.presence == .list }
        if last { map.fault("only the last word may be the rest (*) or a list (+)", at: "words") }
        let ends = map.ends("ends")
        guard !words.isEmpty, !ends.isEmpty else { return nil }
        self.init(
            words: words, ends: ends, most: map.byteCount("limit"),
            ignoresCase: map.boolean("ignoreCase") ?? false)
    }
}

extension HeaderLines {
    /// `{ lines: ":", ends: "\r\n" }`; a space in `lines` stands after the separator.
    init?(_ map: YAMLMap) {
        guard let text = map.requiredText("lines") else { return nil }
        let bytes = Array(text.utf8)
        guard let separator = bytes.first, bytes.count == 1 || bytes.count == 2 && bytes[1] == 0x20 else {
            map.fault(
                "lines is \"\(text)\"; expected what separates name and value, such as \": \" or \":\"", at: "lines")
            return nil
        }
        let ends = map.ends("ends")
        guard !ends.isEmpty else { return nil }
        self.init(
            ends: ends, separator: separator, hasSpace: bytes.count == 2,
            most: map.byteCount("limit"))
    }
}
