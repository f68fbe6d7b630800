import Streams

/// Reassembles fragmented IP datagrams.
///
/// Source: RFC 791 section 3.2, RFC 8200 section 4.5. Where fragments overlap the first copy wins; RFC 5722 has IPv6 drop the
/// datagram, but a capture shows what a host may have accepted.
struct Defragmenter {
    /// Limits of memory and time.
    struct Limits {
        /// How many datagrams may be incomplete at once.
        var datagrams = 1024
        /// How many fragments one may have.
        var fragments = 8192 / 8
        /// How long a datagram may take, in capture time (RFC 1122 section 3.3.2: 60 to 120 s; Linux: 30 s).
        var timeout = Interval(nanoseconds: 60_000_000_000)
    }

    private struct Key: Hashable {
        var source: IPAddress
        var destination: IPAddress
        var identification: UInt32
        var protocolNumber: UInt8
    }

    fileprivate struct Datagram {
        /// Counts datagrams from 1 in the order in which they began.
        var number: Int
        var started: Timestamp
        var pieces: [(start: Int, bytes: [UInt8])] = []
        /// How many of its fragments arrived.
        var fragments = 0
        var total: Int?
    }

    private var datagrams: [Key: Datagram] = [:]
    private let limits = Limits()
    private var begun = 0
    private var abandonedNumbers: [Int] = []

    /// Whether the numbers of abandoned datagrams are kept for `takeAbandoned`.
    var notesAbandoned = false
    /// The number of the datagram that the last fragment was added to; nil if it is part of none.
    private(set) var latest: Int?
    /// How many datagrams were abandoned because of a timeout or a limit.
    private(set) var abandoned = 0
    /// How many fragments those had.
    private(set) var lost = 0
    /// How many fragments differ from an earlier one covering the same bytes.
    private(set) var conflicts = 0

    /// Takes a fragment.
    ///
    /// - Returns: the payload of the datagram, once it is complete.
    mutating func add(
        _ payload: RawSpan, at place: FragmentPlace, protocolNumber: UInt8, from source: IPAddress,
        to destination: IPAddress, now: Timestamp
    ) -> [UInt8]? {
        let key = Key(
            source: source, destination: destination, identification: place.identification,
            protocolNumber: protocolNumber)
        if let known = datagrams[key], now - known.started > limits.timeout { abandon(key) }
        if datagrams[key] == nil, datagrams.count >= limits.datagrams { makeRoom(now) }
        // Nothing longer than 64 KiB can be a datagram.
        guard place.offset + payload.byteCount <= 65_535 else {
            lost += 1
            latest = nil
            return nil
        }
        var datagram = datagrams.removeValue(forKey: key) ?? begin(now)
        latest = datagram.number
        datagram.fragments += 1
        if !place.hasMore, datagram.total == nil { datagram.total = place.offset + payload.byteCount }
        insert(payload, at: place.offset, into: &datagram)
        if let whole = datagram.whole() { return whole }
        guard datagram.pieces.count <= limits.fragments else {
            count(abandoned: datagram)
            return nil
        }
        datagrams[key] = datagram
        return nil
    }

    private mutating func begin(_ now: Timestamp) -> Datagram {
        begun += 1
        return Datagram(number: begun, started: now)
    }

    /// The numbers of the datagrams that were abandoned since the last call.
    mutating func takeAbandoned() -> [Int] {
        defer { abandonedNumbers = [] }
        return abandonedNumbers
    }

    private mutating func count(abandoned datagram: Datagram) {
        abandoned += 1
        lost += datagram.fragments
        if notesAbandoned { abandonedNumbers.append(datagram.number) }
    }

    /// How many fragments wait for others.
    var waiting: Int { datagrams.values.reduce(0) { $0 + $1.fragments } }

    private mutating func abandon(_ key: Key) {
        guard let datagram = datagrams.removeValue(forKey: key) else { return }
        count(abandoned: datagram)
    }

    /// Keeps the bytes not present yet.
    private mutating func insert(_ payload: RawSpan, at offset: Int, into datagram: inout Datagram) {
        var isConflicting = false
        defer { if isConflicting { conflicts += 1 } }
        var cursor = 0
        var index = datagram.pieces.firstIndex { $0.start + $0.bytes.count > offset } ?? datagram.pieces.count
        while cursor < payload.byteCount {
            let next = index < datagram.pieces.count ? datagram.pieces[index].start - offset : .max
            if cursor < next {
                let end = min(next, payload.byteCount)
                datagram.pieces.insert((offset + cursor, payload.copied(cursor..<end)), at: index)
                cursor = end
                index += 1
            } else {
                let piece = datagram.pieces[index]
                let end = min(payload.byteCount, piece.start + piece.bytes.count - offset)
                let held = piece.bytes.span.bytes.extracting(cursor - next..<end - next)
                if !held.elementsEqual(payload.extracting(cursor..<end)) { isConflicting = true }
                cursor = end
                index += 1
            }
        }
    }

    /// Abandons datagrams that timed out, or else the oldest: in the order in which they began, since that of a dictionary differs
    /// from run to run.
    private mutating func makeRoom(_ now: Timestamp) {
        let late = datagrams.filter { now - $0.value.started > limits.timeout }
        for (key, _) in late.sorted(by: { $0.value.number < $1.value.number }) { abandon(key) }
        if datagrams.count >= limits.datagrams,
            let oldest = datagrams.min(by: {
                ($0.value.started, $0.value.number) < ($1.value.started, $1.value.number)
            })?.key
        {
            abandon(oldest)
        }
    }
}

extension Defragmenter.Datagram {
    /// All bytes, if none is missing.
    fileprivate func whole() -> [UInt8]? {
        guard let total else { return nil }
        var bytes: [UInt8] = []
        for piece in pieces where piece.start < total {
            guard piece.start == bytes.count else { return nil }
            bytes += piece.bytes
        }
        return bytes.count >= total ? Array(bytes.prefix(total)) : nil
    }
}
