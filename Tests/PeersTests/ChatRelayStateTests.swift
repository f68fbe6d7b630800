import Framing
import Streams
import Testing

@testable import Peers

/// The exchange of the chat relay's server, without sockets and with artificial times.
@Suite struct ChatRelayStateTests {
    private typealias Action = ServerAction

    private var relay = ChatRelayState(silence: .seconds(20), storeOffline: false)

    private func at(_ seconds: Double) -> Timestamp {
        Timestamp(nanoseconds: 0) + .seconds(seconds)
    }

    private func heartbeat(of name: String) -> PeerInput {
        .message(
            ChatMessage(type: "heartA", sender: name, target: "", body: Array("A心跳".utf8)).frame(from: .fromClient))
    }

    private func text(_ text: String, from sender: String, to target: String) -> PeerInput {
        .message(ChatMessage(text: text, from: sender, to: target).frame(from: .fromClient))
    }

    private func sent(_ text: String, from sender: String, on connection: Int) -> Action {
        .send(
            .messages([ChatMessage(text: text, from: sender).frame(from: .fromServer)]), connection: connection)
    }

    /// The actions, without the messages.
    private func deeds(_ actions: [Action]) -> [Action] {
        actions.filter { if case .log = $0 { false } else { true } }
    }

    /// A relay that knows A on 1 and B on 2 at second 0.
    private func withAAndB(_ relay: ChatRelayState) -> ChatRelayState {
        var relay = relay
        for (number, name) in [(1, "CinentA"), (2, "CinentB")] {
            _ = relay.opened(number, by: "127.0.0.1:\(number)", at: at(0))
            _ = relay.received(heartbeat(of: name), on: number, at: at(0))
        }
        return relay
    }

    @Test mutating func learnsWhoIsThereAndNeitherAnswersNorRelaysHeartbeats() {
        #expect(relay.opened(1, by: "10.0.0.1:5", at: at(0)) == [.log("#1 connected from 10.0.0.1:5")])
        #expect(relay.received(heartbeat(of: "CinentA"), on: 1, at: at(0)) == [.log("#1 is CinentA")])
        #expect(relay.received(heartbeat(of: "CinentA"), on: 1, at: at(1)) == [])
        let toItself = ChatMessage(type: "heart", sender: "CinentA", target: "CinentA", body: [])
        #expect(relay.received(.message(toItself.frame(from: .fromClient)), on: 1, at: at(2)) == [])
    }

