import Framing
import Streams
import Testing

@testable import Systems

/// The exchange of the chat relay's server, without sockets and with artificial times.
@Suite struct ChatServerTests {
    private let relay: PeerSession<ChatServer>

    init() throws { relay = PeerSession(ChatServer(try setup(ChatRelay.self))) }

    /// The bytes of a message.
    private func bytes(_ message: ChatMessage, from direction: Direction = .fromClient) throws -> [UInt8] {
        try relay.machine.setup.codec(from: direction).encode(.messages([message.frame(from: direction)]))
    }

    private func heartbeat(of name: String) throws -> [UInt8] {
        try bytes(ChatMessage(type: "heartA", sender: name, target: "", body: Array("A心跳".utf8)))
    }

    private func text(_ text: String, from sender: String, to target: String) throws -> [UInt8] {
        try bytes(ChatMessage(text: text, from: sender, to: target))
    }

    private func sent(_ text: String, from sender: String, on connection: Int) throws -> PeerAction {
        .send(.bytes(try bytes(ChatMessage(text: text, from: sender), from: .fromServer)), connection: connection)
    }

    /// The server's actions at its sweep, without the next one.
    private func sweep(_ relay: inout PeerSession<ChatServer>, at now: Timestamp) -> [PeerAction] {
        let actions = relay.due("sweep", at: now)
        #expect(actions.last == .wake("sweep", after: .seconds(30)))
        return actions.dropLast()
    }

    /// A relay that knows A on 1 and B on 2 at second 0.
    private func withAAndB(_ relay: PeerSession<ChatServer>) throws -> PeerSession<ChatServer> {
        var relay = relay
        for (number, name) in [(1, "CinentA"), (2, "CinentB")] {
            _ = relay.opened(number, by: "127.0.0.1:\(number)", at: at(0))
            _ = relay.received(try heartbeat(of: name), on: number, at: at(0))
        }
        return relay
    }

    @Test func learnsWhoIsThereAndNeitherAnswersNorRelaysHeartbeats() throws {
        var relay = relay
        #expect(relay.opened(1, by: "10.0.0.1:5", at: at(0)) == [.log("#1 connected from 10.0.0.1:5")])
        #expect(relay.received(try heartbeat(of: "CinentA"), on: 1, at: at(0)) == [.log("#1 is CinentA")])
        #expect(relay.received(try heartbeat(of: "CinentA"), on: 1, at: at(1)) == [])
        let toItself = ChatMessage(type: "heart", sender: "CinentA", target: "CinentA", body: [])
        #expect(relay.received(try bytes(toItself), on: 1, at: at(2)) == [])
    }

