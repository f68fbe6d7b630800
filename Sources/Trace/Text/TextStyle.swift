/// The role of a piece of a line, which determines its colour.
enum TextStyle: String {
    case plain = ""
    case faint = "2"
    case type = "1"
    case client = "36"
    case server = "32"
    case heartbeat = "35"
    case warning = "33"
    case error = "31"

    /// The escape sequence that begins the colour (ECMA-48 SGR); none if there is none.
    var start: String { self == .plain ? "" : "\u{1b}[\(rawValue)m" }

    /// The sequence that ends it.
    var end: String { self == .plain ? "" : "\u{1b}[0m" }

    /// The text with the escape sequences that colour it (ECMA-48 SGR), if colour is wanted.
    func apply(_ text: String, colored: Bool) -> String {
        colored && self != .plain && !text.isEmpty ? "\u{1b}[\(rawValue)m\(text)\u{1b}[0m" : text
    }
}