    @Test func relaysWithAHeadOfItsOwn() {
        var relay = withAAndB(relay)
        #expect(
            relay.received(text("Hello", from: "CinentA", to: "CinentB"), on: 1, at: at(1)) == [
                .log("#1 txt CinentA → CinentB, 5 B: \"Hello\""), sent("Hello", from: "CinentA", on: 2),
            ])
        let head = ChatMessage(text: "Hello", from: "CinentA").frame(from: .fromServer)
        #expect(head.fields == [Field("type", .text("txt")), Field("sourceClient", .text("CinentA"))])
    }

    @Test func relaysToEveryConnectionOfThatIDTheSendersOwnIncluded() {
        var relay = withAAndB(relay)
        _ = relay.opened(3, by: "", at: at(0))
        _ = relay.received(heartbeat(of: "CinentB"), on: 3, at: at(0))
        #expect(
            deeds(relay.received(text("x", from: "CinentB", to: "CinentB"), on: 2, at: at(1)))
                == [sent("x", from: "CinentB", on: 2), sent("x", from: "CinentB", on: 3)])
    }

    @Test func learnsAnewFromEveryFrame() {
        var relay = withAAndB(relay)
        #expect(
            relay.received(text("me too", from: "CinentC", to: "CinentB"), on: 1, at: at(1)).first
                == .log("#1 is CinentC"))
        #expect(deeds(relay.received(text("x", from: "CinentB", to: "CinentA"), on: 2, at: at(1))) == [])
        #expect(
            deeds(relay.received(text("x", from: "CinentB", to: "CinentC"), on: 2, at: at(1)))
                == [sent("x", from: "CinentB", on: 1)])
    }

    @Test func aMessageForNobodyIsLostAndSaidToBe() {
        var relay = withAAndB(relay)
        #expect(
            relay.received(text("x", from: "CinentA", to: "CinentC"), on: 1, at: at(1)) == [
                .log("#1 txt CinentA → CinentC, 1 B: \"x\", lost: nobody there")
            ])
        #expect(
            relay.received(text("x", from: "CinentA", to: ""), on: 1, at: at(1)) == [
                .log("#1 txt CinentA → \"\", 1 B: \"x\", lost: it names no target")
            ])
    }

    @Test func whatIsShownIsEscaped() {
        var relay = withAAndB(relay)
        let said = relay.received(text("\u{1b}[2J", from: "Cinent\u{7}", to: "Cinent\u{9b}C"), on: 1, at: at(1))
        for case .log(let line) in said {
            #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7f..<0xa0).contains($0.value) })
        }
    }

    @Test func theSilentAreEvictedAtTheSweepAfterMoreThan20Seconds() {
        var relay = withAAndB(relay)
        _ = relay.received(text("x", from: "CinentA", to: "CinentB"), on: 1, at: at(15))
        #expect(relay.sweep(at: at(20)) == [], "20 s are not more than 20 s")
        #expect(
            relay.sweep(at: at(30)) == [
                .log("#2 (CinentB) evicted: silent for 30.0 s"), .close(connection: 2),
            ])
        #expect(relay.closed(2, error: nil, at: at(30)) == [], "the eviction has been said")
        #expect(relay.received(heartbeat(of: "CinentB"), on: 2, at: at(30)) == [], "forgotten")
        #expect(deeds(relay.received(text("x", from: "CinentA", to: "CinentB"), on: 1, at: at(30))) == [])
        #expect(relay.sweep(at: at(60)).last == .close(connection: 1))
    }

    @Test func whoeverNeverSaysAnythingIsEvictedToo() {
        var relay = relay
        _ = relay.opened(7, by: "", at: at(5))
        #expect(relay.sweep(at: at(25)) == [])
        #expect(deeds(relay.sweep(at: at(25.1))) == [.close(connection: 7)])
    }

    @Test func badBytesAreSurvivedAndDoNotCountAsLife() {
        var relay = withAAndB(relay)
        let bad = PeerInput.unframed(byteCount: 7, detail: "bad-head at 93: no {")
        #expect(relay.received(bad, on: 1, at: at(19)) == [.log("#1 7 B without frame: bad-head at 93: no {")])
        #expect(
            deeds(relay.received(text("x", from: "CinentB", to: "CinentA"), on: 2, at: at(20)))
                == [sent("x", from: "CinentB", on: 1)])
        #expect(deeds(relay.sweep(at: at(21))) == [.close(connection: 1)])
    }

    @Test func storedMessagesAreDeliveredInOrderWhenTheirTargetAppears() {
        var relay = withAAndB(ChatRelayState(silence: .seconds(20), storeOffline: true))
        for body in ["first", "second"] {
            let said = relay.received(text(body, from: "CinentA", to: "CinentC"), on: 1, at: at(1))
            #expect(said.count == 1)
            #expect("\(said)".contains("stored: nobody there"))
        }
        _ = relay.opened(3, by: "", at: at(2))
        #expect(
            deeds(relay.received(heartbeat(of: "CinentC"), on: 3, at: at(2)))
                == [sent("first", from: "CinentA", on: 3), sent("second", from: "CinentA", on: 3)])
        #expect(relay.received(heartbeat(of: "CinentC"), on: 3, at: at(3)) == [], "only once")
        #expect(
            deeds(relay.received(text("now", from: "CinentA", to: "CinentC"), on: 1, at: at(3)))
                == [sent("now", from: "CinentA", on: 3)])
    }

    @Test func theStoreIsBounded() {
        var relay = withAAndB(
            ChatRelayState(silence: .seconds(20), store: OfflineStore(byteLimit: 40, messageLimit: 2)))
        func said(_ body: String) -> String {
            "\(relay.received(text(body, from: "CinentA", to: "CinentC"), on: 1, at: at(1)))"
        }
        #expect(said("much too long for forty bytes").contains("the store is full"))
        #expect(said("1").contains(", stored"))
        #expect(said("2").contains(", stored"))
        #expect(said("3").contains("the store is full"))
        _ = relay.received(heartbeat(of: "CinentC"), on: 2, at: at(2))
        _ = relay.received(heartbeat(of: "CinentB"), on: 2, at: at(2))
        #expect(said("4").contains(", stored"), "what was delivered makes room")
    }
}
