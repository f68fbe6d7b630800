import DequeModule
import Framing
import Streams
import Trace

/// Findings about requests and answers.
extension PairedConnection {
    /// A finding, if it is one of the first of its kind.
    private func report(
        _ kind: Finding.Kind, _ pairing: Int, from direction: Direction, at time: Timestamp, _ message: String,
        _ data: [Field], _ severity: Finding.Severity = .warning
    ) -> [Finding] {
        if pairings[pairing].isOptional { return [] }
        var found = exchanges[pairing].found[kind] ?? Found()
        let isReported = found.reported < Self.reported
        if isReported { found.reported += 1 } else { found.more += 1 }
        if !isReported, severity != .info { found.severity = severity }
        exchanges[pairing].found[kind] = found
        return isReported ? [finding(kind, from: direction, at: time, message, data, severity)] : []
    }

    private func finding(
        _ kind: Finding.Kind, from direction: Direction, at time: Timestamp, _ message: String, _ data: [Field],
        _ severity: Finding.Severity = .warning
    ) -> Finding {
        Finding(
            kind: kind, severity: severity, connection: connection.number, format: format,
            from: direction, time: time, message: message, data: data)
    }

    private func name(_ waiting: Waiting) -> String { waiting.type ?? "frame" }

    /// A request's name for display: its id if it has one, otherwise its place among the frames of its side.
    private func label(_ request: Waiting) -> String {
        request.shownID.map { "\(name(request)) with id \($0)" } ?? "\(name(request)) \(request.index)"
    }

    private func data(_ request: Waiting) -> [Field] {
        [Field("index", .integer(Int64(request.index))), Field("type", .text(name(request)))]
            + (request.shownID.map { [Field("id", .text($0))] } ?? [])
    }

    private func kind(_ pairing: Int) -> Finding.Kind {
        pairings[pairing].isHeartbeat ? .heartbeatUnanswered : .unanswered
    }

    /// Requests whose answer was due, and answers whose request did not arrive, as far as each side is known.
    func overdue(before known: PerDirection<Timestamp>) -> [Finding] {
        var found: [Finding] = []
        for index in pairings.indices {
            let from = pairings[index].from
            if let within = pairings[index].within {
                while let asked = exchanges[index].requests.first?.time, asked + within < known[from.opposite] {
                    let request = exchanges[index].requests.removeFirst()
                    exchanges[index].overdue.append(request)
                    if exchanges[index].overdue.count > Self.mostRequests { exchanges[index].overdue.removeFirst() }
                    found += report(
                        kind(index), index, from: from.opposite, at: asked + within,
                        "\(label(request)) from the \(from.sender) was not answered within \(within.text(digits: true))",
                        data(request) + [Field("within", .number(within.seconds))]
                            + .packets(("packet", request.packet)))
                }
            }
            while let answered = exchanges[index].early.first?.time, answered + Self.patience < known[from] {
                found += withoutRequest(exchanges[index].early.removeFirst(), index)
            }
            while let crowd = exchanges[index].crowds.first, crowd.last + Self.patience < known[from] {
                countWithoutRequest(exchanges[index].crowds.removeFirst(), index)
            }
        }
        return found
    }

    /// What is still waiting at the end of the connection or of the capture.
    func abandoned(_ closing: Closing) -> [Finding] {
        let (end, severity): (String, Finding.Severity) =
            switch closing.reason {
            case .endOfInput: ("when the capture ended", .info)
            case .evicted: ("when the connection was evicted", .info)
            case .fin, .reset, .timeout, .connectFailed, .refusedByLimit, .tlsFailed, .rule:
                ("before the connection was over", .warning)
            }
        var found: [Finding] = []
        for (index, pairing) in pairings.enumerated() {
            if severity == .warning {
                for answer in exchanges[index].early { found += withoutRequest(answer, index) }
                for crowd in exchanges[index].crowds { countWithoutRequest(crowd, index) }
            }
            for request in exchanges[index].requests {
                // A heartbeat whose answer is not due yet is nothing to report.
                if severity == .info, pairing.isHeartbeat { continue }
                let waited = closing.time - request.time
                found += report(
                    kind(index), index, from: pairing.from.opposite, at: closing.time,
                    "\(label(request)) from the \(pairing.from.sender) was not answered \(end)"
                        + (severity == .info ? ", after \(waited.text(digits: true))" : ""),
                    data(request) + [Field("waited", .number(waited.seconds))] + .packets(("packet", request.packet)),
                    severity)
            }
            exchanges[index].early.removeAll()
            exchanges[index].crowds.removeAll()
            exchanges[index].requests.removeAll()
        }
        return found
    }

