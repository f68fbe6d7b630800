import Framing
import Streams
import TestSupport
import Testing
import Trace
import TraceDiff

/// Pairs of traces that differ by a known edit, and the expected report.
@Suite struct KnownEditTests {
    typealias Row = ConversationDifference.Row

    /// A conversation in which questions differ and answers repeat.
    private let conversation: [FrameEvent] = (0..<8).flatMap { number in
        [
            Traces.frame(.fromClient, "ask", "question \(number)", fields: ["id": .number("\(number)")]),
            Traces.frame(.fromServer, "ok"),
        ]
    }

    private func differences(
        _ old: [FrameEvent], _ new: [FrameEvent], _ comparison: Comparison = Comparison()
    ) throws -> [Row] {
        let difference = TraceComparison.compare(
            expected: Traces.trace([old]), actual: Traces.trace([new]), comparison)
        try #require(difference.conversations.count == 1)
        return difference.conversations[0].rows.filter(\.isDifference)
    }

    @Test func nothing() throws {
        #expect(try differences(conversation, conversation).isEmpty)
    }

    @Test(arguments: 0..<16) func aDroppedFrame(place: Int) throws {
        var other = conversation
        other.remove(at: place)
        let rows = try differences(conversation, other)
        // A missing answer is the one to its question.
        #expect(rows == [.removed(expected: place)])
    }

    @Test(arguments: 0..<16) func anAddedFrame(place: Int) throws {
        var other = conversation
        other.insert(Traces.frame(.fromServer, "news", "something"), at: place)
        #expect(try differences(conversation, other) == [.added(actual: place)])
    }

    @Test func aChangedField() throws {
        var other = conversation
        other[6].fields = .object([.init("id", .number("33"))])
        let change = FieldChange(path: "fields.id", old: .number("3"), new: .number("33"))
        #expect(try differences(conversation, other) == [.changed(expected: 6, actual: 6, [change])])
    }

    @Test func aChangedBody() throws {
        var other = conversation
        other[4] = Traces.frame(.fromClient, "ask", "question two", fields: ["id": .number("2")])
        let change = FieldChange(path: "body.text", old: .text("question 2"), new: .text("question two"))
        #expect(try differences(conversation, other) == [.changed(expected: 4, actual: 4, [change])])
    }

    @Test func aChangedType() throws {
        var other = conversation
        other[4].type = "demand"
        let change = FieldChange(path: "type", old: .text("ask"), new: .text("demand"))
        #expect(try differences(conversation, other) == [.changed(expected: 4, actual: 4, [change])])
    }

    @Test func swappedFramesOfOneSide() throws {
        var other = conversation
        other.swapAt(4, 6)
        let rows = try differences(conversation, other)
        #expect(rows.count == 1)
        #expect(rows == [.moved(expected: 4, actual: 6)] || rows == [.moved(expected: 6, actual: 4)])
    }

    @Test func sidesThatSpeakInAnotherTurn() throws {
        var other = conversation
        other.swapAt(4, 5)
        #expect(try differences(conversation, other).isEmpty)
        var turns = Comparison()
        turns.aspects = [.turns]
        let rows = try differences(conversation, other, turns)
        #expect(rows == [.crossed(expected: 4, actual: 5)] || rows == [.crossed(expected: 5, actual: 4)])
    }

    @Test func jsonMembersHaveNoOrderAndNumbersOneSpelling() throws {
        func frame(_ json: String) throws -> FrameEvent {
            var frame = Traces.frame(.fromClient, "json")
            let value = try JSONValue(parsing: Array(json.utf8).span.bytes)
            frame.body = .object([.init("length", .number("1")), .init("json", value)])
            return frame
        }
        let old = try frame(#"{"a":1,"b":{"c":[1,2],"d":null}}"#)
        #expect(try differences([old], [frame(#"{"b":{"d":null,"c":[1.0,2e0]},"a":1}"#)]).isEmpty)
        let change = FieldChange(path: "body.json.b.c[1]", old: .number("2"), new: .number("3"))
        let other = try frame(#"{"b":{"d":null,"c":[1,3]},"a":1}"#)
        #expect(try differences([old], [other]) == [.changed(expected: 0, actual: 0, [change])])
    }

    @Test func howItEnded() throws {
        var other = Traces.trace([conversation])
        other.connections[0].closing?.reason = "timeout"
        other.connections[0].closing?.by = .fromServer
        let difference = TraceComparison.compare(expected: Traces.trace([conversation]), actual: other)
        #expect(
            difference.conversations[0].changes == [
                FieldChange(path: "closed.reason", old: .text("fin"), new: .text("timeout")),
                FieldChange(path: "closed.by", old: .text("client"), new: .text("server")),
            ])
    }

    @Test func anotherFormat() {
        var other = Traces.trace([conversation])
        other.connections[0].format = "im-magic"
        let difference = TraceComparison.compare(expected: Traces.trace([conversation]), actual: other)
        let change = FieldChange(path: "format", old: .text("im-json"), new: .text("im-magic"))
        #expect(difference.conversations.map(\.changes) == [[change]])
        #expect(difference.conversations.allSatisfy { !$0.rows.contains(where: \.isDifference) })
        #expect(!difference.isEmpty)
    }

    /// Addresses differ from run to run: they are compared on request.
    @Test func otherAddresses() {
        var other = Traces.trace([conversation])
        other.connections[0].client = "127.0.0.1:50000"
        other.connections[0].server = "127.0.0.1:9000"
        #expect(TraceComparison.compare(expected: Traces.trace([conversation]), actual: other).isEmpty)
        var comparison = Comparison()
        comparison.aspects = [.ports]
        let difference = TraceComparison.compare(expected: Traces.trace([conversation]), actual: other, comparison)
        #expect(
            difference.conversations.map(\.changes) == [
                [
                    FieldChange(path: "client", old: .text("127.0.0.1:40000"), new: .text("127.0.0.1:50000")),
                    FieldChange(path: "server", old: .text("127.0.0.1:8088"), new: .text("127.0.0.1:9000")),
                ]
            ])
    }

    @Test func unframedPiecesAreOneRun() {
        func trace(_ cuts: [Int]) -> RecordedTrace {
            var trace = Traces.trace([conversation])
            var offset = 0
            for end in cuts + [100] {
                let run = RunEvent(
                    from: .fromClient, time: Traces.start, offset: offset, length: end - offset, reason: "no-sync",
                    hex: String(repeating: "ab", count: end - offset))
                trace.connections[0].items.append(.unframed(run))
                offset = end
            }
            return trace
        }
        #expect(TraceComparison.compare(expected: trace([]), actual: trace([1, 50])).isEmpty)
    }
}
