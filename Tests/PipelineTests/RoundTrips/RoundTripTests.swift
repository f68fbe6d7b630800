import Analysis
import Framing
import Packets
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

/// Requests and answers, in the ways in which formats pair them.
@Suite struct RoundTripTests {
    /// A message of one side, at a time in milliseconds: `2`, or `2 7` with an id.
    struct Step: Sendable {
        var from: Direction
        var line: String
        var time: Int64

        static func ask(_ line: String, _ time: Int64) -> Step { Step(from: .fromClient, line: line, time: time) }
        static func report(_ line: String, _ time: Int64) -> Step { Step(from: .fromServer, line: line, time: time) }
    }

    /// Lines of a type and an id, each asked by the client and answered by the server.
    private func format(_ pairs: String) throws -> Format {
        try FormatLoader.load(
            """
            format: asking
            framing: { rule: fixed, size: 2 }
            header: [{ kind: { type: char } }, { id: { type: char } }]
            frame: { type: kind }
            pairs: [{ request: from == client, from: client, answer: from == server, \(pairs) }]
            """, file: "asking")
    }

    private struct Outcome {
        var findings: [TraceLine]
        var summary: TraceLine?
        var times: [Int64]
        var kinds: [String] { findings.map { $0["kind"] ?? "" } }
    }

    private func play(
        _ pairs: String, _ steps: [Step], handshake: Bool = true, closing: CloseReason = .fin,
        _ more: (any ConnectionReceiver) -> Void = { _ in }
    ) throws -> Outcome {
        let output = MemoryOutput()
        var times: [Int64] = []
        let monitor = RoundTripMonitor { times.append($0.time.nanoseconds / 1_000_000) }
        let decoder = Decoder(
            DecodingOptions(.fixed(try format(pairs))), analyses: [monitor],
            sinks: [NDJSONWriter(to: output, source: "tests", tool: "tests")])
        let loopback = IPAddress(v4: 0x7f00_0001)
        func at(_ milliseconds: Int64) -> Timestamp { Timestamp(nanoseconds: milliseconds * 1_000_000) }
        let connection = decoder.open(
            Opening(
                number: 1, time: at(0), client: Endpoint(loopback, 40_000), server: Endpoint(loopback, 9_000),
                handshake: handshake))
        for step in steps {
            decoder.advance(to: at(step.time))
            let bytes = Array(step.line.utf8)
            connection.received(bytes.span.bytes, from: step.from, at: at(step.time), packet: 0)
        }
        more(connection)
        let end = at((steps.last?.time ?? 0) + 10_000)
        decoder.advance(to: end)
        connection.closed(Closing(reason: closing, by: .fromClient, time: end))
        decoder.finish()
        let lines = try traceLines(output.text)
        return Outcome(
            findings: lines.filter { $0.event == "finding" }, summary: lines.last { $0.event == "summary" },
            times: times)
    }

    @Test func answersInOrderHaveTheTimesOfTheirRequests() throws {
        let outcome = try play(
            "by: order",
            [.ask("a1", 0), .ask("b2", 10), .report("x1", 15), .report("y2", 40), .ask("a3", 50), .report("z3", 51)])
        #expect(outcome.times == [15, 30, 1] && outcome.kinds == [])
    }

