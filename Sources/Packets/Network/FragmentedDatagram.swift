import Streams

/// The fragments of an IP datagram that arrived.
struct FragmentedDatagram {
    /// What a datagram carries, once all its fragments have arrived.
    struct Whole {
        /// The bytes up to the first one that was not captured.
        var bytes: [UInt8]
        /// How many bytes it had on the wire.
        var length: Int
        /// What they are: the protocol that its first fragment names.
        var protocolNumber: UInt8

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
    /// What it carries, once its first fragment has arrived.
    private var protocolNumber: UInt8?
    /// Its bytes if the last copy of each counts; nil while all copies are alike.
    private var latest: [UInt8]?

    /// A datagram of which nothing has arrived.
    init(number: Int, started: Timestamp) { (self.number, self.started) = (number, started) }

    /// How many ranges of bytes are kept.
    var rangeCount: Int { pieces.count + cutOff.count }

    /// How many bytes are kept.
    var byteCount: Int { pieces.reduce(latest?.count ?? 0) { $0 + $1.bytes.count } }

    /// Adds a fragment. Of bytes that are present already, the first copy counts.
    ///
    /// - Parameters:
    ///   - payload: the captured part of it.
    ///   - length: how long it was on the wire.
    ///   - number: the protocol that it names; that of the first fragment counts (RFC 8200 section 4.5).
    /// - Returns: whether it differs from an earlier one that has the same bytes.
    mutating func add(
        _ payload: RawSpan, at place: FragmentPlace, length: Int, protocolNumber number: UInt8
    ) -> Bool {
        fragments += 1
        if place.offset == 0, protocolNumber == nil { protocolNumber = number }
        let end = place.offset + length
        if !place.hasMore, total == nil { total = end }
        let captured = place.offset + payload.byteCount
        if captured < end, !cutOff.contains(captured..<end) {
            let index = cutOff.firstIndex { $0.lowerBound > captured } ?? cutOff.count
            cutOff.insert(captured..<end, at: index)
        }
        let isConflicting = insert(payload, at: place.offset)
        if isConflicting || latest != nil { overwrite(payload, at: place.offset) }
        return isConflicting
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

    /// Adds a copy to `latest`, which begins as what is present.
    private mutating func overwrite(_ payload: RawSpan, at offset: Int) {
        let isFirst = latest == nil
        var bytes = latest ?? []
        latest = nil  // so that the bytes are changed in place
        let end = max(pieces.last.map { $0.start + $0.bytes.count } ?? 0, offset + payload.byteCount)
        if bytes.count < end { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
        if isFirst {
            for piece in pieces {
                bytes.replaceSubrange(piece.start..<piece.start + piece.bytes.count, with: piece.bytes)
            }
        }
        bytes.replaceSubrange(offset..<offset + payload.byteCount, with: payload.copied())
        latest = bytes
    }

    /// What it carries if the last copy of each byte counts; nil if all copies are alike, or bytes are missing.
    func latestWhole() -> Whole? {
        guard let latest, cutOff.isEmpty, let first = whole(), latest.count >= first.length else { return nil }
        return Whole(
            bytes: Array(latest.prefix(first.length)), length: first.length, protocolNumber: first.protocolNumber)
    }

    /// From now on, the last copy of each byte counts.
    mutating func preferLatest() {
        guard let latest else { return }
        pieces = [(0, latest)]
        self.latest = nil
    }

    /// What it carries; nil while a fragment is missing.
    func whole() -> Whole? {
        guard let total, let protocolNumber, isComplete(upTo: total) else { return nil }
        var bytes: [UInt8] = []
        for piece in pieces where piece.start < total && piece.start == bytes.count { bytes += piece.bytes }
        return Whole(
            bytes: bytes.count > total ? Array(bytes.prefix(total)) : bytes, length: total,
            protocolNumber: protocolNumber)
    }

    /// Whether every byte up to an end was on the wire, captured or not.
    private func isComplete(upTo total: Int) -> Bool {
        // Up to where that is known, and how many ranges that were cut off begin before that.
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
            guard piece.start <= end else { return false }
            end = max(end, piece.start + piece.bytes.count)
        }
        passCutOff()
        return end >= total
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
