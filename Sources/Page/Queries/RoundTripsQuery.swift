import Streams

/// `GET roundtrips`: how long answers took, and TCP's acknowledgments.
enum RoundTripsQuery {
    static func answer(_ query: QueryParameters, _ page: Page) throws(PageFault) -> [UInt8] {
        let number = try query.number("connection")
        let (table, tcp, names) = page.store.read { state -> (RoundTripTable, TCPTimes?, [String]) in
            guard let number else { return (state.roundTrips, state.tcp, state.names) }
            let connection = state.connection(number)
            return (connection?.roundTrips ?? RoundTripTable(most: 0), connection?.tcp, state.names)
        }
        func name(_ number: UInt32) -> String { number == 0 ? "-" : names[Int(number)] }
        let named = table.pairs.map {
            (pair: $0.key, request: name($0.key.request), answer: name($0.key.answer), times: $0.value)
        }
        let pairs = named.sorted {
            ($0.pair.format, $1.times.count, $0.request, $0.answer)
                < ($1.pair.format, $0.times.count, $1.request, $1.answer)
        }
        return JSONText.object { json in
            json.key("pairs")
            json.array { json in
                for row in pairs {
                    json.object { json in
                        json.member("format", row.pair.format)
                        json.member("request", row.request)
                        json.member("answer", row.answer)
                        json.member("from", row.pair.from.sender)
                        members(of: row.times, to: &json)
                    }
                }
            }
            json.key("tcp")
            guard let tcp else { return json.null() }
            json.object { json in
                let all = [
                    ("handshake", tcp.handshake), ("acknowledgedByServer", tcp.acknowledged.fromClient),
                    ("acknowledgedByClient", tcp.acknowledged.fromServer),
                ]
                for (name, times) in all {
                    json.key(name)
                    json.object { json in members(of: times, to: &json) }
                }
            }
        }
    }

    private static func members(of times: TimeHistogram, to json: inout JSONText) {
        json.member("count", times.count)
        let values = [
            ("min", times.minimum), ("p50", times.percentile(50)), ("p90", times.percentile(90)),
            ("p99", times.percentile(99)), ("max", times.maximum),
        ]
        for (name, value) in values {
            json.key(name)
            json.number(Double(value) / 1e9)
        }
        json.key("histogram")
        json.array { json in
            for (lower, upper, count) in times.coarse {
                json.array { json in
                    json.number(lower)
                    json.number(upper)
                    json.number(count)
                }
            }
        }
    }
}
