import Framing
import Streams
import Testing
import Trace
import TraceDiff

@testable import Replay

/// A replaying server's answers, without sockets.
@Suite struct ServerStateTests {
    private func frame(
        _ from: Direction, _ type: String, _ fields: [String: String] = [:], at milliseconds: Int64
    ) -> RecordedItem {
        let time = Timestamp(seconds: 1_000, nanoseconds: 0) + .milliseconds(milliseconds)
        return .frame(
            FrameEvent(
                connection: 1, from: from, index: 0, time: time, started: time, offset: 0, length: 1, segments: 1,
                merged: false, type: type, isHeartbeat: type == "beat",
                fields: .object(fields.sorted { $0.key < $1.key }.map { .init($0.key, .text($0.value)) }),
                body: .object([.init("length", .number("0")), .init("text", .text(""))])))
    }

    private func state() throws -> ReplayServerState {
        var connection = RecordedConnection(
            number: 1, opened: Timestamp(seconds: 1_000, nanoseconds: 0), client: "", server: "")
        connection.format = "test"
        connection.items = [
            frame(.fromClient, "ask", ["id": "1", "what": "time"], at: 10),
            frame(.fromServer, "answer", ["id": "1", "says": "noon"], at: 30),
            frame(.fromClient, "beat", at: 40), frame(.fromServer, "news", ["says": "rain"], at: 50),
            frame(.fromClient, "ask", ["id": "2", "what": "day"], at: 60),
            frame(.fromServer, "answer", ["id": "2", "says": "Monday"], at: 65),
        ]
        connection.closing = ClosedEvent(
            time: Timestamp(seconds: 1_000, nanoseconds: 0) + .milliseconds(80), reason: "fin", by: .fromServer)
        var trace = RecordedTrace(source: "test")
        trace.connections = [connection]
        let rules = try RulesYAML.rules(
            in:
                "bind:\n  - name: id\n    places: [{ type: ask, path: fields.id }, { type: answer, path: fields.id }]\n",
            file: "rules.yaml")
        return ReplayServerState(try Recording(trace, format: "test", rules: rules))
    }

    /// A client's frame arrives, and nobody else has said anything: the actions, in short form.
    private func said(_ item: RecordedItem, to state: inout ReplayServerState) -> [String] {
        var values = Echoes.Values()
        return state.received(item, [], &values).map { action in
            switch action {
            case .send(let answer, let known):
                let item = state.filled(answer, known, values)
                return "\(item.frame?.field("id")?.string ?? "-") \(item.frame?.field("says")?.string ?? "-") "
                    + "after \(answer.after.text())"
            case .close(let pause): return "close after \(pause.text())"
            case .report(let text): return text
            }
        }
    }

    @Test func aRequestIsAnsweredWithTheIDThatTheClientReallySent() throws {
        var state = try state()
        #expect(state.opened([]).isEmpty)
        let first = said(frame(.fromClient, "ask", ["id": "77", "what": "time"], at: 0), to: &state)
        // The news followed a heartbeat once: it belongs to the preceding request.
        #expect(first == ["77 noon after 20 ms", "- rain after 40 ms"])
        let beat = said(frame(.fromClient, "beat", at: 0), to: &state)
        #expect(beat == [])
        let second = said(frame(.fromClient, "ask", ["id": "78", "what": "day"], at: 0), to: &state)
        #expect(second == ["78 Monday after 5 ms", "close after 20 ms"])
    }

