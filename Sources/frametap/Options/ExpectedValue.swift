/// What was expected of an option's value, which the parser's message leaves out.
enum ExpectedValue {
    /// By the name that the help shows for the value.
    private static let examples = [
        "time": "a time such as 500ms, 2s or 5min (units: \(TimeAmount.units)); a number alone is in seconds",
        "size": "a number of bytes such as 4096, 64KiB or 100MB (units: \(ByteAmount.units))",
        "bytes": "a whole number of bytes",
        "host:port": "a host and a port such as chat.example.com:8088, 127.0.0.1:8088 or [::1]:8088",
        "address:port": "an address and a port such as 127.0.0.1:8088 or [::1]:8088",
        "in,out": "in, out, out-v1, or in and one of the others: in,out",
        "n": "a whole number", "count": "a whole number", "number": "a whole number",
    ]

    /// The parser's message of a value that it cannot read, with what was expected.
    ///
    /// - Parameter message: `The value 'x' is invalid for '--timeout <time>'`, perhaps after `Error: ` and with lines after it.
    static func added(to message: String) -> String {
        var lines = message.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let first = lines.first, first.contains(" is invalid for '"), first.hasSuffix(">'"),
            let start = first.lastIndex(of: "<")
        else { return message }
        let name = first[first.index(after: start)...].dropLast(2)
        guard let example = examples[String(name)] else { return message }
        lines[0] = "\(first); expected \(example)"
        return lines.joined(separator: "\n")
    }
}
