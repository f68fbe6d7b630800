import Streams

/// Cuts a direction's bytes into records, however they are segmented.
///
/// A record that lies in one chunk is not copied; the beginning of one that does not is kept, at most
/// 5 + ``RecordHeader/longestFragment`` bytes.
package struct RecordReader: Sendable {
    /// What comes next.
    package enum Step: Hashable, Sendable {
        /// The bytes end before the next record does.
        case needsMore
        /// A record with its header lies in this range of the chunk.
        case inChunk(RecordHeader, Range<Int>)
        /// A record began in an earlier chunk: ``takeRecord()`` returns it.
        case buffered(RecordHeader)
        /// These bytes are not the header of a record: nothing of it was consumed.
        case notARecord([UInt8])
    }

    private var partial: [UInt8] = []

    /// A reader at the boundary of a record.
    package init() {}

    /// How many bytes of an incomplete record are kept.
    package var heldBytes: Int { partial.count }

    /// The header of the incomplete record, once its five bytes are there.
    package var partialHeader: RecordHeader? {
        partial.count < RecordHeader.byteCount ? nil : RecordHeader(partial.span.bytes)
    }

    /// Finds the next record.
    ///
    /// - Parameters:
    ///   - chunk: bytes of the stream.
    ///   - at: where in the chunk to continue; moves past what was consumed.
    package mutating func next(_ chunk: RawSpan, _ at: inout Int) -> Step {
        if partial.isEmpty {
            guard chunk.byteCount - at >= RecordHeader.byteCount else {
                keep(chunk, &at, upTo: RecordHeader.byteCount)
                return .needsMore
            }
            guard let header = RecordHeader(chunk, at: at) else {
                return .notARecord(chunk.copied(at..<at + RecordHeader.byteCount))
            }
            let end = at + header.recordLength
            guard end <= chunk.byteCount else {
                keep(chunk, &at, upTo: header.recordLength)
                return .needsMore
            }
            defer { at = end }
            return .inChunk(header, at..<end)
        }
        keep(chunk, &at, upTo: RecordHeader.byteCount)
        guard partial.count >= RecordHeader.byteCount else { return .needsMore }
        guard let header = RecordHeader(partial.span.bytes) else {
            return .notARecord(Array(partial.prefix(RecordHeader.byteCount)))
        }
        keep(chunk, &at, upTo: header.recordLength)
        return partial.count < header.recordLength ? .needsMore : .buffered(header)
    }

    /// The record that `next` called buffered, or the beginning of one; the reader is at a boundary again.
    package mutating func takeRecord() -> [UInt8] {
        defer { partial = [] }
        return partial
    }

    private mutating func keep(_ chunk: RawSpan, _ at: inout Int, upTo length: Int) {
        let end = at + max(0, min(length - partial.count, chunk.byteCount - at))
        guard end > at else { return }
        // One growth: the length of the record is known, and bounded.
        partial.reserveCapacity(length)
        partial.append(contentsOf: chunk.extracting(at..<end))
        at = end
    }
}
