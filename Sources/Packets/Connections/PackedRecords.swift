/// Short records of bytes in pages: a million of them need no allocation each, and leave little room between them.
///
/// The records of a page have one size. A page whose records are all removed is used for any size.
struct PackedRecords {
    /// A page's size in bytes, and what the sizes of records are multiples of.
    private static let (pageSize, unit) = (1 << 16, 4)
    private static var unitsPerPage: Int { pageSize / unit }

    private struct Page {
        /// The size of its records in units.
        var units: Int
        /// How many records it has.
        var count = 0
        /// How many of its units were used, from the start on.
        var used = 0
        /// Where records were removed, in units.
        var free: [UInt16] = []
        /// The content, at its full size from the start.
        var bytes = [UInt8](repeating: 0, count: PackedRecords.pageSize)

        /// Whether there is no room for another record.
        var isFull: Bool { free.isEmpty && used + units > PackedRecords.unitsPerPage }
    }

    private var pages: [Page] = []
    /// The pages that have room, by the sizes of their records in units.
    private var pagesWithRoom: [[Int]] = []
    /// The pages without records.
    private var emptyPages: [Int] = []

    /// How many pages there are.
    var pageCount: Int { pages.count }

    /// Adds a record.
    ///
    /// - Parameter bytes: at most 64 KiB.
    /// - Returns: its place, less than 2³¹ for up to 8 GiB.
    mutating func add(_ bytes: [UInt8]) -> Int {
        precondition(bytes.count <= Self.pageSize, "a record of \(bytes.count) bytes")
        let units = max(1, (bytes.count + Self.unit - 1) / Self.unit)
        let page = page(for: units)
        let start: Int
        if let free = pages[page].free.popLast() {
            start = Int(free)
        } else {
            start = pages[page].used
            pages[page].used += units
        }
        pages[page].count += 1
        if pages[page].isFull { pagesWithRoom[units].removeLast() }
        pages[page].bytes.replaceSubrange(start * Self.unit..<start * Self.unit + bytes.count, with: bytes)
        return page * Self.unitsPerPage + start
    }

    /// The bytes of a record, and perhaps some after them.
    subscript(place: Int) -> [UInt8] {
        let (page, start) = Self.position(place)
        return Array(pages[page].bytes[start * Self.unit..<(start + pages[page].units) * Self.unit])
    }

    /// Removes a record.
    mutating func remove(_ place: Int) {
        let (page, start) = Self.position(place)
        let (units, wasFull) = (pages[page].units, pages[page].isFull)
        pages[page].count -= 1
        guard pages[page].count > 0 else {
            pagesWithRoom[units].removeAll { $0 == page }
            emptyPages.append(page)
            return
        }
        pages[page].free.append(UInt16(start))
        if wasFull { pagesWithRoom[units].append(page) }
    }

    /// A page with room for a record: the last of `pagesWithRoom`.
    private mutating func page(for units: Int) -> Int {
        while pagesWithRoom.count <= units { pagesWithRoom.append([]) }
        if let page = pagesWithRoom[units].last { return page }
        let page: Int
        if let empty = emptyPages.popLast() {
            page = empty
            (pages[page].units, pages[page].used, pages[page].free) = (units, 0, [])
        } else {
            page = pages.count
            pages.append(Page(units: units))
        }
        pagesWithRoom[units].append(page)
        return page
    }

    private static func position(_ place: Int) -> (page: Int, start: Int) {
        (place / unitsPerPage, place % unitsPerPage)
    }
}
