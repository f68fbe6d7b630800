/// JSON whose members keep their order, written so that people can read it.
indirect enum SchemaJSON: Sendable {
    case object([(String, SchemaJSON)])
    case array([SchemaJSON])
    case string(String)
    case integer(Int)
    case boolean(Bool)

    static func strings(_ strings: [String]) -> SchemaJSON { .array(strings.map { .string($0) }) }

    /// The text: what fits a line is on one.
    func text(indent: Int = 0, width: Int = 140) -> String {
        let line = compact
        if line.count + indent <= width { return line }
        let space = String(repeating: " ", count: indent + 2)
        let end = "\n" + String(repeating: " ", count: indent)
        switch self {
        case .object(let members):
            let lines = members.map { key, value in
                space + Self.quoted(key) + ": " + value.text(indent: indent + 2, width: width)
            }
            return "{\n" + lines.joined(separator: ",\n") + end + "}"
        case .array(let items) where items.allSatisfy(\.isString):
            return "[\n" + Self.filled(items.map(\.compact), indent: space, width: width) + end + "]"
        case .array(let items):
            let lines = items.map { space + $0.text(indent: indent + 2, width: width) }
            return "[\n" + lines.joined(separator: ",\n") + end + "]"
        default: return line
        }
    }

    private var isString: Bool { if case .string = self { true } else { false } }

    /// Words, as many on a line as fit.
    private static func filled(_ words: [String], indent: String, width: Int) -> String {
        var lines = [indent]
        for (index, word) in words.enumerated() {
            let word = index + 1 < words.count ? word + "," : word
            let last = lines[lines.count - 1]
            if last == indent {
                lines[lines.count - 1] += word
            } else if last.count + word.count + 1 > width {
                lines.append(indent + word)
            } else {
                lines[lines.count - 1] += " " + word
            }
        }
        return lines.joined(separator: "\n")
    }

    private var compact: String {
        switch self {
        case .object(let members):
            "{" + members.map { Self.quoted($0) + ": " + $1.compact }.joined(separator: ", ") + "}"
        case .array(let items): "[" + items.map(\.compact).joined(separator: ", ") + "]"
        case .string(let text): Self.quoted(text)
        case .integer(let number): String(number)
        case .boolean(let flag): String(flag)
        }
    }

    private static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = []
        JSONOutput.string(text, into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
