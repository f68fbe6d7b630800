import Streams

/// What the head of an index's chunk says, so that chunks with nothing of interest are passed over.
package struct IndexChunk: Hashable, Sendable {
    /// The connections and hosts that it may have; nil: everybody reads it.
    var filter: IndexFilter?
    /// When its first connection began.
    package var earliest = Timestamp.distantFuture
    /// When its last connection ended; the distant future if the end of one is not in the capture.
    package var latest = Timestamp.distantPast

    /// Whether it may have connections of a selection, or has what everybody reads.
    package func mayContain(_ selection: ConnectionSelection) -> Bool {
        guard let filter else { return true }
        return selection.mayBe(in: filter)
    }
}

extension ConnectionSelection {
    /// If more are looked for, all chunks are read: most have one of them anyway.
    private static let mostLookedFor = 256

    fileprivate func mayBe(in filter: IndexFilter) -> Bool {
        if let hosts, hosts.count <= Self.mostLookedFor,
            !hosts.contains(where: { filter.mayContain(ConnectionEnds.hash(of: $0)) })
        {
            return false
        }
        guard let ends, ends.count <= Self.mostLookedFor else { return true }
        return ends.contains { filter.mayContain($0.hash) }
    }
}

/// Collects the records of a chunk.
struct IndexChunkWriter {
    private var records: [UInt8] = []
    private var hashes: Set<UInt64> = []
    private var chunk = IndexChunk()

    /// Adds a record.
    ///
    /// - Returns: the chunk, with its head, if it is full.
    mutating func add(_ record: IndexRecord) -> [UInt8] {
        record.append(to: &records)
        if case .connection(let connection) = record {
            let ends = connection.ends
            hashes.insert(ends.hash)
            hashes.insert(ConnectionEnds.hash(of: ends.lower.address))
            hashes.insert(ConnectionEnds.hash(of: ends.upper.address))
            chunk.earliest = min(chunk.earliest, connection.first)
            chunk.latest = max(chunk.latest, connection.ended)
        }
        return records.count >= IndexFormat.chunkLength ? close() : []
    }

    /// The chunk, with its head; empty if there are no records. Another one begins.
    mutating func close() -> [UInt8] {
        guard !records.isEmpty else { return [] }
        let filter = hashes.isEmpty ? [] : IndexFilter(hashes).bytes
        var bytes: [UInt8] = []
        bytes.append(first: 4, of: UInt64(records.count))
        bytes.append(first: 4, of: UInt64(filter.count))
        bytes.append(first: 8, of: UInt64(bitPattern: chunk.earliest.nanoseconds))
        bytes.append(first: 8, of: UInt64(bitPattern: chunk.latest.nanoseconds))
        bytes.append(first: 4, of: UInt64(IndexFormat.checksum(records)))
        bytes.append(first: 4, of: UInt64(IndexFormat.checksum(bytes + filter)))
        bytes += filter
        bytes += records
        records.removeAll(keepingCapacity: true)
        hashes.removeAll(keepingCapacity: true)
        chunk = IndexChunk()
        return bytes
    }
}