    /// JSON is compared by structure, so that the field with the body's length may be another one.
    @Test func requestsWithOtherSpacingAreKnown() throws {
        func put(_ length: Int, _ body: Int, stated: Int? = nil, value: String = "x", at time: Int64) -> RecordedItem {
            guard case .frame(var put) = frame(.fromClient, "put", at: time) else {
                return frame(.fromClient, "", at: 0)
            }
            put.length = length
            put.fields = .object([.init("length", .number("\(stated ?? body)")), .init("seq", .number("1"))])
            put.body = .object([
                .init("length", .number("\(body)")), .init("json", .object([.init("key", .text(value))])),
            ])
            return .frame(put)
        }
        var connection = RecordedConnection(
            number: 1, opened: Timestamp(seconds: 1_000, nanoseconds: 0), client: "", server: "")
        connection.format = "test"
        connection.items = [
            put(20, 12, at: 10), frame(.fromServer, "stored", ["id": "1", "says": "yes"], at: 30),
        ]
        var trace = RecordedTrace(source: "test")
        trace.connections = [connection]
        func answers(to item: RecordedItem) throws -> [String] {
            var state = ReplayServerState(try Recording(trace, format: "test", rules: TraceRules()))
            return said(item, to: &state)
        }
        let known = ["1 yes after 20 ms"]
        #expect(try answers(to: put(20, 12, at: 0)) == known)
        #expect(try answers(to: put(19, 11, at: 0)) == known)
        // The length of the whole frame, in the field; and one that states neither.
        #expect(try answers(to: put(30, 20, stated: 22, at: 0)) == known)
        #expect(try answers(to: put(19, 11, stated: 13, at: 0)).count == 2)
        #expect(try answers(to: put(19, 11, value: "y", at: 0)).count == 2)
    }

    /// A client's body of which the trace has only a part equals none; it is said when the recording is loaded.
    @Test func requestsWithCutBodiesAreRefused() throws {
        func recording(_ body: [JSONValue.Member], _ from: Direction, _ yaml: String) throws -> Recording {
            guard case .frame(var cut) = frame(from, "put", at: 10) else { throw ReplayError("no frame") }
            cut.body = .object([.init("length", .number("5000"))] + body)
            var connection = RecordedConnection(
                number: 1, opened: Timestamp(seconds: 1_000, nanoseconds: 0), client: "", server: "")
            connection.format = "test"
            connection.items = [frame(.fromClient, "ask", at: 5), .frame(cut)]
            var trace = RecordedTrace(source: "test")
            trace.connections = [connection]
            let rules = try RulesYAML.rules(in: yaml, file: "rules.yaml")
            return try Recording(trace, format: "test", rules: rules)
        }
        let part = [JSONValue.Member("text", .text("abc"))]
        for body in [part + [JSONValue.Member("truncated", .boolean(true))], []] {
            let cut = try recording(body, .fromClient, "# none")
            let fault = #expect(throws: ReplayError.self) { try cut.checkRequests() }
            #expect(fault?.description.contains("frame 0 of the client (put): the body was cut") == true)
            try recording(body, .fromServer, "# none").checkRequests()
            try recording(body, .fromClient, "mask: [body]").checkRequests()
            try recording(body, .fromClient, "ignore: [{ type: put, path: body }]").checkRequests()
            let other = try recording(body, .fromClient, "mask: [{ type: ask, path: body }]")
            #expect(throws: ReplayError.self) { try other.checkRequests() }
        }
        try recording(part, .fromClient, "# none").checkRequests()
    }

    /// However late an answer is due, it has the ID of its own request.
    @Test func theSameRequestTwiceIsAnsweredWithTheIDOfEach() throws {
        var state = try state()
        var values = Echoes.Values()
        var actions: [ReplayServerState.Action] = []
        for id in ["1", "2"] {
            actions += state.received(frame(.fromClient, "ask", ["id": id, "what": "day"], at: 0), [], &values)
        }
        var ids: [String?] = []
        for case .send(let answer, let known) in actions {
            ids.append(state.filled(answer, known, values).frame?.field("id")?.string)
        }
        #expect(ids == ["1", "2"])
    }

    @Test func requestsInAnotherOrderAndAgainAreAnswered() throws {
        var state = try state()
        let day = said(frame(.fromClient, "ask", ["id": "1", "what": "day"], at: 0), to: &state)
        #expect(day == ["1 Monday after 5 ms"])
        let again = said(frame(.fromClient, "ask", ["id": "2", "what": "day"], at: 0), to: &state)
        #expect(again == ["2 Monday after 5 ms"])
    }

