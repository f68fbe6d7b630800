import Streams

/// Where the packets of a window of a capture file are, and between which hosts.
struct PacketPlaces: Sendable {
    /// A packet. Small, since a window has thousands.
    struct Place: Hashable, Sendable {
        /// Where the packet's record or block ends, in the window.
        var end: UInt32 = 0
        /// How many bytes were captured of the packets up to this one.
        var byteCount: UInt32 = 0
        /// When the packet was captured.
        var time = Timestamp(nanoseconds: .min)
        /// The bucket of its hosts (`HostBuckets`), a bit; all of them for what every thread has to receive.
        var buckets = UInt64.max
    }

    /// What there is room for, in order; `count` are used.
    var places: [Place] = []
    var count = 0
    /// Whether no packet is earlier than the one before.
    var isOrdered = true

    /// Makes room for more.
    mutating func reserve(_ more: Int) {
        let missing = count + more - places.count
        if missing > 0 { places.append(contentsOf: repeatElement(Place(), count: missing)) }
    }

    /// Adds one.
    mutating func append(_ place: Place) {
        reserve(1)
        places[count] = place
        count += 1
    }
}

/// Packets of other shares that follow one another, none earlier than the one before: a thread passes over them at once.
package struct ForeignRuns: Sendable {
    /// A run.
    struct Run: Hashable, Sendable {
        /// Where the last packet ends, in the window.
        var end: Int
        /// How many packets it has.
        var count: Int
        /// How many bytes of them were captured.
        var byteCount: Int
        /// When the last was captured.
        var time: Timestamp
    }

    private let packets: PacketPlaces
    /// The offset of the window in the file.
    let origin: Int
    /// The first packet that may not be passed yet.
    private var next = 0

    /// - Parameters:
    ///   - packets: those of a window, in order of time.
    ///   - origin: the offset of the window in the file.
    init(in packets: PacketPlaces, origin: Int) { (self.packets, self.origin) = (packets, origin) }

    /// The run that begins at an offset in the file, no smaller one than before; nil if the next packet has to be received, or
    /// something else is next.
    @inline(__always)
    mutating func run(at offset: Int, exceptOf share: CaptureShare) -> Run? {
        let found = find(offset &- origin, exceptOf: share)
        next = found.first
        return found.run
    }

    /// A run was passed over: the last one.
    @inline(__always)
    mutating func pass(_ run: Run) { next &+= run.count }

    /// Which packet begins at an offset in the window, and the run that begins with it.
    @inline(__always)
    private func find(_ offset: Int, exceptOf share: CaptureShare) -> (first: Int, run: Run?) {
        let (places, count) = (packets.places.span, packets.count)
        var place = next
        while place < count, Int(places[unchecked: place].end) <= offset { place &+= 1 }
        let first = place
        while place < count, !share.hasAny(of: places[unchecked: place].buckets) { place &+= 1 }
        guard place > first else { return (first, nil) }
        let last = places[unchecked: place &- 1]
        let before = first > 0 ? places[unchecked: first &- 1].byteCount : 0
        return (
            first,
            Run(end: Int(last.end), count: place &- first, byteCount: Int(last.byteCount &- before), time: last.time)
        )
    }
}
