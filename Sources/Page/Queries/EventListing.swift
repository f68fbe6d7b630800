import Expressions

/// A list of events, of which queries show a part.
struct EventListing {
    private let page: Page
    /// Nil for the list of all frames, which the store keeps.
    private let search: Search?

    /// For how long a query waits for its search. After that it answers with what was found.
    private static let patience = Duration.milliseconds(25)
    /// The most rows of an answer.
    static let mostRows = 1_000

    init(_ key: SearchKey, of page: Page) throws(PageFault) {
        self.page = page
        guard !key.isOfAllFrames else {
            search = nil
            return
        }
        do throws(ExpressionError) { search = try page.searches.search(key) } catch {
            throw PageFault(400, error.message, column: error.column)
        }
        guard let search else { return }
        if !search.advance(until: ContinuousClock.now + Self.patience) {
            search.goOn { [weak page] in page?.begin($0) }
        }
    }

    /// How many events it has so far, and how many were looked at.
    var progress: (matches: Int, searched: Int) {
        search?.progress ?? page.store.read { ($0.frameNumbers.count, $0.events) }
    }

    /// The events at some places.
    func events(_ places: Range<Int>) -> [UInt32] {
        search?.events(places) ?? page.store.read { $0.frameNumbers }[places]
    }

    /// The place of the first one that is not before an event.
    func place(of event: Int) -> Int {
        search?.place(of: event) ?? page.store.read { $0.frameNumbers }.place(of: UInt32(clamping: event))
    }

    /// Writes `total`, `searched`, `events` and the rows that the query asks for.
    ///
    /// - Parameter row: writes the row of an event.
    func write(
        _ query: QueryParameters, to json: inout JSONText, _ row: (EventRecord, inout JSONText) -> Void
    ) throws(PageFault) {
        let from = try query.number("from", 0, most: 1 << 40)
        let count = try query.number("count", 100, most: Self.mostRows)
        let progress = progress
        json.member("total", progress.matches)
        json.member("searched", progress.searched)
        json.member("events", page.store.count)
        let records = page.store.records(of: events(from..<from + count))
        json.key("rows")
        json.array { rows in for record in records { row(record, &rows) } }
    }
}

/// `GET frames`: the rows of a list.
enum FramesQuery {
    static func answer(_ query: QueryParameters, _ page: Page, kinds: SearchKey? = nil) throws(PageFault) -> [UInt8] {
        let key: SearchKey
        if let kinds { key = kinds } else { key = try query.searchKey() }
        let listing = try EventListing(key, of: page)
        var (json, fault): (JSONText, PageFault?) = (JSONText(), nil)
        json.object { json in
            do throws(PageFault) {
                try listing.write(query, to: &json) { $1.raw(page.store.row($0)) }
            } catch { fault = error }
        }
        if let fault { throw fault }
        return json.bytes
    }
}

/// `GET place`: where an event is in a list.
enum PlaceQuery {
    static func answer(_ query: QueryParameters, _ page: Page) throws(PageFault) -> [UInt8] {
        let event: Int
        if let number = try query.number("event") {
            event = number
        } else if let time = try query.time("at") {
            event = page.store.event(at: time)
        } else {
            throw PageFault(400, "expected event: a number, or at: a time")
        }
        let listing = try EventListing(try query.searchKey(), of: page)
        let (row, progress) = (listing.place(of: event), listing.progress)
        let found = listing.events(row..<row + 1).first
        return JSONText.object { json in
            json.member("row", row)
            json.member("event", event: found.map { Int($0) })
            json.member("total", progress.matches)
            json.member("searched", progress.searched)
        }
    }
}
