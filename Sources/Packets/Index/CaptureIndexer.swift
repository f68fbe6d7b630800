import Streams

/// Makes an index of a capture: where the packets of each connection are.
///
/// Memory is bounded: a connection whose packets are in many places has several records, and so has one that pauses while there are
/// very many others. The index is bounded, too: where it would become large, packets with more in between share an extent.
package struct CaptureIndexer: PacketReceiver {
    /// A connection that may have more packets.
    private struct Entry {
        var connection: IndexedConnection
        var runs = ExtentRuns()
        /// The place that dates the last packet, if that has no time; it is among the runs.
        private var dating = 0..<0
        /// Counts uses of all entries.
        var lastUse = 0

        init(_ connection: IndexedConnection) { self.connection = connection }

        /// Adds the place of a packet, and once that of the packet that dates it and those after it.
        mutating func add(_ place: Range<Int>, dating: Range<Int>, joining gap: Int) {
            if self.dating != dating {
                self.dating = dating
                runs.add(dating, joining: gap)
            }
            runs.add(place, joining: gap)
        }

        /// Forgets all places.
        mutating func empty() {
            runs.empty()
            dating = 0..<0
        }
    }

    /// Fragments that wait for the rest of their datagram.
    private struct Held {
        var runs = ExtentRuns()
        var packets = 0
        var lastPlace = 0
        var times: ClosedRange<Timestamp>
    }

    /// How much memory an entry takes, and an extent, approximately.
    private static let entryCost = 256
    private static let extentCost = 16
    /// The most that may lie in between packets that share an extent.
    private static let mostGap = 256 << 10

    private var entries: [ConnectionEnds: Entry] = [:]
    private var cost = 0
    private let memoryLimit: Int
    private var uses = 0
    /// Places that are read in any case.
    private var places = ExtentRuns()
    private var finder = FlowFinder(limit: .max)
    private var held: [Int: Held] = [:]
    /// With how many bytes in between packets of a connection share an extent.
    private var gap = 4_096
    private var time = Timestamp(nanoseconds: 0)
    /// The place of the last packet that had a time.
    private var timedPlace = 0..<0
    /// The chunk of connections that is being written, and that of what everybody reads.
    private var connections = IndexChunkWriter()
    private var others = IndexChunkWriter()
    private var output: [UInt8] = []
    private var extentCount = 0

    /// What the index says of the whole capture.
    package private(set) var end = IndexEnd()

    /// An indexer that has seen nothing.
    ///
    /// - Parameter memoryLimit: how many bytes connections may take, as they are counted, before those that pause are written: the
    ///   process takes several times as much.
    package init(memoryLimit: Int = 64 << 20) { self.memoryLimit = memoryLimit }

    /// What is to be appended to the index file, after its header.
    package mutating func takeOutput() -> [UInt8] {
        defer { output = [] }
        return output
    }

    /// Anything but packets is read in any case.
    package mutating func passed(_ block: CaptureBlock, body: RawSpan) {
        end.readable = max(end.readable, block.place.upperBound)
        places.add(block.place, joining: 0)
        if places.extents.count >= IndexFormat.mostExtents { writePlaces() }
    }

    /// The next packet.
    package mutating func receive(_ packet: PacketInfo, bytes: RawSpan, options: RawSpan) -> Reception {
        end.packets += 1
        end.readable = max(end.readable, packet.place.upperBound)
        if packet.hasTime {
            let now = packet.time
            time = now
            timedPlace = packet.place
            end.times = end.times.map { $0.including(now) } ?? now...now
        }
        // A packet without a time gets that of the one before it, which is read with it.
        let dating = packet.hasTime ? 0..<0 : timedPlace
        let found = finder.find(packet, bytes)
        for settled in finder.takeSettled() { settle(settled) }
        take(found, packet.place, dating: dating)
        for other in finder.others { take(other, packet.place, dating: dating) }
        return .taken
    }

    /// What a packet belongs to has it.
    private mutating func take(_ found: FlowFinder.Found, _ place: Range<Int>, dating: Range<Int>) {
        switch found {
        case .segment(let segment): take(segment, place, dating: dating)
        case .part(let ends):
            use(ends) { entry, gap in
                entry.connection.packets += 1
                entry.connection.lastPlace = place.lowerBound
                entry.add(place, dating: dating, joining: gap)
            }
        case .waiting(let datagram):
            var fragments = held[datagram] ?? Held(times: time...time)
            fragments.packets += 1
            fragments.lastPlace = place.lowerBound
            fragments.times = fragments.times.including(time)
            fragments.runs.add(dating, joining: gap)
            fragments.runs.add(place, joining: gap)
            fragments.runs.coarsen(to: IndexFormat.mostExtents)
            held[datagram] = fragments
        case .other, .nothing: break
        }
    }

    /// The capture may say until when it was made: its statistics are read in any case.
    package mutating func captured(until time: Timestamp) {}

    /// There are no more packets: the rest of the index is in `takeOutput`.
    ///
    /// - Parameter size: how many bytes the capture has, if it could be read to its end.
    package mutating func finish(size: Int?) {
        if let size { end.readable = size }
        write(Array(entries.values))
        entries = [:]
        for (_, fragments) in held.sorted(by: { $0.key < $1.key }) { readInAnyCase(fragments) }
        held = [:]
        closeConnections(connections.close())
        writePlaces()
        output += others.add(.end(end))
        output += others.close()
    }

    // MARK: Connections

    private mutating func take(_ segment: TCPSegment, _ place: Range<Int>, dating: Range<Int>) {
        let ends = ConnectionEnds(segment.source, segment.destination)
        use(ends) { entry, gap in
            entry.connection.packets += 1
            entry.connection.payload += segment.payloadLength
            entry.connection.lastPlace = place.lowerBound
            entry.add(place, dating: dating, joining: gap)
            // A SYN begins another connection between the same ends.
            if segment.flags.contains(.syn) { entry.connection.ending = [] }
            if segment.flags.contains(.rst) { entry.connection.ending.insert(.reset) }
            if segment.flags.contains(.fin) {
                entry.connection.ending.insert(
                    segment.source.unmapped == ends.lower ? .lowerFinished : .upperFinished)
            }
        }
    }

    /// Fragments that waited belong to a connection; those of datagrams that stay incomplete to none that is known.
    private mutating func settle(_ settled: FlowFinder.Settled) {
        guard let fragments = held.removeValue(forKey: settled.datagram) else { return }
        switch settled.found {
        case .waiting(let datagram):
            guard var others = held[datagram] else {
                held[datagram] = fragments
                return
            }
            others.packets += fragments.packets
            others.lastPlace = max(others.lastPlace, fragments.lastPlace)
            others.times = others.times.including(fragments.times.lowerBound).including(fragments.times.upperBound)
            others.runs.add(fragments.runs, joining: gap)
            others.runs.coarsen(to: IndexFormat.mostExtents)
            held[datagram] = others
        case .part(let ends):
            use(ends) { entry, gap in
                entry.connection.packets += fragments.packets
                entry.connection.lastPlace = max(entry.connection.lastPlace, fragments.lastPlace)
                entry.connection.first = min(entry.connection.first, fragments.times.lowerBound)
                entry.connection.last = max(entry.connection.last, fragments.times.upperBound)
                entry.runs.add(fragments.runs, joining: gap)
            }
        case .segment, .other, .nothing: readInAnyCase(fragments)
        }
    }

    /// The rest of a datagram that is incomplete here may be in another capture.
    private mutating func readInAnyCase(_ fragments: Held) {
        places.add(fragments.runs, joining: 0)
        if places.extents.count >= IndexFormat.mostExtents { writePlaces() }
    }

    /// Changes a connection's entry, which there is from then on, and counts its time.
    private mutating func use(_ ends: ConnectionEnds, _ change: (inout Entry, _ gap: Int) -> Void) {
        let index: Dictionary<ConnectionEnds, Entry>.Index
        if let known = entries.index(forKey: ends) {
            index = known
        } else {
            entries[ends] = Entry(IndexedConnection(ends, at: time))
            end.connections += 1
            cost += Self.entryCost
            guard let added = entries.index(forKey: ends) else { return }
            index = added
        }
        uses += 1
        let before = entries.values[index].runs.extents.count
        entries.values[index].lastUse = uses
        entries.values[index].connection.first = min(entries.values[index].connection.first, time)
        entries.values[index].connection.last = max(entries.values[index].connection.last, time)
        change(&entries.values[index], gap)
        let after = entries.values[index].runs.extents.count
        cost += (after - before) * Self.extentCost
        if after >= IndexFormat.mostExtents {
            cost -= after * Self.extentCost
            var full = entries.values[index]
            full.connection.ending.insert(.continues)
            entries.values[index].connection.packets = 0
            entries.values[index].connection.payload = 0
            entries.values[index].connection.first = time
            entries.values[index].connection.last = time
            entries.values[index].empty()
            write([full])
        }
        if cost > memoryLimit { writePausing() }
    }

    /// Writes the half of the entries that have not been used for the longest.
    private mutating func writePausing() {
        let uses = entries.values.map(\.lastUse).sorted()
        guard !uses.isEmpty else { return }
        let median = uses[uses.count / 2]
        write(entries.values.filter { $0.lastUse <= median })
        entries = entries.filter { $0.value.lastUse > median }
        cost = entries.values.reduce(0) { $0 + Self.entryCost + $1.runs.extents.count * Self.extentCost }
    }

    // MARK: Records

    private mutating func write(_ entries: [Entry]) {
        for entry in entries.sorted(by: { $0.lastUse < $1.lastUse }) {
            var connection = entry.connection
            connection.extents = entry.runs.extents
            extentCount += connection.extents.count
            closeConnections(connections.add(.connection(connection)))
        }
    }

    private mutating func writePlaces() {
        guard !places.extents.isEmpty else { return }
        output += others.add(.places(places.extents))
        places.empty()
    }

    /// After a record was added: a chunk may be complete.
    private mutating func closeConnections(_ chunk: [UInt8]) {
        guard !chunk.isEmpty else { return }
        output += chunk
        // An extent takes about four bytes: more of them would be much to read.
        if extentCount > end.readable / 256, gap < Self.mostGap { gap *= 2 }
    }
}

extension ClosedRange<Timestamp> {
    /// The range, longer if need be, with an instant in it.
    fileprivate func including(_ time: Timestamp) -> ClosedRange<Timestamp> {
        Swift.min(lowerBound, time)...Swift.max(upperBound, time)
    }
}
