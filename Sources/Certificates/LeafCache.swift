/// Certificates that were issued, so that the next handshake with the same names does not wait for a signature.
///
/// Names come from clients, so there may be any number of them: the least recently used certificates are dropped.
package struct LeafCache: Sendable {
    /// The maximum number of certificates.
    package let limit: Int

    private struct Entry {
        var leaf: Leaf
        var lastUse: UInt64
    }

    private var entries: [LeafRequest: Entry] = [:]
    private var uses: UInt64 = 0

    /// An empty cache.
    package init(limit: Int = 1_000) {
        self.limit = max(1, limit)
    }

    /// How many certificates it has.
    package var count: Int { entries.count }

    /// The certificate for a request, issued now if it is not known or expires within a day.
    package mutating func leaf(
        for request: LeafRequest, now: CertificateTime,
        issue: (LeafRequest) throws(LeafError) -> Leaf
    ) throws(LeafError) -> Leaf {
        uses += 1
        if let entry = entries[request], now.adding(days: 1) < entry.leaf.notAfter {
            entries[request]?.lastUse = uses
            return entry.leaf
        }
        let leaf = try issue(request)
        if entries[request] == nil, entries.count >= limit { dropLeastRecentlyUsed() }
        entries[request] = Entry(leaf: leaf, lastUse: uses)
        return leaf
    }

    /// A look at all entries takes less time than the signature that made it necessary.
    private mutating func dropLeastRecentlyUsed() {
        guard let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) else { return }
        entries[oldest.key] = nil
    }
}
