/// Why the proxy ended a connection, or did not relay it: what a recording of the proxy says about the packet with the RST, which
/// otherwise would look like that of a peer.
package struct ClosedAnnotation: Hashable, Sendable {
    /// The reason.
    package var reason: CloseReason
    /// The side that is responsible; nil if neither is.
    package var by: Direction?

    /// Why the proxy ended a connection.
    package init(reason: CloseReason, by: Direction?) { (self.reason, self.by) = (reason, by) }

    /// The annotation's text: `closed`, the reason, and the side.
    package var text: String { "closed \(reason.rawValue)" + (by.map { " \($0.sender)" } ?? "") }

    /// Reads an annotation; nil if it is another one.
    package init?(annotation text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2 || words.count == 3, words[0] == "closed",
            let reason = CloseReason(rawValue: String(words[1]))
        else { return nil }
        let by = words.count == 3 ? Direction.allCases.first { $0.sender == words[2] } : nil
        if words.count == 3, by == nil { return nil }
        self.init(reason: reason, by: by)
    }
}
