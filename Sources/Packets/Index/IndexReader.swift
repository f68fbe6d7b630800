import Streams

/// A source of which bytes can be passed over without reading them.
package protocol SkippableSource: ByteSource {
    /// Passes over bytes; what is read next is after them. Beyond the end there is nothing to read.
    mutating func skip(_ count: Int) throws(Failure)
}

/// Reads an index, chunk by chunk: damage is an error with its place.
package struct IndexReader<Source: SkippableSource> {
    private(set) var source: Source
    private var position = 0
    private var hasEnded = false

    /// A reader at the start of an index.
    package init(_ source: Source) { self.source = source }

    /// The header, which comes first.
    package mutating func header() throws(CaptureReadFailure<Source.Failure>) -> IndexHeader {
        let bytes = try read(IndexFormat.headerLength)
        do throws(CaptureError) { return try IndexHeader(bytes) } catch { throw .damaged(error) }
    }

    /// The records of the next chunk; nil after the last one.
    ///
    /// - Parameter isWanted: whether a chunk of connections is read. A chunk that is passed over gives no records.
    package mutating func next(
        where isWanted: (IndexChunk) -> Bool = { _ in true }
    ) throws(CaptureReadFailure<Source.Failure>) -> [IndexRecord]? {
        if hasEnded { return nil }
        let start = position
        let (chunk, length, checksum) = try head()
        guard chunk.filter == nil || isWanted(chunk) else {
            do throws(Source.Failure) { try source.skip(length) } catch { throw .unreadable(error) }
            position += length
            return []
        }
        let base = position
        let content = try read(length, "bytes of a chunk")
        guard Int(IndexFormat.checksum(content)) == checksum else {
            throw .damaged(
                CaptureError(
                    kind: .badLength, offset: start + 24, expected: "the checksum of the chunk's records",
                    found: "another one"))
        }
        do throws(CaptureError) {
            return try records(content, base: base, connectionsOnly: chunk.filter != nil)
        } catch {
            throw .damaged(error)
        }
    }

    /// Reads the head of a chunk, and its filter.
    private mutating func head() throws(CaptureReadFailure<Source.Failure>) -> (
        chunk: IndexChunk, length: Int, checksum: Int
    ) {
        let start = position
        let head = try read(IndexFormat.chunkHeadLength, "bytes before a chunk")
        func number(_ range: Range<Int>) -> UInt64 { range.reversed().reduce(0) { $0 << 8 | UInt64(head[$1]) } }
        let (length, filterLength) = (Int(number(0..<4)), Int(number(4..<8)))
        guard length <= IndexFormat.longestChunk, filterLength <= IndexFilter.longest else {
            throw .damaged(
                CaptureError(
                    kind: .badLength, offset: start,
                    expected:
                        "a chunk of at most \(IndexFormat.longestChunk) bytes, with a filter of at most \(IndexFilter.longest)",
                    found: "\(length) and \(filterLength)"))
        }
        let filter = try read(filterLength, "bytes of a chunk's filter")
        guard IndexFormat.checksum(head[..<28] + filter) == UInt32(number(28..<32)) else {
            throw .damaged(
                CaptureError(
                    kind: .badLength, offset: start + 28, expected: "the checksum of the chunk's head",
                    found: "another one"))
        }
        var chunk = IndexChunk()
        if !filter.isEmpty { chunk.filter = IndexFilter(bytes: filter) }
        chunk.earliest = Timestamp(nanoseconds: Int64(bitPattern: number(8..<16)))
        chunk.latest = Timestamp(nanoseconds: Int64(bitPattern: number(16..<24)))
        return (chunk, length, Int(number(24..<28)))
    }

    private mutating func records(
        _ content: [UInt8], base: Int, connectionsOnly: Bool
    ) throws(CaptureError) -> [IndexRecord] {
        var cursor = IndexCursor(content, base: base)
        var records: [IndexRecord] = []
        while !cursor.isAtEnd {
            if hasEnded { throw cursor.error(expected: "nothing after the last record", found: "another one") }
            let record = try IndexRecord(&cursor)
            if connectionsOnly {
                guard case .connection = record else {
                    throw cursor.error(expected: "only connections in a chunk with a filter", found: "another record")
                }
            }
            if case .end = record { hasEnded = true }
            records.append(record)
        }
        return records
    }

    /// The next bytes; an error at the end of the file.
    private mutating func read(
        _ count: Int, _ what: String
    ) throws(CaptureReadFailure<Source.Failure>) -> [UInt8] {
        let bytes = try read(count)
        guard bytes.count == count else {
            throw .damaged(
                CaptureError(
                    kind: .truncated, offset: position, expected: "\(count) \(what)", found: "the end of the file"))
        }
        return bytes
    }

    /// The next bytes; fewer at the end of the file.
    private mutating func read(_ count: Int) throws(CaptureReadFailure<Source.Failure>) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let start = filled
            let outcome = bytes.withUnsafeMutableBytes { all -> Result<Int, Source.Failure> in
                let free = UnsafeMutableRawBufferPointer(rebasing: all[start...])
                do throws(Source.Failure) {
                    return .success(min(max(try source.read(into: free), 0), free.count))
                } catch {
                    return .failure(error)
                }
            }
            switch outcome {
            case .success(0):
                position += filled
                return Array(bytes[..<filled])
            case .success(let more): filled += more
            case .failure(let failure): throw .unreadable(failure)
            }
        }
        position += count
        return bytes
    }
}
