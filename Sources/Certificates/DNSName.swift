/// What a host name may consist of (RFC 1123), and the underscores that names have nevertheless.
enum DNSName {
    /// The maximum length of a name without a dot at its end (RFC 1035).
    static let longest = 253

    /// What is wrong with a name; nil for a name that a certificate may have. Wildcards are not host names.
    static func flaw(of text: String) -> String? {
        if text.isEmpty { return "is empty" }
        let bytes = text.utf8.last == UInt8(ascii: ".") ? text.utf8.dropLast() : text.utf8[...]
        if bytes.count > longest { return "has \(bytes.count) bytes; a DNS name has at most \(longest)" }
        if bytes.contains(UInt8(ascii: "*")) { return "has a wildcard; expected the name of one server" }
        if bytes.contains(where: { $0 >= 0x80 }) {
            return "is not ASCII; clients send such names in Punycode, as in xn--bcher-kva.example"
        }
        guard bytes.allSatisfy(isAllowed) else { return "has characters other than letters, digits, - _ and dots" }
        for label in bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
            if label.isEmpty { return "has an empty part between its dots" }
            if label.count > 63 { return "has a part of \(label.count) bytes; a DNS name's parts have at most 63" }
        }
        return nil
    }

    /// A name in the form in which names are compared: lower case, without a dot at its end.
    static func normalized(_ text: String) -> String {
        let name = text.lowercased()
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