    /// One client's request causes a message to another one; the answer to a heartbeat waits for nobody.
    @Test func messagesThatOtherClientsCauseWaitForThem() throws {
        var trace = RecordedTrace(source: "test")
        for (number, items) in [
            [frame(.fromClient, "ask", at: 10), frame(.fromClient, "tell", at: 40)],
            [
                frame(.fromClient, "join", at: 5), frame(.fromServer, "news", at: 20),
                frame(.fromClient, "beat", at: 25),
                frame(.fromClient, "beat", at: 50), frame(.fromServer, "beat", at: 60),
                frame(.fromServer, "news", at: 70),
            ],
        ].enumerated() {
            var connection = RecordedConnection(
                number: number + 1, opened: Timestamp(seconds: 1_000, nanoseconds: 0), client: "", server: "")
            connection.format = "test"
            for item in items { connection.items.append(item) }
            trace.connections.append(connection)
        }
        var state = ReplayServerState(try Recording(trace, format: "test", rules: TraceRules()))
        func answers(_ item: RecordedItem) -> [RecordedAnswers.Answer] {
            var values = Echoes.Values()
            return state.received(item, [], &values).compactMap {
                if case .send(let answer, _) = $0 { answer } else { nil }
            }
        }
        let news = answers(frame(.fromClient, "join", at: 0))
        #expect(news.map { $0.after.text() } == ["15 ms", "65 ms"])
        #expect(news.map { state.unasked(before: $0, arrived: [1: 1]) } == [[0], [0]])
        #expect(news.map { state.unasked(before: $0, arrived: [0: 1, 1: 1]) } == [[], [0]])
        #expect(news.map { state.unasked(before: $0, arrived: [0: 2]) } == [[], []])
        // The server answered the second heartbeat.
        #expect(answers(frame(.fromClient, "beat", at: 0)).isEmpty)
        let beat = answers(frame(.fromClient, "beat", at: 0))
        #expect(beat.map { $0.after.text() } == ["10 ms"] && beat.allSatisfy(\.isPrompt))
        #expect(beat.map { state.unasked(before: $0, arrived: [:]) } == [[]])
    }

    /// Connections that came one after the other do not wait for each other.
    @Test func whatWasAskedBeforeIsNotWaitedFor() throws {
        var trace = RecordedTrace(source: "test")
        for number in 0..<3 {
            let start = 100 * Int64(number)
            var connection = RecordedConnection(
                number: number + 1, opened: Timestamp(seconds: 1_000, nanoseconds: 0), client: "", server: "")
            connection.format = "test"
            for item in [
                frame(.fromClient, "ask \(number)", at: start), frame(.fromServer, "answer", at: start + 10),
                frame(.fromClient, "bye", at: start + 20),
            ] { connection.items.append(item) }
            trace.connections.append(connection)
        }
        var state = ReplayServerState(try Recording(trace, format: "test", rules: TraceRules()))
        var values = Echoes.Values()
        for case .send(let answer, _) in state.received(frame(.fromClient, "ask 2", at: 0), [], &values) {
            #expect(state.unasked(before: answer, arrived: [2: 1]) == [])
        }
        #expect(state.requestCount == 1)
    }

    /// A recording of conversations, each closed by the server after 80 ms.
    private func beginning(_ conversations: [[RecordedItem]]) throws -> ReplayServerState {
        var trace = RecordedTrace(source: "test")
        for (place, items) in conversations.enumerated() {
            var connection = RecordedConnection(
                number: place + 1, opened: Timestamp(seconds: 1_000, nanoseconds: 0), client: "", server: "")
            connection.format = "test"
            connection.items = RecordedItems(items)
            connection.closing = ClosedEvent(
                time: Timestamp(seconds: 1_000, nanoseconds: 0) + .milliseconds(80), reason: "fin", by: .fromServer)
            trace.connections.append(connection)
        }
        return ReplayServerState(try Recording(trace, format: "test", rules: TraceRules()))
    }

    /// A client that only listens, and sends heartbeats, has nothing to do before the server closes.
    @Test func aServerThatWasNotAskedClosesAsWell() throws {
        var state = try beginning([[frame(.fromServer, "hello", at: 10), frame(.fromClient, "beat", at: 20)]])
        let actions = state.opened([])
        guard actions.count == 2, case .send = actions[0], case .close(let pause) = actions[1] else {
            Issue.record("\(actions)")
            return
        }
        #expect(pause.text() == "80 ms")
        #expect(said(frame(.fromClient, "beat", at: 0), to: &state) == [])
    }

