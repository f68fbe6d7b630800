/// A pattern of host names: `example.com`, or `*.example.com` for all below it.
package struct HostPattern: Hashable, Sendable {
    private let suffix: String
    private let isWild: Bool

    /// Parses a pattern; nil if it is empty, or has a `*` elsewhere than in front of the first dot.
    package init?(_ text: String) {
        isWild = text.hasPrefix("*.")
        suffix = (isWild ? String(text.dropFirst(1)) : text).lowercased()
        guard !suffix.isEmpty, suffix != ".", !suffix.contains("*") else { return nil }
    }

    /// Whether a host name matches; case does not matter (RFC 4343), nor does a trailing dot.
    package func matches(_ host: String) -> Bool {
        var host = host.lowercased()
        if host.hasSuffix(".") { host.removeLast() }
        return isWild ? host.hasSuffix(suffix) && host.count > suffix.count : host == suffix
    }
}
