import Streams

/// The bytes after a gap, in which the next record is searched for.
///
/// Keeps one record and what arrived with its end.
struct RecordSearch: Sendable {
    /// What a record's header must be like.
    struct Wanted {
        /// Only this version, if one is known.
        var version: ProtocolVersion?
        /// Only application data: TLS 1.3 encrypts nothing else.
        var isApplicationData: Bool
        /// The shortest fragment.
        var shortest: Int
        /// Whether another header must follow.
        var needsSuccessor: Bool
    }

    /// How many bytes before a candidate are kept: TLS 1.0's IV and a MAC.
    private static let kept = 64

    private(set) var bytes: [UInt8] = []
    /// Where in the stream the bytes begin.
    private(set) var start = 0
    private var at = 0
    /// Where in the bytes the search began: they may contain what was read before.
    private var first = 0

    var heldBytes: Int { bytes.count }
    /// Where in the stream the bytes end.
    var end: Int { start + bytes.count }

    /// Begins at an offset of the stream.
    mutating func begin(at offset: Int) {
        (bytes, start, at, first) = ([], offset, 0, 0)
    }

    mutating func add(_ more: RawSpan) {
        bytes.append(contentsOf: more)
    }

    /// The next place where a record may lie; nil if more bytes are needed to tell.
    ///
    /// - Parameter isLast: no more bytes follow.
    mutating func candidate(_ wanted: Wanted, isLast: Bool) -> (RecordHeader, Range<Int>)? {
        while at + RecordHeader.byteCount <= bytes.count {
            guard let header = plausible(at, wanted) else {
                at += 1
                continue
            }
            let end = at + header.recordLength
            let following = wanted.needsSuccessor && !(isLast && end == bytes.count) ? RecordHeader.byteCount : 0
            if end + following > bytes.count {
                guard isLast else { break }
                at += 1
                continue
            }
            if following > 0, plausible(end, wanted) == nil {
                at += 1
                continue
            }
            return (header, at..<end)
        }
        trim()
        return nil
    }

    /// The candidate was none.
    mutating func reject() { at += 1 }

    /// Takes out the bytes, without copying them, to read on in them; the search is over.
    mutating func take() -> [UInt8] {
        defer { begin(at: 0) }
        return bytes
    }

    /// Searches on in bytes that were taken out, from a place in them: the one at which the search that has begun begins.
    mutating func goOn(in bytes: [UInt8], from place: Int) {
        (self.bytes, start, at, first) = (bytes, start - place, place, place)
    }

    /// The last bytes before a place, at most as many as are kept, and none from before the search.
    func bytes(before end: Int) -> ArraySlice<UInt8> { bytes[max(first, end - RecordSearch.kept)..<end] }

    private func plausible(_ at: Int, _ wanted: Wanted) -> RecordHeader? {
        guard let header = RecordHeader(bytes.span.bytes, at: at), header.length >= wanted.shortest,
            wanted.version.map({ $0 == header.version }) ?? (.tls10 ... .tls12).contains(header.version),
            !wanted.isApplicationData || header.type == .applicationData
        else { return nil }
        return header
    }

    /// Forgets what was searched, now and then: it costs a move of the rest.
    private mutating func trim() {
        let unused = at - RecordSearch.kept
        guard unused > 4_096 else { return }
        bytes.removeFirst(unused)
        start += unused
        at -= unused
        first = max(0, first - unused)
    }
}
