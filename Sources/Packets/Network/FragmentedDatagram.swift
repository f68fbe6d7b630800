import Streams

/// The fragments of an IP datagram that arrived.
struct FragmentedDatagram {
    /// What a datagram carries, once all its fragments have arrived.
    struct Whole {
        /// The bytes up to the first one that was not captured.
        var bytes: [UInt8]
        /// How many bytes it had on the wire.
        var length: Int

        /// How many bytes follow the captured ones.
        var cutOff: Int { length - bytes.count }
    }

    /// Counts datagrams from 1 in the order in which they began.
    let number: Int
    /// When its first fragment arrived.
    let started: Timestamp
    /// How many of its fragments arrived.
    private(set) var fragments = 0
    /// In order, without overlaps.
    private var pieces: [(start: Int, bytes: [UInt8])] = []
    /// What was on the wire and not captured, by where it begins.
    private var cutOff: [Range<Int>] = []
    private var total: Int?

    /// A datagram of which nothing has arrived.
    init(number: Int, started: Timestamp) { (self.number, self.started) = (number, started) }

    /// How many ranges of bytes are kept.
    var rangeCount: Int { pieces.count + cutOff.count }

    /// How many bytes are kept.
    var byteCount: Int { pieces.reduce(0) { $0 + $1.bytes.count } }

    /// Adds a fragment. Of bytes that are present already, the first copy counts.
    ///
    /// - Parameters:
    ///   - payload: the captured part of it.
    ///   - length: how long it was on the wire.
    /// - Returns: whether it differs from an earlier one that has the same bytes.
    mutating func add(_ payload: RawSpan, at place: FragmentPlace, length: Int) -> Bool {
        fragments += 1
        let end = place.offset + length
        if !place.hasMore, total == nil { total = end }
        let captured = place.offset + payload.byteCount
        if captured < end, !cutOff.contains(captured..<end) {
            let index = cutOff.firstIndex { $0.lowerBound > captured } ?? cutOff.count
            cutOff.insert(captured..<end, at: index)
        }
        return insert(payload, at: place.offset)
    }

    /// Keeps the bytes not present yet.
    ///
    /// - Returns: whether others differ from those that are present.
    private mutating func insert(_ payload: RawSpan, at offset: Int) -> Bool {
        var isConflicting = false
        var cursor = 0
        var index = pieces.firstIndex { $0.start + $0.bytes.count > offset } ?? pieces.count
        while cursor < payload.byteCount {
            let next = index < pieces.count ? pieces[index].start - offset : .max
            if cursor < next {
                let end = min(next, payload.byteCount)
                pieces.insert((offset + cursor, payload.copied(cursor..<end)), at: index)
                cursor = end
            } else {
                let piece = pieces[index]
                let end = min(payload.byteCount, piece.start + piece.bytes.count - offset)
                let held = piece.bytes.span.bytes.extracting(cursor - next..<end - next)
                if !held.elementsEqual(payload.extracting(cursor..<end)) { isConflicting = true }
                cursor = end
            }
            index += 1
        }
        return isConflicting
    }

    /// What it carries; nil while a fragment is missing.
    func whole() -> Whole? {
        guard let total else { return nil }
        var bytes: [UInt8] = []
        // Up to where every byte was on the wire, and how many ranges that were cut off begin before that.
        var end = 0
        var passed = 0
        func passCutOff() {
            while passed < cutOff.count, cutOff[passed].lowerBound <= end {
                end = max(end, cutOff[passed].upperBound)
                passed += 1
            }
        }
        for piece in pieces where piece.start < total {
            if piece.start > end { passCutOff() }
            guard piece.start <= end else { return nil }
            if piece.start == bytes.count { bytes += piece.bytes }
            end = max(end, piece.start + piece.bytes.count)
        }
        passCutOff()
        guard end >= total else { return nil }
        return Whole(bytes: bytes.count > total ? Array(bytes.prefix(total)) : bytes, length: total)
    }

    /// Whether it is complete and has this fragment, byte for byte.
    func has(_ payload: RawSpan, at place: FragmentPlace, length: Int) -> Bool {
        let end = place.offset + length
        guard let total, place.hasMore ? end <= total : end == total else { return false }
        var cursor = 0
        for piece in pieces {
            let start = place.offset + cursor - piece.start
            guard cursor < payload.byteCount, start < piece.bytes.count else { continue }
            guard start >= 0 else { return false }
            let count = min(payload.byteCount - cursor, piece.bytes.count - start)
            let held = piece.bytes.span.bytes.extracting(start..<start + count)
            guard held.elementsEqual(payload.extracting(cursor..<cursor + count)) else { return false }
            cursor += count
        }
        return cursor == payload.byteCount
    }
}