    /// The requests of one connection are not answered on another, however many there are.
    @Test func connectionsArePairedSeparately() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var times: [Int: [Int64]] = [:]
        let monitor = RoundTripMonitor { times[$0.connection, default: []].append($0.time.nanoseconds) }
        let decoder = Decoder(DecodingOptions(.fixed(try format("by: order"))), analyses: [monitor], sinks: [])
        let loopback = IPAddress(v4: 0x7f00_0001)
        let connections = (1...600).map { number in
            decoder.open(
                Opening(
                    number: number, time: Timestamp(nanoseconds: 0), client: Endpoint(loopback, UInt16(number)),
                    server: Endpoint(loopback, 9_000), handshake: true))
        }
        func send(_ direction: Direction) {
            for number in (1...600).shuffled(using: &generator) {
                let line = Array("a1".utf8)
                let time = Timestamp(nanoseconds: direction == .fromClient ? 0 : Int64(number))
                connections[number - 1].received(line.span.bytes, from: direction, at: time, packet: 0)
            }
        }
        for _ in 0..<3 {
            send(.fromClient)
            send(.fromServer)
        }
        for (number, connection) in zip(1..., connections) {
            let end = Timestamp(nanoseconds: 1_000)
            connection.closed(Closing(reason: .fin, by: .fromClient, time: end))
            #expect(times[number] == [Int64](repeating: Int64(number), count: 3), "seed \(seed)")
        }
        decoder.finish()
    }

    @Test func anAnswerThatCameTooLateIsNotTheNextRequests() throws {
        let outcome = try play(
            "by: order, within: 1 s",
            [
                .ask("a1", 0), .report("x1", 1_500), .ask("b2", 1_600), .report("y2", 1_610), .ask("c3", 2_000),
                .report("z3", 2_030),
            ])
        #expect(outcome.times == [1_500, 10, 30], "what took too long is part of the times")
        #expect(outcome.kinds == ["unanswered", "late-answer"])
        #expect(outcome.findings.last?.number("index", of: "data") == 0)
        #expect(outcome.findings.last?["message"] == "x 0 answers a with id 1 after 1.5 s, too late")
    }

    @Test func aRequestWithoutAnswerIsFoundWhenItsTimeIsUp() throws {
        let late = try play("within: 1 s", [.ask("a1", 0), .ask("b2", 10), .report("x1", 15), .report("y2", 2_000)])
        #expect(
            late.kinds == ["unanswered", "late-answer"], "its answer came too late, but is its answer")
        #expect(late.findings.first?["time"] == "1970-01-01T00:00:01.010000000Z")
        #expect(late.findings.first?["message"] == "b with id 2 from the client was not answered within 1.0 s")
        #expect(late.findings.first?.from == "server")
        let inTime = try play("within: 1 s", [.ask("a1", 0), .report("x1", 1_000)])
        #expect(inTime.kinds == [] && inTime.times == [1_000], "the deadline itself is in time")
    }

    @Test func withoutATimeItIsFoundWhenTheConnectionIsOver() throws {
        #expect(try play("by: order", [.ask("a1", 0)]).kinds == ["unanswered"])
        let open = try play("by: order", [.ask("a1", 0)], closing: .endOfInput)
        #expect(open.kinds == ["unanswered"])
        #expect(open.findings.first?["severity"] == "info", "it may have come later")
        #expect(
            open.findings.first?["message"]
                == "a with id 1 from the client was not answered when the capture ended, after 10.0 s")
        let many = try play("by: order", (0..<15).map { .ask("a\($0 % 10)", Int64($0)) })
        #expect(many.kinds == [String](repeating: "unanswered", count: 11))
        #expect(many.findings.last?.number("count", of: "data") == 5)
    }

    @Test func whatIsReportedByItsNumberCountsAsManyAndIsAsSevere() throws {
        let late = try play(
            "by: order, within: 1 s",
            (0..<15).flatMap { number in
                [Step.ask("a1", Int64(number) * 5_000), Step.report("x1", Int64(number) * 5_000 + 1_500)]
            })
        for (kind, severity) in [("late-answer", "info"), ("unanswered", "warning")] {
            let found = late.findings.filter { $0["kind"] == kind }
            #expect(found.count == 11 && found.allSatisfy { $0["severity"] == severity })
            #expect(late.summary?.number(kind, of: "findings") == 15)
        }
        let open = try play("by: order", (0..<15).map { .ask("a1", Int64($0)) }, closing: .endOfInput)
        #expect(open.findings.last?["severity"] == "info", "they may have been answered later")
    }

    @Test func anAnswerThatNobodyAskedFor() throws {
        #expect(
            try play("by: order", [.report("x1", 0), .ask("a1", 5_000), .report("y1", 5_001)]).kinds == [
                "answer-without-request"
            ])
        let middle = try play(
            "by: order", [.report("x1", 0), .ask("a1", 5_000), .report("y1", 5_001)], handshake: false)
        #expect(middle.kinds == [], "it was asked for before the capture began")
        let swapped = try play("by: order", [.report("x1", 0), .ask("a1", 1)])
        #expect(swapped.kinds == [] && swapped.times == [], "the capture has them in the wrong order")
    }

    /// More than are kept: of the others the number is known, unless bytes that were lost may have had their requests.
    @Test(arguments: [CloseReason.fin, .endOfInput], ["by: order", "by: fields.id"])
    func answersThatNobodyAskedForAreAllCounted(closing: CloseReason, pairs: String) throws {
        let answers = (0..<200).map { Step.report("x1", Int64($0) * 20) }
        let outcome = try play(pairs, answers, closing: closing)
        #expect(outcome.kinds == [String](repeating: "answer-without-request", count: 11))
        #expect(outcome.findings.last?.number("count", of: "data") == 190)
        #expect(outcome.findings.last?["severity"] == "warning")
        #expect(outcome.summary?.number("answer-without-request", of: "findings") == 200)
        let lost = try play(pairs, (0..<200).map { Step.report("x1", Int64($0)) }, closing: closing) { connection in
            connection.missing(2, from: .fromClient, at: Timestamp(nanoseconds: 300_000_000))
        }
        #expect(lost.kinds == [])
    }

    @Test func answersByTypeTellWhichWereSkipped() throws {
        let steps: [Step] = [.ask("a1", 0), .ask("b2", 10), .report("b2", 20), .report("a1", 30)]
        let ordered = try play("by: type", steps)
        #expect(ordered.kinds == ["answer-out-of-order"] && ordered.times == [10, 30])
        #expect(ordered.findings.first?.number("skipped", of: "data") == 1)
        #expect(try play("by: type, ordered: false", steps).kinds == [])
        #expect(
            try play("by: type", [.ask("a1", 0), .ask("a2", 10), .report("a2", 20), .report("a1", 30)]).kinds == [])
    }

    @Test func answersByFieldComeAsTheyLike() throws {
        let steps: [Step] = [.ask("a1", 0), .ask("a2", 10), .report("x2", 20), .report("x1", 30), .report("x7", 40)]
        let outcome = try play("by: fields.id", steps)
        #expect(outcome.kinds == ["answer-without-request"] && outcome.times == [10, 30])
        #expect(try play("by: fields.id, ordered: true", Array(steps.dropLast())).kinds == ["answer-out-of-order"])
    }

    @Test func aFrameBeforeTheFirstRequestTakesNoAnswerAway() throws {
        var steps: [Step] = [.report("x1", 0)]
        for time in stride(from: 40, to: 1_600, by: 40) as StrideTo<Int64> {
            steps += [.ask("a1", time), .report("y1", time + 10)]
        }
        let outcome = try play("by: order", steps)
        #expect(outcome.times == [Int64](repeating: 10, count: 39))
        #expect(outcome.kinds == ["answer-without-request"])
    }

    @Test func aRoundTripMayTakeNoTime() throws {
        // For a marker's frames the end is known later: the request completes at the very time of its answer.
        let swapped = try play("by: order", [.report("x1", 5), .ask("a1", 5)])
        #expect(swapped.times == [0] && swapped.kinds == [])
        let before = try play("by: fields.id", [.report("x1", 5), .ask("a1", 6)])
        #expect(before.times == [] && before.kinds == [], "an answer before its request has no time")
        #expect(try play("by: order", [.ask("a1", 5), .report("x1", 5)]).times == [0])
        var times = RoundTripTimes()
        for nanoseconds in [0, -1, 1] as [Int64] { times.add(Interval(nanoseconds: nanoseconds)) }
        #expect(times.count == 3 && times.minimum.nanoseconds == 0 && times.maximum.nanoseconds == 1)
    }

    @Test func textsThatAreSentBackAreTimed() throws {
        let format = try #require(try BuiltInFormats.format(named: "text-heartbeat"))
        var times: [Int64] = []
        let output = MemoryOutput()
        let decoder = Decoder(
            DecodingOptions(.fixed(format)),
            analyses: [RoundTripMonitor { times.append($0.time.nanoseconds / 1_000_000) }],
            sinks: [NDJSONWriter(to: output, source: "tests", tool: "tests")])
        let loopback = IPAddress(v4: 0x7f00_0001)
        let connection = decoder.open(
            Opening(
                number: 1, time: Timestamp(nanoseconds: 0), client: Endpoint(loopback, 40_000),
                server: Endpoint(loopback, 7_100)))
        func say(_ text: String, _ from: Direction, _ time: Int64) {
            let bytes = Array(text.utf8)
            connection.received(bytes.span.bytes, from: from, at: Timestamp(nanoseconds: time * 1_000_000), packet: 0)
        }
        say("12310.300000", .fromClient, 500)
        for round in 0..<20 as Range<Int64> {
            say("m\(round)", .fromServer, 1_000 + round * 40)
            if round != 7 { say("m\(round)", .fromClient, 1_010 + round * 40) }
            say("something else", .fromClient, 1_011 + round * 40)
        }
        connection.closed(Closing(reason: .fin, by: .fromClient, time: Timestamp(nanoseconds: 60_000_000_000)))
        decoder.finish()
        #expect(times == [Int64](repeating: 10, count: 19))
        #expect(try traceLines(output.text).filter { $0.event == "finding" }.isEmpty, "nobody has to send a text back")
    }

    @Test func answersMayRepeatTheirRequests() throws {
        let steps: [Step] = [
            .report("q9", 0), .ask("a1", 0), .ask("b2", 10), .report("b2", 15), .report("x7", 16), .report("a1", 40),
        ]
        // The body of a frame of two bytes is what is after the header: nothing. So the type tells, and the id.
        let optional = try play("by: fields.id, within: 1 s, optional: true", steps + [.ask("c3", 50)])
        #expect(optional.times == [5, 40] && optional.kinds == [], "what is optional is never missed")
    }

    @Test func theTimesOfAllAnswersCountHoweverLate() throws {
        var generator = SeededGenerator(seed: 6)
        for _ in 0..<50 {
            var steps: [Step] = []
            var truth: [Int64] = []
            for index in 0..<Int64(10) {
                let took = Int64.random(in: 1...5_000, using: &generator)
                truth.append(took)
                steps += [.ask("a\(index)", index * 100), .report("x\(index)", index * 100 + took)]
            }
            let outcome = try play("by: fields.id, within: 1 s", steps.sorted { $0.time < $1.time })
            let late = truth.filter { $0 > 1_000 }.count
            #expect(outcome.times.sorted() == truth.sorted(), "seed 6")
            #expect(outcome.kinds.filter { $0 == "unanswered" }.count == late, "seed 6")
            #expect(outcome.kinds.filter { $0 == "late-answer" }.count == late, "seed 6")
        }
    }

    @Test func afterMissingBytesNobodyKnowsWhatWasAsked() throws {
        let outcome = try play("by: order", [.ask("a1", 0), .ask("b2", 10)]) { connection in
            connection.missing(2, from: .fromServer, at: Timestamp(nanoseconds: 20_000_000))
            let answer = Array("x1".utf8)
            connection.received(answer.span.bytes, from: .fromServer, at: Timestamp(nanoseconds: 30_000_000), packet: 0)
        }
        #expect(outcome.kinds.filter { $0 == "unanswered" } == [])
    }

    @Test func whatWaitsIsBounded() throws {
        let outcome = try play("by: order", (0..<5_000).map { .ask("a1", Int64($0)) })
        #expect(outcome.kinds == [], "with so many nobody knows what is answered")
    }

    @Test func aHeartbeatIsARequestToo() throws {
        let format = try FormatLoader.load(
            """
            format: beats
            framing: { rule: delimiter, end: "\\n" }
            body: text
            frame: { type: [{ when: body.text == "beat", is: beat }, { when: body.text == "yes", is: yes }] }
            pairs: [{ request: type == "ask", from: client, answer: type == "tell" }]
            heartbeat: { when: type == "beat", from: client, every: 1 s, gap: 3 s, answer: { when: type == "yes", within: 10 s } }
            """, file: "beats.yaml")
        #expect(format.allPairings.map(\.isHeartbeat) == [false, true])
        #expect(format.scalingHeartbeat(by: 0.01).allPairings.last?.within == .seconds(0.1))
    }
}
