/// Reads an index, chunk by chunk: damage is an error with its place.
package struct IndexReader<Source: ByteSource> {
    private var source: Source
    private var position = 0
    private var hasEnded = false

    /// How many bytes were read.
    package var bytesRead: Int { position }

    /// A reader at the start of an index.
    package init(_ source: Source) { self.source = source }

    /// The header, which comes first.
    package mutating func header() throws(CaptureReadFailure<Source.Failure>) -> IndexHeader {
        let bytes = try read(IndexFormat.headerLength)
        do throws(CaptureError) { return try IndexHeader(bytes) } catch { throw .damaged(error) }
    }

    /// The records of the next chunk; nil after the last one.
    package mutating func next() throws(CaptureReadFailure<Source.Failure>) -> [IndexRecord]? {
        if hasEnded { return nil }
        let start = position
        let head = try read(IndexFormat.chunkHeadLength)
        guard head.count == IndexFormat.chunkHeadLength else {
            throw .damaged(Self.truncated(position, "the \(IndexFormat.chunkHeadLength) bytes before a chunk"))
        }
        func number(_ range: Range<Int>) -> Int { range.reversed().reduce(0) { $0 << 8 | Int(head[$1]) } }
        let length = number(0..<4)
        guard length <= IndexFormat.longestChunk else {
            throw .damaged(
                CaptureError(
                    kind: .badLength, offset: start,
                    expected: "a chunk of at most \(IndexFormat.longestChunk) bytes", found: "\(length)"))
        }
        let content = try read(length)
        guard content.count == length else {
            throw .damaged(Self.truncated(position, "\(length) bytes of a chunk"))
        }
        guard Int(IndexFormat.checksum(content)) == number(4..<8) else {
            throw .damaged(
                CaptureError(
                    kind: .badLength, offset: start + 4, expected: "the chunk's checksum", found: "another one"))
        }
        do throws(CaptureError) {
            return try records(content, base: start + IndexFormat.chunkHeadLength)
        } catch {
            throw .damaged(error)
        }
    }

    private mutating func records(_ content: [UInt8], base: Int) throws(CaptureError) -> [IndexRecord] {
        var cursor = IndexCursor(content, base: base)
        var records: [IndexRecord] = []
        while !cursor.isAtEnd {
            if hasEnded { throw cursor.error(expected: "nothing after the last record", found: "another one") }
            let record = try IndexRecord(&cursor)
            if case .end = record { hasEnded = true }
            records.append(record)
        }
        return records
    }

    private static func truncated(_ offset: Int, _ expected: String) -> CaptureError {
        CaptureError(kind: .truncated, offset: offset, expected: expected, found: "the end of the file")
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
