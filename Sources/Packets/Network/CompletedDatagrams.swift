import Streams

/// The IP datagrams that were completed last.
///
/// A packet may be captured twice: on two interfaces, or by two taps. The second copy of a datagram's last fragment must not
/// begin another datagram: the next one with the same identification would take its bytes.
struct CompletedDatagrams {
    private struct Entry {
        var key: Defragmenter.Key
        var number: Int
        var byteCount: Int
    }

    /// How many are remembered, and how many bytes of them.
    private static let most = (datagrams: 1024, bytes: 4 << 20)

    private var datagrams: [Defragmenter.Key: FragmentedDatagram] = [:]
    /// All that were added and not forgotten, in their order; those before `first` are forgotten.
    private var entries: [Entry] = []
    private var first = 0
    private var byteCount = 0

    /// The number of the datagram that has a fragment, byte for byte; nil if there is none.
    ///
    /// - Parameter timeout: how long ago it may have begun.
    func number(
        having payload: RawSpan, at place: FragmentPlace, length: Int, of key: Defragmenter.Key, now: Timestamp,
        timeout: Interval
    ) -> Int? {
        guard let datagram = datagrams[key], now - datagram.started <= timeout,
            datagram.has(payload, at: place, length: length)
        else { return nil }
        return datagram.number
    }

    /// Remembers a datagram.
    ///
    /// - Returns: the numbers of those that are forgotten for it.
    mutating func insert(_ datagram: FragmentedDatagram, _ key: Defragmenter.Key) -> [Int] {
        datagrams[key] = datagram
        entries.append(Entry(key: key, number: datagram.number, byteCount: datagram.byteCount))
        byteCount += datagram.byteCount
        var forgotten: [Int] = []
        while first < entries.count, entries.count - first > Self.most.datagrams || byteCount > Self.most.bytes {
            let entry = entries[first]
            first += 1
            byteCount -= entry.byteCount
            // Another one with the same identification may have been completed since.
            if datagrams[entry.key]?.number == entry.number { datagrams[entry.key] = nil }
            forgotten.append(entry.number)
        }
        if first >= Self.most.datagrams {
            entries.removeFirst(first)
            first = 0
        }
        return forgotten
    }
}
