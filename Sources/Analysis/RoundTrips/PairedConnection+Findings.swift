import Framing
import Streams
import Trace

/// What is said of requests and answers.
extension PairedConnection {
    /// A finding, where it is one of the first of its kind.
    private func tell(
        _ kind: Finding.Kind, _ pairing: Int, from direction: Direction, at time: Timestamp, _ message: String,
        _ data: [Field]
    ) -> [Finding] {
        exchanges[pairing].found[kind, default: 0] += 1
        guard exchanges[pairing].found[kind, default: 0] <= Self.told else { return [] }
        return [finding(kind, from: direction, at: time, message, data)]
    }

    private func finding(
        _ kind: Finding.Kind, from direction: Direction, at time: Timestamp, _ message: String, _ data: [Field]
    ) -> Finding {
        Finding(
            kind: kind, severity: .warning, connection: connection.number, format: connection.format?.name,
            from: direction, time: time, message: message, data: data)
    }

    private func name(_ waiting: Waiting) -> String { waiting.type ?? "frame" }

    private func kind(_ pairing: Int) -> Finding.Kind {
        pairings[pairing].isHeartbeat ? .heartbeatUnanswered : .unanswered
    }

    /// Requests whose answer was due, and answers whose request did not come, before what is known of each side.
    func overdue(before known: PerDirection<Timestamp>) -> [Finding] {
        var found: [Finding] = []
        for (index, pairing) in pairings.enumerated() {
            if let within = pairing.within {
                while let request = exchanges[index].requests.first,
                    request.time + within < known[pairing.from.opposite]
                {
                    exchanges[index].requests.removeFirst()
                    exchanges[index].overdue.append(request.key)
                    if exchanges[index].overdue.count > Self.mostEarly { exchanges[index].overdue.removeFirst() }
                    found += tell(
                        kind(index), index, from: pairing.from.opposite, at: request.time + within,
                        "\(name(request)) \(request.index) from the \(pairing.from.sender) was not answered within \(within.text(digits: true))",
                        [
                            Field("index", .integer(Int64(request.index))), Field("type", .text(name(request))),
                            Field("within", .number(within.seconds)),
                        ] + .packets(("packet", request.packet)))
                }
            }
            while let answer = exchanges[index].early.first, answer.time + Self.patience < known[pairing.from] {
                exchanges[index].early.removeFirst()
                found += withoutRequest(answer, index)
            }
        }
        return found
    }

    /// What waits when the connection is over.
    func abandoned(at time: Timestamp) -> [Finding] {
        var found: [Finding] = []
        for (index, pairing) in pairings.enumerated() {
            for answer in exchanges[index].early { found += withoutRequest(answer, index) }
            for request in exchanges[index].requests {
                found += tell(
                    kind(index), index, from: pairing.from.opposite, at: time,
                    "\(name(request)) \(request.index) from the \(pairing.from.sender) was not answered before the connection was over",
                    [
                        Field("index", .integer(Int64(request.index))), Field("type", .text(name(request))),
                        Field("waited", .number((time - request.time).seconds)),
                    ] + .packets(("packet", request.packet)))
            }
            exchanges[index].early.removeAll()
            exchanges[index].requests.removeAll()
        }
        return found
    }

    /// An answer that came too late is nobody's; and it is not the next request's.
    func tooLate(_ answer: Waiting, _ pairing: Int) -> [Finding]? {
        guard let place = exchanges[pairing].overdue.firstIndex(of: answer.key) else { return nil }
        exchanges[pairing].overdue.remove(at: place)
        return withoutRequest(answer, pairing)
    }

    private func withoutRequest(_ answer: Waiting, _ pairing: Int) -> [Finding] {
        let from = pairings[pairing].from
        return tell(
            .answerWithoutRequest, pairing, from: from.opposite, at: answer.time,
            "\(name(answer)) \(answer.index) answers no request of the \(from.sender)",
            [Field("index", .integer(Int64(answer.index))), Field("type", .text(name(answer)))]
                + .packets(("packet", answer.packet)))
    }

    /// An answer came before those of older requests.
    func outOfOrder(
        _ answer: Waiting, to request: Waiting, before older: Waiting, _ skipped: Int, _ pairing: Int
    ) -> [Finding] {
        tell(
            .answerOutOfOrder, pairing, from: pairings[pairing].from.opposite, at: answer.time,
            "\(name(answer)) \(answer.index) answers \(name(request)) \(request.index), but \(name(older)) \(older.index) before it has no answer yet",
            [
                Field("index", .integer(Int64(answer.index))), Field("requestIndex", .integer(Int64(request.index))),
                Field("skipped", .integer(Int64(skipped))), Field("oldestIndex", .integer(Int64(older.index))),
            ]
                + .packets(
                    ("packet", answer.packet), ("requestPacket", request.packet), ("oldestPacket", older.packet)))
    }

    /// How many more there were of each kind.
    func untold(at time: Timestamp) -> [Finding] {
        var found: [Finding] = []
        for (index, exchange) in exchanges.enumerated() {
            for (kind, count) in exchange.found.sorted(by: { $0.key.rawValue < $1.key.rawValue })
            where count > Self.told {
                let more = count - Self.told
                found.append(
                    finding(
                        kind, from: pairings[index].from.opposite, at: time,
                        "the same \(Quantities.counted(more, "more time"))",
                        [Field("count", .integer(Int64(more)))]))
            }
        }
        return found
    }
}