    @Test func relaysWithAHeadOfItsOwn() throws {
        var relay = try withAAndB(relay)
        #expect(
            relay.received(try text("Hello", from: "CinentA", to: "CinentB"), on: 1, at: at(1)) == [
                .log("#1 txt CinentA → CinentB, 5 B: \"Hello\""), try sent("Hello", from: "CinentA", on: 2),
            ])
        let head = ChatMessage(text: "Hello", from: "CinentA").frame(from: .fromServer)
        #expect(head.fields == [Field("type", .text("txt")), Field("sourceClient", .text("CinentA"))])
    }

    @Test func relaysToEveryConnectionOfThatIDTheSendersOwnIncluded() throws {
        var relay = try withAAndB(relay)
        _ = relay.opened(3, by: "", at: at(0))
        _ = relay.received(try heartbeat(of: "CinentB"), on: 3, at: at(0))
        #expect(
            deeds(relay.received(try text("x", from: "CinentB", to: "CinentB"), on: 2, at: at(1)))
                == [try sent("x", from: "CinentB", on: 2), try sent("x", from: "CinentB", on: 3)])
    }

    @Test func learnsAnewFromEveryFrame() throws {
        var relay = try withAAndB(relay)
        #expect(
            relay.received(try text("me too", from: "CinentC", to: "CinentB"), on: 1, at: at(1)).first
                == .log("#1 is CinentC"))
        #expect(deeds(relay.received(try text("x", from: "CinentB", to: "CinentA"), on: 2, at: at(1))) == [])
        #expect(
            deeds(relay.received(try text("x", from: "CinentB", to: "CinentC"), on: 2, at: at(1)))
                == [try sent("x", from: "CinentB", on: 1)])
    }

    @Test func aMessageForNobodyIsLostAndSaidToBe() throws {
        var relay = try withAAndB(relay)
        #expect(
            relay.received(try text("x", from: "CinentA", to: "CinentC"), on: 1, at: at(1)) == [
                .log("#1 txt CinentA → CinentC, 1 B: \"x\", lost: nobody there")
            ])
        #expect(
            relay.received(try text("x", from: "CinentA", to: ""), on: 1, at: at(1)) == [
                .log("#1 txt CinentA → \"\", 1 B: \"x\", lost: it names no target")
            ])
    }

    @Test func whatIsShownIsEscaped() throws {
        var relay = try withAAndB(relay)
        let said = relay.received(try text("\u{1b}[2J", from: "Cinent\u{7}", to: "Cinent\u{9b}C"), on: 1, at: at(1))
        for case .log(let line) in said {
            #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7f..<0xa0).contains($0.value) })
        }
    }

    @Test func theSilentAreEvictedAtTheSweepAfterMoreThan20Seconds() throws {
        var relay = try withAAndB(relay)
        _ = relay.received(try text("x", from: "CinentA", to: "CinentB"), on: 1, at: at(15))
        #expect(sweep(&relay, at: at(20)) == [], "20 s are not more than 20 s")
        #expect(
            sweep(&relay, at: at(30)) == [
                .log("#2 (CinentB) evicted: silent for 30.0 s"), .close(connection: 2),
            ])
        #expect(relay.closed(2, error: nil, at: at(30)) == [], "the eviction has been said")
        #expect(relay.received(try heartbeat(of: "CinentB"), on: 2, at: at(30)) == [], "forgotten")
        #expect(deeds(relay.received(try text("x", from: "CinentA", to: "CinentB"), on: 1, at: at(30))) == [])
        #expect(sweep(&relay, at: at(60)).last == .close(connection: 1))
    }

    @Test func whoeverNeverSaysAnythingIsEvictedToo() throws {
        var relay = relay
        _ = relay.opened(7, by: "", at: at(5))
        #expect(sweep(&relay, at: at(25)) == [])
        #expect(deeds(sweep(&relay, at: at(25.1))) == [.close(connection: 7)])
    }

    @Test func badBytesAreSurvivedAndDoNotCountAsLife() throws {
        var relay = try withAAndB(relay)
        let bad = Array("no head".utf8)
        #expect(relay.received(bad, on: 1, at: at(19)) == [])
        let again = said(relay.received(bad + (try text("x", from: "CinentB", to: "")), on: 2, at: at(19)))
        #expect(again.hasPrefix("#2 7 B without frame: bad-head at 93: "))
        #expect(
            deeds(relay.received(try text("x", from: "CinentB", to: "CinentA"), on: 2, at: at(20)))
                == [try sent("x", from: "CinentB", on: 1)])
        #expect(deeds(sweep(&relay, at: at(21))) == [.close(connection: 1)])
    }

    private func storing(_ store: OfflineStore) -> PeerSession<ChatServer> {
        PeerSession(ChatServer(relay.machine.setup, store: store))
    }

    @Test func storedMessagesAreDeliveredInOrderWhenTheirTargetAppears() throws {
        var relay = try withAAndB(storing(OfflineStore()))
        for body in ["first", "second"] {
            let said = relay.received(try text(body, from: "CinentA", to: "CinentC"), on: 1, at: at(1))
            #expect(said.count == 1)
            #expect("\(said)".contains("stored: nobody there"))
        }
        _ = relay.opened(3, by: "", at: at(2))
        #expect(
            deeds(relay.received(try heartbeat(of: "CinentC"), on: 3, at: at(2)))
                == [try sent("first", from: "CinentA", on: 3), try sent("second", from: "CinentA", on: 3)])
        #expect(relay.received(try heartbeat(of: "CinentC"), on: 3, at: at(3)) == [], "only once")
        #expect(
            deeds(relay.received(try text("now", from: "CinentA", to: "CinentC"), on: 1, at: at(3)))
                == [try sent("now", from: "CinentA", on: 3)])
    }

    @Test func theStoreIsBounded() throws {
        var relay = try withAAndB(
            storing(OfflineStore(byteLimit: 40, messageLimit: 2)))
        func said(_ body: String) throws -> String {
            SystemsTests.said(relay.received(try text(body, from: "CinentA", to: "CinentC"), on: 1, at: at(1)))
        }
        #expect(try said("much too long for forty bytes").contains("the store is full"))
        #expect(try said("1").contains(", stored"))
        #expect(try said("2").contains(", stored"))
        #expect(try said("3").contains("the store is full"))
        _ = relay.received(try heartbeat(of: "CinentC"), on: 2, at: at(2))
        _ = relay.received(try heartbeat(of: "CinentB"), on: 2, at: at(2))
        #expect(try said("4").contains(", stored"), "what was delivered makes room")
    }
}
