import Streams

/// Which connections of an index are read, by time.
package struct TimeSelection: Hashable, Sendable {
    /// Those that ended earlier are not; nil: any.
    package var since: Timestamp?
    /// Those that began at this time or later are not; nil: any.
    package var until: Timestamp?

    /// Findings about the end of a connection come a little later.
    private static let afterEnd = Interval.seconds(10)

    /// Those that have something in a time.
    package init(since: Timestamp? = nil, until: Timestamp? = nil) { (self.since, self.until) = (since, until) }

    /// Whether a connection is among them.
    package func contains(_ connection: IndexedConnection) -> Bool {
        includes(connection.first, until: connection.ended)
    }

    /// Whether connections of a chunk may be among them.
    package func mayContain(_ chunk: IndexChunk) -> Bool { includes(chunk.earliest, until: chunk.latest) }

    private func includes(_ first: Timestamp, until last: Timestamp) -> Bool {
        if let until, first >= until { return false }
        guard let since, last < .distantFuture else { return true }
        return last + Self.afterEnd >= since
    }
}