    /// The request of an answer that arrived after its deadline; it is no longer waited for.
    func takeOverdue(_ answer: Waiting, _ pairing: Int) -> Waiting? {
        if case .value = answer.key {
        } else if let within = pairings[pairing].within {
            // If only the order matches them, one long overdue was not answered at all.
            let longest = Interval(nanoseconds: min(within.nanoseconds, .max / 10) * 10)
            while let first = exchanges[pairing].overdue.first, longest < answer.time - first.time {
                exchanges[pairing].overdue.removeFirst()
            }
        }
        guard let place = exchanges[pairing].overdue.firstIndex(where: { $0.key == answer.key }) else { return nil }
        return exchanges[pairing].overdue.remove(at: place)
    }

    /// An answer arrived after its deadline: its absence was already reported.
    func late(_ answer: Waiting, to request: Waiting, _ pairing: Int) -> [Finding] {
        let took = answer.time - request.time
        return report(
            .lateAnswer, pairing, from: pairings[pairing].from.opposite, at: answer.time,
            "\(name(answer)) \(answer.index) answers \(label(request)) after \(took.text(digits: true)), too late",
            [
                Field("index", .integer(Int64(answer.index))), Field("requestIndex", .integer(Int64(request.index))),
                Field("took", .number(took.seconds)),
            ] + (request.shownID.map { [Field("id", .text($0))] } ?? [])
                + .packets(("packet", answer.packet), ("requestPacket", request.packet)), .info)
    }

    private func withoutRequest(_ answer: Waiting, _ pairing: Int) -> [Finding] {
        let from = pairings[pairing].from
        return report(
            .answerWithoutRequest, pairing, from: from.opposite, at: answer.time,
            "\(name(answer)) \(answer.index) answers no request of the \(from.sender)",
            [Field("index", .integer(Int64(answer.index))), Field("type", .text(name(answer)))]
                + .packets(("packet", answer.packet)))
    }

    /// Counts answers that nothing else is known of; `unreported` reports their number.
    private func countWithoutRequest(_ crowd: Crowd, _ pairing: Int) {
        var found = exchanges[pairing].found[.answerWithoutRequest] ?? Found()
        found.more += crowd.count
        found.severity = .warning
        exchanges[pairing].found[.answerWithoutRequest] = found
    }

    /// An answer arrived before those of older requests.
    func outOfOrder(
        _ answer: Waiting, to request: Waiting, before older: Waiting, _ skipped: Int, _ pairing: Int
    ) -> [Finding] {
        report(
            .answerOutOfOrder, pairing, from: pairings[pairing].from.opposite, at: answer.time,
            "\(name(answer)) \(answer.index) answers \(label(request)), but \(label(older)) before it has no answer yet",
            [
                Field("index", .integer(Int64(answer.index))), Field("requestIndex", .integer(Int64(request.index))),
                Field("skipped", .integer(Int64(skipped))), Field("oldestIndex", .integer(Int64(older.index))),
            ] + (request.shownID.map { [Field("id", .text($0))] } ?? [])
                + .packets(
                    ("packet", answer.packet), ("requestPacket", request.packet), ("oldestPacket", older.packet)))
    }

    /// How many more there were of each kind.
    func unreported(at time: Timestamp) -> [Finding] {
        var found: [Finding] = []
        for (index, exchange) in exchanges.enumerated() {
            for (kind, all) in exchange.found.sorted(by: { $0.key.rawValue < $1.key.rawValue })
            where all.more > 0 {
                found.append(
                    finding(
                        kind, from: pairings[index].from.opposite, at: time,
                        "the same \(Quantities.counted(all.more, "more time"))",
                        [Field("count", .integer(Int64(all.more)))], all.severity))
            }
        }
        return found
    }
}
