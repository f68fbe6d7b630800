import Framing
import Streams
import TestSupport
import Testing
import Trace
import TraceDiff

@testable import Replay

/// Bound values that one connection has from another, without sockets.
@Suite struct SharedValuesTests {
    private static let start = Timestamp(seconds: 1_000, nanoseconds: 0)

    private func frame(_ from: Direction, _ type: String, id: String, at milliseconds: Int64 = 0) -> RecordedItem {
        let time = Self.start + .milliseconds(milliseconds)
        return .frame(
            FrameEvent(
                connection: 1, from: from, index: 0, time: time, started: time, offset: 0, length: 1, segments: 1,
                merged: false, type: type, isHeartbeat: false, fields: .object([.init("id", .text(id))]),
                body: .object([.init("length", .number("0")), .init("text", .text(""))])))
    }

    private func connection(_ number: Int, _ items: [RecordedItem]) -> RecordedConnection {
        var connection = RecordedConnection(number: number, opened: Self.start, client: "", server: "")
        connection.format = "test"
        connection.items = RecordedItems(items)
        return connection
    }

    /// The IDs of frames of these types are bound.
    private func rules(_ types: [String]) throws -> TraceRules {
        let places = types.map { "{ type: \($0), path: fields.id }" }.joined(separator: ", ")
        return try RulesYAML.rules(in: "bind:\n  - name: id\n    places: [\(places)]\n", file: "rules.yaml")
    }

    private func id(of item: RecordedItem) -> String { item.frame?.field("id")?.string ?? "none" }

    /// Actual IDs are recorded ones of other messages, too: none is replaced twice.
    @Test func whatOneClientSaysIsRelayedToAnotherAsItReallyWas() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let recorded = (1...10).map(String.init)
        let ann = [frame(.fromClient, "join", id: "ann")]
        let ben = recorded.enumerated().map { frame(.fromClient, "say", id: $1, at: 10 + 10 * Int64($0)) }
        let news = recorded.enumerated().map { frame(.fromServer, "news", id: $1, at: 15 + 10 * Int64($0)) }
        var trace = RecordedTrace(source: "test")
        trace.connections = [connection(1, ann + news), connection(2, ben)]
        let beginning = ReplayServerState(try Recording(trace, format: "test", rules: rules(["say", "news"])))

        let actual = recorded.shuffled(using: &generator)
        var (listening, speaking, values) = (beginning, beginning, Echoes.Values())
        // These wait for what is said later.
        let answers = listening.received(frame(.fromClient, "join", id: "ann"), [], &values)
        for id in actual { _ = speaking.received(frame(.fromClient, "say", id: id), [0], &values) }
        var relayed: [String] = []
        for case .send(let answer, let known) in answers {
            relayed.append(id(of: listening.filled(answer, known, values)))
        }
        #expect(relayed == actual, "seed \(seed)")
    }

    /// What is kept for an answer does not grow with the conversation.
    @Test func onlyTheValuesThatAFrameRepeatsAreKeptForIt() throws {
        let ids = (1...20).map(String.init)
        var echoes = Echoes(try rules(["say", "news"]))
        for id in ids {
            echoes.note(
                recorded: frame(.fromClient, "say", id: id), actual: frame(.fromClient, "say", id: "new \(id)"))
        }
        for own in ids {
            let kept = echoes.values(of: frame(.fromServer, "news", id: own))
            let filled = ids.map { self.id(of: echoes.filled(frame(.fromServer, "news", id: $0), kept)) }
            #expect(filled == ids.map { $0 == own ? "new \($0)" : $0 })
        }
    }

    @Test func aValueThatTheServerSentOnOneConnectionIsUsedOnAnother() throws {
        let rules = try rules(["token", "attach"])
        var first = ReplayClientState(
            connection(1, [frame(.fromClient, "login", id: "ann"), frame(.fromServer, "token", id: "old")]), rules)
        var second = ReplayClientState(connection(2, [frame(.fromClient, "attach", id: "old")]), rules)
        var values = Echoes.Values()
        let attach = frame(.fromClient, "attach", id: "old")
        #expect(id(of: second.filled(attach, values)) == "old")
        first.received(frame(.fromServer, "token", id: "new"), &values)
        #expect(id(of: second.filled(attach, values)) == "new")
    }

    /// Connections may count from 1, each for itself.
    @Test func whatAConnectionKnowsItselfCounts() throws {
        let rules = try rules(["hello", "ask"])
        let items = [frame(.fromServer, "hello", id: "1"), frame(.fromClient, "ask", id: "1")]
        var clients = [ReplayClientState(connection(1, items), rules), ReplayClientState(connection(2, items), rules)]
        var values = Echoes.Values()
        for place in clients.indices {
            clients[place].received(frame(.fromServer, "hello", id: "\(place + 7)"), &values)
        }
        let asked = clients.indices.map { id(of: clients[$0].filled(items[1], values)) }
        #expect(asked == ["7", "8"])
    }
}
