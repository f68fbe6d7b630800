import Framing
import Streams
import Trace

/// `GET event/E`: everything about an event.
enum EventQuery {
    static func answer(_ event: Int, _ page: Page) throws(PageFault) -> [UInt8] {
        let store = page.store
        guard let record = store.record(event) else { throw PageFault(404, "there is no event \(event)") }
        let detail = store.detail(record)
        let (pair, took) = Pairs.of(record, in: store)
        let (previous, next) = neighbours(of: event, record, in: store)
        var line = store.line(record)
        if line.last == UInt8(ascii: "\n") { line.removeLast() }
        return JSONText.object { json in
            json.member("event", event)
            json.key("line")
            json.raw(line)
            json.key("detail")
            if let detail { write(detail, record, of: store, to: &json) } else { json.null() }
            json.key("pair")
            Pairs.write(record, pair, took, to: &json)
            json.member("previous", event: previous)
            json.member("next", event: next)
        }
    }

    static func write(
        _ detail: FrameDetail, _ record: EventRecord, of store: EventStore, to json: inout JSONText
    ) {
        json.object { json in
            json.member("hex", Hexadecimal.text(detail.bytes))
            json.member("hidden", detail.isHidden)
            json.member("truncated", detail.isTruncated)
            json.key("parts")
            json.object { json in
                let shape = detail.shape
                range("head", 0, shape.head, to: &json)
                range("body", shape.head, shape.body, to: &json)
                if shape.tail > 0 { range("tail", shape.head + shape.body, shape.tail, to: &json) }
            }
            json.key("fields")
            json.object { json in
                guard !detail.isHidden, !detail.isTruncated, detail.bytes.count == detail.shape.total,
                    let from = record.from,
                    let format = store.format(of: Int(record.connection), record.leg)?.directions[from]
                else { return }
                let content = detail.bytes.span.bytes
                for field in format.fields(of: content, detail.shape).prefix(mostPlaces) {
                    guard let place = format.place(ofField: field.name, in: content, detail.shape) else { continue }
                    range(field.name, place.lowerBound, place.count, to: &json)
                }
            }
            json.key("cuts")
            json.array { json in
                // Where escapes are resolved, a place in the stream is not one in the content.
                for cut in detail.cuts where !detail.isTransformed || cut.at == 0 {
                    json.object { json in
                        json.member("at", cut.at)
                        json.member("time", time: cut.time.nanoseconds)
                        json.member("packet", event: cut.packet > 0 ? cut.packet : nil)
                    }
                }
            }
            json.key("packets")
            json.array { json in
                var seen: [Int] = []
                for packet in detail.cuts.map(\.packet) + [detail.packet] where packet > 0 && !seen.contains(packet) {
                    seen.append(packet)
                    json.number(packet)
                }
            }
        }
    }

    /// For how many fields of a frame it says where they are: each is searched for from the beginning of the head.
    private static let mostPlaces = 200

    private static func range(_ name: String, _ start: Int, _ count: Int, to json: inout JSONText) {
        json.key(name)
        json.array { json in
            json.number(start)
            json.number(count)
        }
    }

    /// How many events of a connection are looked at for the next frame of a side.
    private static let farthest = 20_000

    /// The frames of the same side before and after an event.
    private static func neighbours(
        of event: Int, _ record: EventRecord, in store: EventStore
    ) -> (previous: Int?, next: Int?) {
        guard let list = store.read({ $0.connection(Int(record.connection))?.list }) else { return (nil, nil) }
        func isWanted(_ entry: ListEntry) -> Bool {
            entry.kind == .frame && entry.rawSide == record.rawSide && entry.rawLeg == record.rawLeg
        }
        let place = list.place(of: UInt32(event), in: store.lists)
        var previous: Int?
        var before = place - 1
        while previous == nil, before >= max(0, place - farthest), let entry = list.entry(before, in: store.lists) {
            if isWanted(entry) { previous = Int(entry.event) }
            before -= 1
        }
        var next: Int?
        list.read(from: place + 1, in: store.lists) { at, entries in
            next = entries.first(where: isWanted).map { Int($0.event) }
            return next == nil && at < place + farthest
        }
        return (previous, next)
    }
}

/// Requests and their answers.
enum Pairs {
    /// The other event of a pair, and how long the answer took, in seconds.
    static func of(_ record: EventRecord, in store: EventStore) -> (EventRecord?, took: Double?) {
        guard record.pair > 0, let other = store.record(Int(record.pair) - 1) else { return (nil, nil) }
        let took = Timestamp(nanoseconds: record.time) - Timestamp(nanoseconds: other.time)
        return (other, abs(took.seconds))
    }

    /// Writes a pair as an object, or null.
    ///
    /// - Parameter place: by which number an event is known; nil if it is not.
    static func write(
        _ record: EventRecord, _ other: EventRecord?, _ took: Double?, to json: inout JSONText,
        _ place: (Int) -> Int? = { $0 }
    ) {
        guard let other, let took else { return json.null() }
        json.object { json in
            json.member("role", record.flags & EventRecord.Flag.answer != 0 ? "answer" : "request")
            json.member("event", event: place(Int(record.pair) - 1))
            json.member("index", Int(other.index))
            json.key("took")
            json.number(took)
        }
    }
}

/// `GET conversation`: what happened on a connection, with the pairs of requests and answers.
enum ConversationQuery {
    static func answer(_ query: QueryParameters, _ page: Page) throws(PageFault) -> [UInt8] {
        guard try query.number("connection") != nil else { throw PageFault(400, "expected connection: a number") }
        let key = try query.searchKey(kinds: [.frame, .finding, .action, .missing, .unframed, .dropped, .closed])
        let listing = try EventListing(key, of: page)
        var (json, fault): (JSONText, PageFault?) = (JSONText(), nil)
        json.object { json in
            do throws(PageFault) {
                try listing.write(query, to: &json) { record, json in
                    var row = page.store.row(record)
                    if record.kind == .frame, row.last == UInt8(ascii: "}") {
                        row.removeLast()
                        var pair = JSONText()
                        let (other, took) = Pairs.of(record, in: page.store)
                        Pairs.write(record, other, took, to: &pair)
                        row += Array(",\"pair\":".utf8) + pair.bytes + Array("}".utf8)
                    }
                    json.raw(row)
                }
            } catch { fault = error }
        }
        if let fault { throw fault }
        return json.bytes
    }
}
