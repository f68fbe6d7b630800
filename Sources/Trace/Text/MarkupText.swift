/// Text escaped for HTML and XML, between tags and in attributes.
package enum MarkupText {
    /// The text with markup characters as references, and characters that XML 1.0 (section 2.2) does not allow even as references
    /// as `�`.
    package static func escaped(_ text: some StringProtocol) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case "\n": escaped += "&#10;"
            case "\t": escaped += "&#9;"
            default:
                let isAllowed = scalar.value >= 0x20 && scalar.value != 0xfffe && scalar.value != 0xffff
                escaped.unicodeScalars.append(isAllowed ? scalar : "\u{fffd}")
            }
        }
        return escaped
    }
}
