import Framing
import Streams
import Testing

@testable import Peers

/// The exchange of `line`, without sockets.
@Suite struct LinesTests {
    private let at = SimplePeers.at
    private let answer = LineServerState.Action.write(Array("我是回答\n".utf8), connection: 1)

    private func server(_ hazards: Set<String> = []) throws -> LineServerState {
        var server = LineServerState(try SimplePeers.format("line"), options: SimplePeers.options(asPublished: hazards))
        _ = server.opened(1, with: "10.0.0.1:5", at: at(0))
        return server
    }

    private func deeds(_ server: inout LineServerState, _ text: String) -> [LineServerState.Action] {
        SimplePeers.deeds(server.received(Array(text.utf8), on: 1, at: at(1)))
    }

    @Test func answersEachLineHoweverItIsCut() throws {
        #expect(LineServerState.answer.count == 13)
        let text = Array("a\r\n你好\nc\n".utf8)
        for cut in 0...text.count {
            var server = try server()
            let (first, rest) = text.cut(at: cut)
            let actions = server.received(first, on: 1, at: at(1)) + server.received(rest, on: 1, at: at(1))
            #expect(SimplePeers.deeds(actions) == [answer, answer, answer])
        }
    }

    @Test(arguments: ["esc\r\n", "esc\n"]) func escEndsTheSession(_ end: String) throws {
        var server = try server()
        #expect(deeds(&server, "a\n" + end + "b\n") == [answer, .close(connection: 1)])
        #expect(deeds(&server, "c\n") == [])
    }

    @Test func perReadAnswersReadsInPlaceOfLines() throws {
        var server = try server(["per-read"])
        #expect(deeds(&server, "a\nb\n") == [answer], "one for two")
        #expect(deeds(&server, "c") == [answer], "one for a part")
        #expect(deeds(&server, "\n") == [answer], "and one for the rest")
    }

    @Test func perReadSeesTheEndOnlyWhenItIsTheWholeRead() throws {
        var server = try server(["per-read"])
        #expect(deeds(&server, "esc\n") == [answer], "what the published app sends")
        #expect(deeds(&server, "a\nesc\r\n") == [answer])
        #expect(deeds(&server, "esc\r\n") == [.close(connection: 1)])
    }

    @Test func theClientCountsLines() throws {
        var client = LineClientState(try SimplePeers.format("line"))
        _ = client.opened(1, with: "server", at: at(0))
        let (first, rest) = (LineServerState.answer + LineServerState.answer).cut(at: 15)
        _ = client.received(first, on: 1, at: at(1))
        #expect(client.answers == 1)
        _ = client.received(rest, on: 1, at: at(1))
        #expect(client.answers == 2)
    }
}
