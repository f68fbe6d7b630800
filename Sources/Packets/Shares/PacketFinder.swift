import Streams

/// Finds the packets of a window: once, instead of once for each share.
struct PacketFinder: PacketReceiver {
    /// The shortest record of a packet of the most common kind; in a pcapng file it is longer.
    private static let shortest = 16 + 54
    /// For how many packets there is room at first: a window that is larger than usual has a long packet, not many.
    private static let most = 1 << 14

    /// What was found.
    private(set) var found = PacketPlaces()
    /// The offset of the window in the file.
    private var origin = 0
    /// The last packet.
    private var last = PacketPlaces.Place()

    /// Begins a window.
    ///
    /// - Parameters:
    ///   - origin: its offset in the file.
    ///   - spare: places whose memory is used again.
    mutating func begin(at origin: Int, reusing spare: inout PacketPlaces) {
        swap(&found, &spare)
        (found.count, found.isOrdered, self.origin) = (0, true, origin)
        last = PacketPlaces.Place()
    }

    /// Ends a window.
    ///
    /// - Parameter places: receives what was found.
    mutating func finish(into places: inout PacketPlaces) { swap(&found, &places) }

    var passesOver: Bool { true }

    /// Takes the next packets, as far as they are of the most common kind.
    @inline(__always)
    mutating func passOver(
        _ window: RawSpan, from at: inout Int, position: Int, runs: inout ForeignRuns?,
        record: (_ at: Int) -> PassedPackets.Record?
    ) -> Int {
        let shift = position &- origin
        addOther(before: at &+ shift)
        found.reserve(min((window.byteCount &- at) / Self.shortest, Self.most) &+ 1)
        // Alone, so that it can be changed without checks for each packet.
        var memory: [PacketPlaces.Place] = []
        swap(&memory, &found.places)
        defer { swap(&memory, &found.places) }
        let first = found.count
        var (count, isOrdered, last) = (first, found.isOrdered, last)
        var places = memory.mutableSpan
        while count < places.count, let record = record(at),
            let common = CommonPacket(in: window, at: record.start, byteCount: record.captured)
        {
            at = record.end
            if record.time < last.time { isOrdered = false }
            last = PacketPlaces.Place(
                end: UInt32(truncatingIfNeeded: at &+ shift),
                byteCount: last.byteCount &+ UInt32(truncatingIfNeeded: record.captured), time: record.time,
                buckets: Self.bucket(common))
            places[unchecked: count] = last
            count &+= 1
        }
        (found.count, found.isOrdered, self.last) = (count, isOrdered, last)
        return count &- first
    }

    /// Takes the next packet: one that is not of the most common kind is everybody's.
    mutating func receive(_ packet: PacketInfo, bytes: RawSpan, options: RawSpan) -> Reception {
        addOther(before: packet.place.lowerBound &- origin)
        last.buckets = .max
        if packet.hasTime {
            if packet.linkType == .ethernet, let common = CommonPacket(bytes) { last.buckets = Self.bucket(common) }
            if packet.time < last.time { found.isOrdered = false }
            last.time = packet.time
        }
        last.end = UInt32(truncatingIfNeeded: packet.place.upperBound &- origin)
        last.byteCount &+= UInt32(truncatingIfNeeded: bytes.byteCount)
        found.append(last)
        return .taken
    }

    mutating func captured(until time: Timestamp) {}

    mutating func parse(
        _ window: RawSpan, isLast: Bool, by parser: inout CaptureParser
    ) throws(CaptureError) -> CaptureParser.Progress {
        try parser.parse(window, isLast: isLast, to: &self)
    }

    /// Adds a place for what lies between the last packet and this offset, such as another block: every thread parses it.
    @inline(__always)
    private mutating func addOther(before start: Int) {
        guard start != Int(last.end) else { return }
        (last.end, last.buckets) = (UInt32(truncatingIfNeeded: start), .max)
        found.append(last)
    }

    @inline(__always)
    private static func bucket(_ packet: CommonPacket) -> UInt64 {
        1 &<< UInt64(truncatingIfNeeded: HostBuckets.bucket(packet.source, packet.destination))
    }
}