    /// Whom a client follows is not decided by a greeting that is always the same.
    @Test func theFirstRequestDecidesWhomAGreetedClientFollows() throws {
        func conversation(_ what: String, greeting: String = "hi") -> [RecordedItem] {
            [
                frame(.fromServer, "hello", ["says": greeting], at: 10),
                frame(.fromClient, "ask", ["what": what], at: 20),
                frame(.fromServer, "answer", ["id": what, "says": "yes"], at: 30),
            ]
        }
        let beginning = try beginning([
            conversation("time"), conversation("day", greeting: "hello"), conversation("day"), conversation("week"),
        ])
        var values = Echoes.Values()
        for (what, place) in [("time", 0), ("day", 2), ("week", 3)] {
            var state = beginning
            #expect(state.opened([]).count == 1 && state.followed == 0)
            _ = state.received(frame(.fromClient, "beat", at: 0), [0], &values)
            let ask = frame(.fromClient, "ask", ["what": what], at: 0)
            let answers = state.received(ask, [0], &values).compactMap { action in
                if case .send(let answer, _) = action { answer.item.frame?.field("id")?.string } else { nil }
            }
            #expect(answers == [what] && state.followed == place)
            // From then on, that is so.
            _ = state.received(frame(.fromClient, "ask", ["what": "time"], at: 0), [place], &values)
            #expect(state.followed == place)
        }
    }

    @Test func promptMessagesComeFirstInOrder() {
        var queue = SendQueue<Int>()
        for number in 1...4 { queue.append(number) }
        #expect(queue.popFirst() == 1)
        for number in 11...12 { queue.append(number, isPrompt: true) }
        queue.append(5)
        queue.removeAll { $0 == 3 }
        var taken: [Int] = []
        while let next = queue.first {
            #expect(queue.popFirst() == next)
            taken.append(next)
        }
        #expect(taken == [11, 12, 2, 4, 5])
        #expect(queue.popFirst() == nil)
    }

    /// From the last message to the server's close; if the client closed, there is nothing to wait for.
    @Test func theClientKnowsWhenTheRecordedServerClosed() throws {
        var connection = RecordedConnection(
            number: 1, opened: Timestamp(seconds: 1_000, nanoseconds: 0), client: "", server: "")
        #expect(ReplayClientState(connection, TraceRules()).closes == nil)
        connection.items = [frame(.fromClient, "ask", at: 10), frame(.fromServer, "answer", at: 30)]
        for by in Direction.allCases {
            connection.closing = ClosedEvent(
                time: Timestamp(seconds: 1_003, nanoseconds: 30_000_000), reason: "fin", by: by)
            let closes = ReplayClientState(connection, TraceRules()).closes
            #expect(closes == (by == .fromServer ? Interval.seconds(3) : nil))
        }
    }

    /// Of a long body, only the part that differs is printed.
    @Test func aLongUnknownRequestIsShort() throws {
        var state = try state()
        let long = String(repeating: "time and again ", count: 400)
        let reported = said(frame(.fromClient, "ask", ["id": "2", "what": long + "x"], at: 0), to: &state)
        #expect(reported.first.map { $0.hasPrefix("the recording does not know") && $0.count < 400 } == true)
    }

    @Test func anUnknownRequestIsReportedWithTheNearest() throws {
        var state = try state()
        _ = said(frame(.fromClient, "ask", ["id": "1", "what": "time"], at: 0), to: &state)
        let reported = said(frame(.fromClient, "ask", ["id": "2", "what": "month"], at: 0), to: &state)
        #expect(reported.count == 2 && reported[1] == "close after 0 ms", "nobody waits in vain")
        #expect(
            reported[0].hasPrefix("the recording does not know this request, ask; nearest is frame 0 of the client"))
        #expect(
            reported[0].contains(#"fields.what "day" → "month""#)
                || reported[0].contains(#"fields.what "time" → "month""#))
    }
}
