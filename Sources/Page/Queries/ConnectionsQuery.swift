import Streams
import Trace

/// `GET connections`: a list of connections, sorted and searched.
enum ConnectionsQuery {
    /// What connections are sorted by.
    private enum Order: String {
        case number, client, server, format, frames, bytes, opened, duration, findings
    }

    static func answer(_ query: QueryParameters, _ page: Page) throws(PageFault) -> [UInt8] {
        let from = try query.number("from", 0, most: 1 << 40)
        let count = try query.number("count", 100, most: EventListing.mostRows)
        guard let order = Order(rawValue: query["sort"] ?? "number") else {
            throw PageFault(400, "sort is \(query["sort"]?.prefix(40) ?? "")")
        }
        let (isDown, search) = (query["order"] == "down", query["search"]?.lowercased())
        let (total, rows, names) = page.store.read { state -> (Int, [ConnectionState], [String]) in
            var places = Array(state.connections.indices)
            if let search {
                let names = state.names
                places = places.filter { isMatch(state.connections[$0], search, names) }
            }
            sort(&places, by: order, state)
            if isDown { places.reverse() }
            let end = min(places.count, from + count)
            let rows = from < end ? places[from..<end].map { state.connections[$0] } : []
            return (places.count, rows, state.names)
        }
        return JSONText.object { json in
            json.member("total", total)
            json.key("rows")
            json.array { json in for row in rows { write(row, names, to: &json) } }
        }
    }

    private static func isMatch(_ connection: ConnectionState, _ search: String, _ names: [String]) -> Bool {
        func has(_ text: String?) -> Bool { text?.lowercased().contains(search) ?? false }
        if has(connection.client) || has(connection.server) || has(connection.format?.format) { return true }
        if has(connection.tls?.facts.serverName) || "\(connection.number)" == search { return true }
        return Direction.allCases.contains { side in
            connection.sides[side].types.keys.contains { has(names[Int($0)]) }
        }
    }

    /// Sorts places by a key that is read once for each. Connections that are alike stay in order of opening.
    private static func sort(_ places: inout [Int], by order: Order, _ state: borrowing StoreState) {
        func sort<Key: Comparable>(_ key: (ConnectionState) -> Key) {
            let keyed = places.map { (key(state.connections[$0]), $0) }
            places = keyed.sorted { $0.0 == $1.0 ? $0.1 < $1.1 : $0.0 < $1.0 }.map { $0.1 }
        }
        switch order {
        case .number: break
        case .client: sort { $0.client }
        case .server: sort { $0.server }
        case .format: sort { $0.format?.format ?? "" }
        case .frames: sort { $0.frames }
        case .bytes: sort { $0.bytes }
        case .opened: sort { $0.opened }
        case .duration: sort { $0.end - $0.opened }
        case .findings: sort { $0.findingCount }
        }
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
        let sorted = types.filter { $0.key > 0 }.map { (names[Int($0.key)], $0.value) }
            .sorted { $0.1 == $1.1 ? $0.0 < $1.0 : $0.1 > $1.1 }
        json.object { json in for (name, count) in sorted { json.member(name, count) } }
    }
}
