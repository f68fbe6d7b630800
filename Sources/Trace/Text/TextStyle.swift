/// The role of a piece of a line, which determines its colour.
enum TextStyle {
    case plain, faint, type, client, server, heartbeat, warning, error

    /// The escape sequence that begins the colour (ECMA-48 SGR); none if there is none.
    var start: StaticString {
        switch self {
        case .plain: ""
        case .faint: "\u{1b}[2m"
        case .type: "\u{1b}[1m"
        case .client: "\u{1b}[36m"
        case .server: "\u{1b}[32m"
        case .heartbeat: "\u{1b}[35m"
        case .warning: "\u{1b}[33m"
        case .error: "\u{1b}[31m"
        }
    }

    /// The sequence that ends it.
    var end: StaticString { self == .plain ? "" : "\u{1b}[0m" }

    /// How many bytes both take at most.
    static let longest = 16

    /// The text with the escape sequences that colour it, if colour is wanted.
    func apply(_ text: String, colored: Bool) -> String {
        colored && self != .plain && !text.isEmpty ? "\(start)\(text)\(end)" : text
    }
}
