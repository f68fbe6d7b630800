import Streams
import Trace

/// `GET connections`: a list of connections, sorted and searched; or one of them.
enum ConnectionsQuery {
    static func answer(_ query: QueryParameters, _ page: Page) throws(PageFault) -> [UInt8] {
        let from = try query.number("from", 0, most: 1 << 40)
        let count = try query.number("count", 100, most: EventListing.mostRows)
        var listing: ConnectionOrders.Listing
        if let number = try query.number("connection") {
            listing = page.store.read { state in
                let places = state.places[number].map { [$0] } ?? []
                return ConnectionOrders.Listing(places: places, searched: state.events, events: state.events)
            }
        } else {
            let (order, isDown) = try order(query)
            listing = page.orders.listing(by: order, query["search"]?.lowercased(), in: page.store)
            if isDown { listing.places.reverse() }
        }
        let places = listing.places
        let shown = places[min(places.count, from)..<min(places.count, from + count)]
        let (rows, names) = page.store.read { state in (shown.map { state.connections[$0] }, state.names) }
        return JSONText.object { json in
            json.member("total", places.count)
            json.member("searched", listing.searched)
            json.member("events", listing.events)
            json.key("rows")
            json.array { json in for row in rows { write(row, names, to: &json) } }
        }
    }

    private static func order(_ query: QueryParameters) throws(PageFault) -> (ConnectionOrder, isDown: Bool) {
        let (sort, direction) = (query["sort"] ?? "number", query["order"] ?? "up")
        guard let order = ConnectionOrder(rawValue: sort) else {
            let known = ConnectionOrder.allCases.map(\.rawValue).joined(separator: ", ")
            throw PageFault(400, "sort is \(sort.prefix(40)); expected one of \(known)")
        }
        guard ["up", "down"].contains(direction) else {
            throw PageFault(400, "order is \(direction.prefix(40)); expected up or down")
        }
        return (order, direction == "down")
    }

    private static func write(_ connection: ConnectionState, _ names: [String], to json: inout JSONText) {
        json.object { json in
            json.member("connection", connection.number)
            json.member("client", connection.client)
            json.member("server", connection.server)
            json.member("opened", time: connection.opened)
            json.member("closed", time: connection.closed?.time.nanoseconds)
            json.member("reason", connection.closed?.reason)
            json.member("by", connection.closed?.by?.sender)
            json.member("handshake", connection.handshake)
            json.member("clientGuessed", connection.clientGuessed)
            json.member("legs", connection.hasLegs)
            json.member("format", connection.format?.format)
            json.member("formatBy", connection.format?.by)
            json.member("evidence", connection.format?.evidence)
            json.key("tls")
            if let facts = connection.tls?.facts {
                json.object { json in
                    json.member("version", facts.version)
                    json.member("decrypted", facts.decryption?.rawValue)
                    json.member("serverName", facts.serverName)
                    json.member("protocol", facts.applicationProtocol)
                }
            } else {
                json.null()
            }
            json.key("sides")
            json.object { json in
                for direction in Direction.allCases {
                    json.key(direction.sender)
                    write(connection.sides[direction], names, to: &json)
                }
            }
            json.key("findings")
            json.object { json in
                for severity in ["info", "warning", "error"] {
                    json.member(severity, connection.findings[severity] ?? 0)
                }
            }
            json.key("rates")
            write(connection.rates, to: &json)
        }
    }

    private static func write(_ side: ConnectionState.Side, _ names: [String], to json: inout JSONText) {
        json.object { json in
            json.member("frames", side.frames)
            json.member("bytes", side.bytes)
            json.member("heartbeats", side.heartbeats)
            json.member("unframed", side.unframed)
            json.member("missing", side.missing)
            json.key("types")
            TypeCounts.write(side.types, names, to: &json)
        }
    }

    private static func write(_ rates: Rates, to json: inout JSONText) {
        json.object { json in
            json.member("start", time: rates.start)
            json.member("step", time: rates.step)
            for (side, counts) in zip(["client", "server"], rates.counts) {
                json.key(side)
                json.array { json in for count in counts { json.number(Int(count)) } }
            }
        }
    }
}

/// How many frames there are of each type.
enum TypeCounts {
    /// Writes an object, the most frequent type first.
    static func write(_ types: [UInt32: Int], _ names: [String], to json: inout JSONText) {
        var counts: [(name: String, count: Int)] = []
        for (type, count) in types where type > 0 { counts.append((names[Int(type)], count)) }
        let sorted = counts.sorted { $0.count == $1.count ? $0.name < $1.name : $0.count > $1.count }
        json.object { json in for (name, count) in sorted { json.member(name, count) } }
    }
}
