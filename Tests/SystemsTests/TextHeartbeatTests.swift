import Framing
import Streams
import Testing

@testable import Systems

/// The exchange of `text-heartbeat`, without sockets and with artificial times.
@Suite struct TextHeartbeatTests {
    private let heartbeat = Array("12310.300000".utf8)

    private func server(_ hazards: Set<String> = []) throws -> PeerSession<TextServer> {
        var server = PeerSession(TextServer(try setup(TextHeartbeat.self, asPublished: hazards)))
        #expect(server.started(at: at(0)) == [.wake("sweep", after: .seconds(10))])
        for number in 1...2 { _ = server.opened(number, by: "10.0.0.\(number):5", at: at(0)) }
        return server
    }

    @Test func aHeartbeatIs123AndTheVersionAsCPrintsIt() {
        #expect(HeartbeatText.bytes(version: "10.300000") == heartbeat)
        #expect(HeartbeatText.version(in: heartbeat) == "10.300000")
        for text in [
            "123", "123.000000", "12310.30000", "12310.3000000", "1231a.300000", "x12310.300000", "123-1.000000",
        ] {
            #expect(HeartbeatText.version(in: Array(text.utf8)) == nil, "\(text)")
        }
    }

    @Test func aCharacterThatAReadEndsInWaitsForTheNextRead() {
        var character = UnfinishedCharacter()
        for text in ["é", "你", "😀"] {
            for cut in 1..<text.utf8.count {
                let (first, rest) = Array(("a" + text + "b").utf8).cut(at: 1 + cut)
                #expect(character.complete(with: first) == [UInt8(ascii: "a")])
                #expect(character.complete(with: rest) == Array((text + "b").utf8))
            }
        }
        #expect(character.complete(with: [0x61, 0xff]) == [0x61, 0xff], "no UTF-8 at all")
        #expect(character.complete(with: [0x80, 0x80, 0x80]) == [0x80, 0x80, 0x80])
    }

    @Test func heartbeatsAreTakenApartAndNotAnswered() throws {
        var server = try server()
        let actions = server.received(heartbeat + heartbeat, on: 1, at: at(5))
        #expect(actions == [.log("#1 runs version 10.300000")])
        #expect(server.received(heartbeat, on: 1, at: at(10)) == [])
    }

    @Test func textMergedWithAHeartbeatIsAnswered() throws {
        var server = try server()
        #expect(
            deeds(server.received(heartbeat + Array("bye".utf8), on: 1, at: at(5)))
                == [.send(.bytes(Array("收到 bye".utf8)))])
    }

    @Test func textIsAnsweredWhenItsCharactersAreWhole() throws {
        var server = try server()
        let (first, rest) = Array("你好".utf8).cut(at: 4)
        #expect(
            deeds(server.received(first, on: 1, at: at(1)))
                == [.send(.bytes(Array("收到 你".utf8)))])
        #expect(
            deeds(server.received(rest, on: 1, at: at(2)))
                == [.send(.bytes(Array("收到 好".utf8)))])
    }

    @Test func clientsOfOneVersionAreDistinguishedAndTheSilentForgotten() throws {
        var server = try server()
        for number in 1...2 { _ = server.received(heartbeat, on: number, at: at(5)) }
        #expect(said(server.due("sweep", at: at(10))) == "alive: #1 (10.300000), #2 (10.300000)")
        _ = server.received(heartbeat, on: 1, at: at(10))
        #expect(
            said(server.due("sweep", at: at(15))) == "alive: #1 (10.300000), #2 (10.300000)",
            "10 s: not more")
        let actions = server.due("sweep", at: at(20))
        #expect(
            said(actions) == "#2 (10.300000) forgotten: silent for 15.0 s\nalive: #1 (10.300000)")
        #expect(deeds(actions) == [.wake("sweep", after: .seconds(10))], "the socket stays open")
        #expect(said(server.received(heartbeat, on: 2, at: at(21))) == "#2 is back")
    }

    @Test func keyedByTextTakesClientsOfOneVersionForOne() throws {
        var server = try server(["keyed-by-text"])
        for number in 1...2 { _ = server.received(heartbeat, on: number, at: at(5)) }
        for time in [10.0, 15] { _ = server.received(heartbeat, on: 1, at: at(time)) }
        // The second has been silent for 15 s; the server does not notice.
        #expect(said(server.due("sweep", at: at(20))) == "alive: \"12310.300000\"")
    }

    @Test func keyedByTextMakesClientsOfMergedHeartbeatsAndChat() throws {
        var server = try server(["keyed-by-text"])
        let merged = server.received(heartbeat + heartbeat, on: 1, at: at(5))
        #expect(said(merged).hasPrefix("#1 is the new client \"12310.30000012310.300000\""))
        _ = server.received(Array("Hello".utf8), on: 1, at: at(6))
        _ = server.received(heartbeat, on: 1, at: at(15))
        #expect(
            said(server.due("sweep", at: at(20))) == """
                client "12310.30000012310.300000" died
                client "Hello" died
                alive: "12310.300000"
                """)
    }

    @Test func cutCharacterCrashesAtAReadThatEndsInsideOne() throws {
        var server = try server(["cut-character"])
        let (first, rest) = Array("你好".utf8).cut(at: 4)
        #expect(deeds(server.received(first + rest, on: 1, at: at(1))).count == 1, "whole, it is answered")
        let actions = server.received(first, on: 1, at: at(2))
        #expect(deeds(actions) == [.close(connection: 1)])
        #expect(said(actions).contains("crashes: a read ends inside a character"))
        #expect(server.received(rest, on: 1, at: at(3)) == [])
    }

    @Test func theClientHeartbeatsFrom5SecondsOnAndLeavesOutSome() throws {
        var client = PeerSession(TextClient(try setup(TextHeartbeat.self, timeScale: 0.1), version: "10.300000"))
        #expect(client.started(at: at(0)) == [.connect(after: .seconds(0))])
        let later = PeerAction.wake("heartbeat", after: .seconds(0.5))
        #expect(deeds(client.opened(1, by: "server", at: at(0))) == [later])
        #expect(client.due("heartbeat", at: at(0.5)) == [.send(.bytes(heartbeat)), later])
        _ = client.change { client in
            client.heartbeatsToSkip = 1
            return []
        }
        #expect(deeds(client.due("heartbeat", at: at(1))) == [later])
        #expect(client.machine.heartbeats == 1)
        _ = client.closed(1, error: nil, at: at(1.2))
        #expect(client.due("heartbeat", at: at(1.5)) == [])
    }
}
