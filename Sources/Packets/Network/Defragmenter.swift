import DequeModule
import Streams

/// Reassembles fragmented IP datagrams.
///
/// Source: RFC 791 section 3.2, RFC 8200 section 4.5. Where fragments overlap the first copy wins; RFC 5722 has IPv6 drop the
/// datagram, but a capture shows what a host may have accepted. An identification may be used again while a fragment of the
/// datagram before is missing (RFC 4963): the last copies win if only they have TCP's checksum right.
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

    /// What the fragments of a datagram have in common.
    struct Key: Hashable {
        fileprivate var source: IPAddress
        fileprivate var destination: IPAddress
        fileprivate var identification: UInt32
        /// 0 for IPv6, where the fragments may name different ones (RFC 8200 section 4.5).
        fileprivate var protocolNumber: UInt8
    }

    private var datagrams: [Key: FragmentedDatagram] = [:]
    /// The keys of those, in the order in which they began; of some that are over, too.
    private var order = Deque<(number: Int, key: Key)>()
    private var completed = CompletedDatagrams()
    private let limits = Limits()
    private var begun = 0
    private var abandonedNumbers: [Int] = []
    private var forgottenNumbers: [Int] = []

    /// Whether numbers are kept for `takeAbandoned` and `takeForgotten`.
    var notesNumbers = false
    /// The number of the datagram that the last fragment was added to, or that has a copy of it; nil if it is part of none.
    private(set) var latest: Int?
    /// How many datagrams were abandoned because of a timeout or a limit.
    private(set) var abandoned = 0
    /// How many fragments those had.
    private(set) var lost = 0
    /// How many fragments differ from an earlier one covering the same bytes.
    private(set) var conflicts = 0

    /// Takes a fragment. A copy of one whose datagram was completed lately is ignored.
    ///
    /// - Parameters:
    ///   - payload: the captured part of what it carries.
    ///   - length: how long that was on the wire.
    /// - Returns: the payload of the datagram, once it is complete.
    mutating func add(
        _ payload: RawSpan, at place: FragmentPlace, length: Int, protocolNumber: UInt8, from source: IPAddress,
        to destination: IPAddress, now: Timestamp
    ) -> FragmentedDatagram.Whole? {
        let key = Key(
            source: source, destination: destination, identification: place.identification,
            protocolNumber: source.isIPv4 ? protocolNumber : 0)
        if let known = datagrams[key], now - known.started > limits.timeout { abandon(key) }
        // Nothing longer than 64 KiB can be a datagram.
        guard place.offset + length <= 65_535 else {
            lost += 1
            latest = nil
            return nil
        }
        if datagrams[key] == nil {
            latest = completed.number(
                having: payload, at: place, length: length, of: key, now: now, timeout: limits.timeout)
            if latest != nil { return nil }
            if datagrams.count >= limits.datagrams { makeRoom(now) }
        }
        var datagram = datagrams.removeValue(forKey: key) ?? begin(key, now)
        latest = datagram.number
        if datagram.add(payload, at: place, length: length, protocolNumber: protocolNumber) { conflicts += 1 }
        if var whole = datagram.whole() {
            if let latest = datagram.latestWhole(), !Self.hasRightChecksum(whole, from: source, to: destination),
                Self.hasRightChecksum(latest, from: source, to: destination)
            {
                datagram.preferLatest()
                whole = latest
            }
            let forgotten = completed.insert(datagram, key)
            if notesNumbers { forgottenNumbers += forgotten }
            return whole
        }
        guard datagram.rangeCount <= limits.fragments else {
            count(abandoned: datagram)
            return nil
        }
        datagrams[key] = datagram
        return nil
    }

    /// Whether a datagram is a TCP segment whose checksum is right.
    private static func hasRightChecksum(
        _ whole: FragmentedDatagram.Whole, from source: IPAddress, to destination: IPAddress
    ) -> Bool {
        let datagram = whole.bytes.span.bytes
        guard whole.cutOff == 0,
            let inner = IPv6Extensions.pass(datagram, first: whole.protocolNumber, isIPv4: source.isIPv4),
            inner.protocolNumber == IPProtocol.tcp
        else { return false }
        let bytes = datagram.extracting(inner.start..<datagram.byteCount)
        guard let segment = TCPSegment(bytes, length: bytes.byteCount, from: source, to: destination) else {
            return false
        }
        return segment.hasRightChecksum(bytes, length: bytes.byteCount)
    }

    private mutating func begin(_ key: Key, _ now: Timestamp) -> FragmentedDatagram {
        begun += 1
        if order.count > 4 * limits.datagrams { order.removeAll { datagrams[$0.key]?.number != $0.number } }
        order.append((begun, key))
        return FragmentedDatagram(number: begun, started: now)
    }

    /// The numbers of the datagrams that were abandoned since the last call.
    mutating func takeAbandoned() -> [Int] {
        defer { abandonedNumbers = [] }
        return abandonedNumbers
    }

    /// The numbers of the completed datagrams that were forgotten since the last call: no copy of a fragment is known as theirs
    /// any more.
    mutating func takeForgotten() -> [Int] {
        defer { forgottenNumbers = [] }
        return forgottenNumbers
    }

    private mutating func count(abandoned datagram: FragmentedDatagram) {
        abandoned += 1
        lost += datagram.fragments
        if notesNumbers { abandonedNumbers.append(datagram.number) }
    }

    /// How many fragments wait for others.
    var waiting: Int { datagrams.values.reduce(0) { $0 + $1.fragments } }

    private mutating func abandon(_ key: Key) {
        guard let datagram = datagrams.removeValue(forKey: key) else { return }
        count(abandoned: datagram)
    }

    /// Abandons datagrams that timed out, or else the oldest, in the order in which they began.
    private mutating func makeRoom(_ now: Timestamp) {
        while let (number, key) = order.first {
            if let datagram = datagrams[key], datagram.number == number {
                guard now - datagram.started > limits.timeout || datagrams.count >= limits.datagrams else { return }
                abandon(key)
            }
            order.removeFirst()
        }
    }
}
