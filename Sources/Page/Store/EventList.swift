import Platform
import Streams

/// An event in the list of its connection: what the time line needs.
struct ListEntry: BitwiseCopyable, Sendable {
    var time: Int64
    var event: UInt32
    private var info: UInt32

    static let size = MemoryLayout<ListEntry>.stride

    init(_ record: EventRecord, event: UInt32) {
        (time, self.event) = (record.time, event)
        info =
            UInt32(record.rawKind) | UInt32(record.rawSide) << 4 | UInt32(record.rawLeg) << 6
            | (record.isHeartbeat ? 1 << 8 : 0) | record.name << 12
    }

    var kind: EventRecord.Kind { EventRecord.Kind(rawValue: UInt8(info & 15)) ?? .trace }
    /// 0 without a side, 1 from the client, 2 from the server.
    var rawSide: UInt8 { UInt8(info >> 4 & 3) }
    /// 0 without a leg, 1 in, 2 out.
    var rawLeg: UInt8 { UInt8(info >> 6 & 3) }
    var isHeartbeat: Bool { info & 1 << 8 != 0 }
    /// The number of its name; see `NameTable`.
    var name: UInt32 { info >> 12 }
}

/// The events of a connection, in order: the last few in memory, the others in blocks of a file that all connections share.
struct EventList: Sendable {
    /// Where each block is.
    private var blocks: [Int64] = []
    /// The latest time of all entries up to the end of each block.
    private var latest: [Int64] = []
    private var pending: [ListEntry] = []

    /// How many entries a block has.
    static let blockSize = 64

    /// How many there are.
    var count: Int { blocks.count * Self.blockSize + pending.count }

    /// Adds an event.
    ///
    /// - Parameters:
    ///   - file: the file of blocks.
    ///   - end: where it ends.
    mutating func append(_ entry: ListEntry, to file: TemporaryFile, _ end: inout Int64) {
        if pending.count == Self.blockSize {
            // One that cannot be written is read as zeros, which are events of no kind.
            _ = file.write(pending.withUnsafeBytes { Array($0) }, at: end)
            blocks.append(end)
            latest.append(pending.reduce(latest.last ?? .min) { max($0, $1.time) })
            end += Int64(Self.blockSize * ListEntry.size)
            pending.removeAll(keepingCapacity: true)
        }
        pending.append(entry)
    }

    /// Calls `use` with the entries from a place on, some at a time, until it returns false.
    func read(from place: Int, in file: TemporaryFile, _ use: (_ place: Int, _ entries: [ListEntry]) -> Bool) {
        var place = max(0, place)
        while place < blocks.count * Self.blockSize {
            var block = place / Self.blockSize
            let first = block
            let size = Int64(Self.blockSize * ListEntry.size)
            while block + 1 < blocks.count, block - first < 63, blocks[block + 1] == blocks[block] + size { block += 1 }
            let bytes = file.read((block - first + 1) * Int(size), at: blocks[first])
            let skipped = place - first * Self.blockSize
            let entries = bytes.withUnsafeBytes { raw in
                (skipped..<max(skipped, raw.count / ListEntry.size)).map {
                    raw.loadUnaligned(fromByteOffset: $0 * ListEntry.size, as: ListEntry.self)
                }
            }
            if entries.isEmpty || !use(place, entries) { return }
            place += entries.count
        }
        let start = place - blocks.count * Self.blockSize
        if start < pending.count { _ = use(place, Array(pending[start...])) }
    }

    /// A place that no entry at a time, or later, is in front of. Entries need not be in order of time: findings are not.
    func start(of time: Int64) -> Int {
        var (low, high) = (0, latest.count)
        while low < high {
            let middle = (low + high) / 2
            if latest[middle] < time { low = middle + 1 } else { high = middle }
        }
        return low * Self.blockSize
    }

    /// The entry at a place; nil beyond the last one.
    func entry(_ place: Int, in file: TemporaryFile) -> ListEntry? {
        if place >= blocks.count * Self.blockSize {
            let start = place - blocks.count * Self.blockSize
            return start < pending.count ? pending[start] : nil
        }
        guard place >= 0 else { return nil }
        let at = blocks[place / Self.blockSize] + Int64(place % Self.blockSize * ListEntry.size)
        let bytes = file.read(ListEntry.size, at: at)
        guard bytes.count == ListEntry.size else { return nil }
        return bytes.withUnsafeBytes { $0.loadUnaligned(as: ListEntry.self) }
    }

    /// The place of the first entry that is not before an event.
    func place(of event: UInt32, in file: TemporaryFile) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if (entry(middle, in: file)?.event ?? .max) < event { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
