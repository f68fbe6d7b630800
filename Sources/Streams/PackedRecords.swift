/// Short records of bytes in pages: a million of them need no allocation each, and leave little room between them.
///
/// A record that is removed makes room for another of the same size.
struct PackedRecords {
    /// A page's size in bytes. A record begins at a multiple of `unit`, with its size in units as two bytes.
    private static let page = 1 << 16
    private static let unit = 8

    private var pages: [[UInt8]] = []
    /// How many units of the pages were used.
    private var used = 0
    /// The places of records that were removed, by their sizes in units.
    private var free: [[UInt32]] = []

    /// None yet.
    init() {}

    /// How many bytes the pages take.
    var memory: Int { pages.count * Self.page }

    /// Adds a record.
    ///
    /// - Parameter bytes: less than 64 KiB.
    /// - Returns: its place, in units; less than 2³¹.
    mutating func add(_ bytes: [UInt8]) -> Int {
        let units = (bytes.count + 2 + Self.unit - 1) / Self.unit
        precondition(units <= Self.page / Self.unit, "a record of \(bytes.count) bytes")
        let place = freePlace(units) ?? newPlace(units)
        let (page, start) = Self.position(place)
        pages[page][start] = UInt8(truncatingIfNeeded: units)
        pages[page][start + 1] = UInt8(truncatingIfNeeded: units >> 8)
        pages[page].replaceSubrange(start + 2..<start + 2 + bytes.count, with: bytes)
        return place
    }

    /// The bytes of a record, and perhaps some behind them.
    subscript(place: Int) -> [UInt8] {
        let (page, start) = Self.position(place)
        return Array(pages[page][start + 2..<start + units(at: place) * Self.unit])
    }

    /// Removes a record.
    mutating func remove(_ place: Int) {
        let units = units(at: place)
        while free.count <= units { free.append([]) }
        free[units].append(UInt32(place))
    }

    private func units(at place: Int) -> Int {
        let (page, start) = Self.position(place)
        return Int(pages[page][start]) | Int(pages[page][start + 1]) << 8
    }

    private mutating func freePlace(_ units: Int) -> Int? {
        units < free.count ? free[units].popLast().map { Int($0) } : nil
    }

    private mutating func newPlace(_ units: Int) -> Int {
        let perPage = Self.page / Self.unit
        // None reaches into the next page.
        if used % perPage + units > perPage || used / perPage == pages.count {
            used = pages.count * perPage
            pages.append([UInt8](repeating: 0, count: Self.page))
        }
        defer { used += units }
        return used
    }

    private static func position(_ place: Int) -> (page: Int, start: Int) {
        (place * unit / page, place * unit % page)
    }
}
