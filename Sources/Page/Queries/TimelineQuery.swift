import Streams
import Trace

/// `GET timeline`: when each connection was open, how busy, and what went wrong when.
enum TimelineQuery {
    /// At most how many lanes, bins and marks an answer has.
    private static let most = (lanes: 200, bins: 2_000, marks: 200, allMarks: 2_000)

    static func answer(_ query: QueryParameters, _ page: Page) throws(PageFault) -> [UInt8] {
        let known = page.store.read { ($0.earliest ?? 0, $0.latest ?? 0, $0.names) }
        let from = try query.time("from") ?? known.0
        let to = max(from, try query.time("to") ?? known.1)
        let bins = max(1, try query.number("bins", 200, most: most.bins))
        let first = try query.number("first", 0, most: 1 << 40)
        let count = try query.number("count", 50, most: most.lanes)
        let only = try query.number("connection")
        let (total, lanes) = page.store.read { state -> (Int, [ConnectionState]) in
            var overlapping: [Int] = []
            for place in only.map({ number in state.places[number].map { $0..<$0 + 1 } ?? 0..<0 })
                ?? state.connections.indices
            where state.connections[place].overlaps(from, to) {
                overlapping.append(place)
            }
            let places = overlapping[min(first, overlapping.count)..<min(first + count, overlapping.count)]
            return (overlapping.count, places.map { state.connections[$0] })
        }
        var marksLeft = most.allMarks
        var types = TypePlaces()
        return JSONText.object { json in
            json.member("from", time: from)
            json.member("to", time: to)
            json.member("total", total)
            json.key("lanes")
            json.array { json in
                for lane in lanes {
                    var reading = LaneReading(from: from, to: to, bins: bins, names: known.2.count)
                    lane.list.read(from: lane.list.start(of: from), in: page.store.lists) { _, entries in
                        reading.take(entries)
                        return true
                    }
                    let marks = TimelineMarks(
                        of: lane, reading, page.store, most: min(most.marks, marksLeft))
                    marksLeft -= marks.shown.count
                    write(lane, reading, marks, &types, to: &json)
                }
            }
            // Only the names that bins refer to: there may be many others.
            json.key("types")
            json.array { json in for number in types.numbers { json.text(known.2[Int(number)]) } }
        }
    }

    private static func write(
        _ lane: ConnectionState, _ reading: LaneReading, _ marks: TimelineMarks, _ types: inout TypePlaces,
        to json: inout JSONText
    ) {
        json.object { json in
            json.member("connection", lane.number)
            json.member("client", lane.client)
            json.member("server", lane.server)
            json.member("format", lane.format?.format)
            json.member("opened", time: lane.opened)
            json.member("closed", time: lane.closed?.time.nanoseconds)
            json.member("reason", lane.closed?.reason)
            json.member("by", lane.closed?.by?.sender)
            json.key("bins")
            json.object { json in
                for (side, counts) in zip(["client", "server"], reading.sides) {
                    json.key(side)
                    counts.write(&types, to: &json)
                }
            }
            json.key("marks")
            json.array { json in for mark in marks.shown { mark.write(to: &json) } }
            json.member("moreMarks", marks.more)
        }
    }
}

extension ConnectionState {
    /// Whether it was open in a stretch of time, as far as known.
    fileprivate func overlaps(_ from: Int64, _ to: Int64) -> Bool {
        opened <= to && closed?.time.nanoseconds ?? .max >= from
    }
}
