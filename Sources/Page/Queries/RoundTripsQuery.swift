import Streams

/// `GET roundtrips`: how long answers took, and TCP's acknowledgments.
enum RoundTripsQuery {
    static func answer(_ query: QueryParameters, _ page: Page) throws(PageFault) -> [UInt8] {
        let number = try query.number("connection")
        let (table, tcp) = page.store.read { state -> (RoundTripTable, TCPTimes?) in
            guard let number else { return (state.roundTrips, nil) }
            let connection = state.connection(number)
            return (connection?.roundTrips ?? RoundTripTable(most: 0), connection?.tcp)
        }
        let pairs = table.pairs.sorted {
            ($0.key.format, $1.value.count, $0.key.request, $0.key.answer)
                < ($1.key.format, $0.value.count, $1.key.request, $1.key.answer)
        }
        return JSONText.object { json in
            json.key("pairs")
            json.array { json in
                for (pair, times) in pairs {
                    json.object { json in
                        json.member("format", pair.format)
                        json.member("request", pair.request)
                        json.member("answer", pair.answer)
                        json.member("from", pair.from.sender)
                        members(of: times, to: &json)
                    }
                }
            }
            json.key("tcp")
            guard let tcp else { return json.null() }
            json.object { json in
                let all = [
                    ("handshake", tcp.handshake), ("acknowledgedByServer", tcp.acknowledged.fromServer),
                    ("acknowledgedByClient", tcp.acknowledged.fromClient),
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
