/// Short records of bytes in pages: a million of them need no allocation each, and leave little room between them.
///
/// The records of a page have one size. One that is removed makes room for another of the same size.
struct PackedRecords {
    /// A page's size in bytes, and what the sizes of records are multiples of.
    private static let (page, unit) = (1 << 16, 4)

    private struct Page {
        /// The size of its records in units.
        let units: Int
        /// The content, at its full size from the start.
        var bytes = [UInt8](repeating: 0, count: PackedRecords.page)
    }

    /// The records of one size.
    private struct Size {
        /// The places of those that were removed.
        var free: [UInt32] = []
        /// Where the next one goes, in the last page, and the end of that page.
        var (next, end) = (0, 0)
    }

    private var pages: [Page] = []
    private var sizes: [Size] = []

    /// Adds a record.
    ///
    /// - Parameter bytes: at most 64 KiB.
    /// - Returns: its place, less than 2³¹.
    mutating func add(_ bytes: [UInt8]) -> Int {
        let units = max(1, (bytes.count + Self.unit - 1) / Self.unit)
        precondition(bytes.count <= Self.page, "a record of \(bytes.count) bytes")
        while sizes.count <= units { sizes.append(Size()) }
        let place = sizes[units].free.popLast().map { Int($0) } ?? newPlace(units)
        let (page, start) = Self.position(place)
        pages[page].bytes.replaceSubrange(start..<start + bytes.count, with: bytes)
        return place
    }

    /// The bytes of a record, and perhaps some behind them.
    subscript(place: Int) -> [UInt8] {
        let (page, start) = Self.position(place)
        return Array(pages[page].bytes[start..<start + pages[page].units * Self.unit])
    }

    /// Removes a record.
    mutating func remove(_ place: Int) { sizes[pages[Self.position(place).page].units].free.append(UInt32(place)) }

    private mutating func newPlace(_ units: Int) -> Int {
        if sizes[units].next + units > sizes[units].end {
            let perPage = Self.page / Self.unit
            (sizes[units].next, sizes[units].end) = (pages.count * perPage, (pages.count + 1) * perPage)
            pages.append(Page(units: units))
        }
        defer { sizes[units].next += units }
        return sizes[units].next
    }

    private static func position(_ place: Int) -> (page: Int, start: Int) {
        (place * unit / page, place * unit % page)
    }
}
