import Framing
import Streams
import Testing

@testable import Systems

/// The exchange of `line`, without sockets.
@Suite struct LinesTests {
    private let answer = PeerAction.send(.bytes(Array("我是回答\n".utf8)))

    private func server(_ hazards: Set<String> = []) throws -> PeerSession<LineServer> {
        var server = PeerSession(LineServer(try setup(Lines.self, asPublished: hazards)))
        _ = server.opened(1, by: "10.0.0.1:5", at: at(0))
        return server
    }

    private func deeds(_ server: inout PeerSession<LineServer>, _ text: String) -> [PeerAction] {
        SystemsTests.deeds(server.received(Array(text.utf8), on: 1, at: at(1)))
    }

    @Test func answersEachLineHoweverItIsCut() throws {
        #expect(LineServer.answer.count == 13)
        let text = Array("a\r\n你好\nc\n".utf8)
        for cut in 0...text.count {
            var server = try server()
            let (first, rest) = text.cut(at: cut)
            let actions = server.received(first, on: 1, at: at(1)) + server.received(rest, on: 1, at: at(1))
            #expect(SystemsTests.deeds(actions) == [answer, answer, answer])
        }
    }

    @Test(arguments: ["esc\r\n", "esc\n"]) func escEndsTheSession(_ end: String) throws {
        var server = try server()
        #expect(deeds(&server, "a\n" + end + "b\n") == [answer, .close()])
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
        var client = PeerSession(LineClient(try setup(Lines.self)))
        _ = client.opened(1, by: "server", at: at(0))
        let (first, rest) = (LineServer.answer + LineServer.answer).cut(at: 15)
        _ = client.received(first, on: 1, at: at(1))
        #expect(client.machine.answers == 1)
        _ = client.received(rest, on: 1, at: at(1))
        #expect(client.machine.answers == 2)
    }
}
