import Framing
import Streams
import Testing

@testable import Peers

/// The exchange of a chat client, without sockets and with artificial times.
@Suite struct ChatClientStateTests {
    private typealias Action = ChatClientState.Action

    private func at(_ seconds: Double) -> Timestamp {
        Timestamp(nanoseconds: 0) + .seconds(seconds)
    }

    private func output(_ type: String, _ text: String, to target: String) -> PeerOutput {
        let message = ChatMessage(type: type, sender: "CinentA", target: target, body: Array(text.utf8))
        return .messages([message.frame(from: .fromClient)])
    }

    private var heartbeat: PeerOutput { output("heartA", "A心跳", to: "") }

    private func deeds(_ actions: [Action]) -> [Action] {
        actions.filter { if case .log = $0 { false } else { true } }
    }

    private func connected(_ options: PeerOptions = PeerOptions()) -> ChatClientState {
        var client = ChatClientState(name: "CinentA", options: options)
        _ = client.start()
        _ = client.connected(at: at(0))
        return client
    }

    @Test func theHeartbeatIs93Bytes() throws {
        let format = try #require(try BuiltInFormats.format(named: "im-json"))
        #expect(try FrameCodec(format, sending: .fromClient).encode(heartbeat).count == 93)
    }

    @Test func heartbeatsAtOnceAndEverySecond() {
        var client = ChatClientState(name: "CinentA", options: PeerOptions())
        #expect(client.start() == [.connect])
        #expect(client.start() == [])
        #expect(deeds(client.connected(at: at(0))) == [.write(heartbeat), .heartbeatLater(.seconds(1))])
        #expect(client.heartbeatDue() == [.write(heartbeat), .heartbeatLater(.seconds(1))])
    }

    @Test func theTimeScaleHoldsForEveryInterval() {
        var options = PeerOptions()
        options.timeScale = 0.1
        var client = connected(options)
        #expect(client.heartbeatDue().last == .heartbeatLater(.seconds(0.1)))
        #expect(client.lost(nil, at: at(0.5)).last == .connectLater(.seconds(0.025)))
    }

    @Test func leavesOutHeartbeatsWithItsConnectionOpen() {
        var client = connected()
        client.heartbeatsToSkip = 3
        for _ in 0..<3 { #expect(deeds(client.heartbeatDue()) == [.heartbeatLater(.seconds(1))]) }
        #expect(client.isConnected)
        #expect(client.heartbeatDue().first == .write(heartbeat))
    }

    @Test func nothingGoesBetweenThePartsOfAFrame() {
        var client = connected()
        #expect(client.beginFrame(with: [1]) == [.write(.bytes([1]))])
        #expect(client.heartbeatDue() == [.heartbeatLater(.seconds(1))], "it waits")
        #expect(client.send(output("txt", "Hello", to: "CinentB")) == [])
        #expect(client.continueFrame(with: [2]) == [.write(.bytes([2]))])
        #expect(
            client.endFrame(with: [3]) == [
                .write(.bytes([3])), .write(heartbeat), .write(output("txt", "Hello", to: "CinentB")),
            ])
        #expect(client.heartbeatDue().first == .write(heartbeat))
    }

    @Test func theRestOfAFrameDoesNotGoToTheNextConnection() {
        var client = connected()
        _ = client.beginFrame(with: [1])
        _ = client.lost(nil, at: at(1))
        _ = client.connectDue()
        #expect(deeds(client.connected(at: at(2))).first == .write(heartbeat))
        #expect(client.endFrame(with: [2]) == [])
    }

    @Test func deliversAndSaysWhatArrives() {
        var client = connected()
        let message = ChatMessage(text: "Hello", from: "CinentB")
        #expect(
            client.received(.message(message.frame(from: .fromServer))) == [
                .log("CinentA got txt from CinentB, 5 B: \"Hello\""), .deliver(message),
            ])
        #expect(
            client.received(.unframed(byteCount: 2, detail: "no-sync")) == [
                .log("CinentA got 2 B without frame: no-sync")
            ])
    }

    @Test func reconnectsWithBackOffWithinBounds() {
        var client = ChatClientState(name: "CinentA", options: PeerOptions())
        _ = client.start()
        var waits: [Double] = []
        for _ in 0..<10 {
            guard case .connectLater(let wait)? = client.lost("Connection refused", at: at(0)).last else { break }
            waits.append(wait.seconds)
            #expect(client.connectDue() == [.connect])
        }
        #expect(waits == [0.25, 0.5, 1, 2, 4, 8, 16, 30, 30, 30])
        _ = client.connected(at: at(100))
        #expect(client.lost(nil, at: at(101)).last == .connectLater(.seconds(30)), "a short life is no success")
        _ = client.connectDue()
        _ = client.connected(at: at(200))
        #expect(client.lost(nil, at: at(210)).last == .connectLater(.seconds(0.25)))
    }

    @Test func withoutAConnectionNothingIsSent() {
        var client = connected()
        _ = client.lost("Connection reset by peer", at: at(1))
        #expect(client.lost(nil, at: at(1)) == [], "said once")
        #expect(client.heartbeatDue() == [])
        #expect(client.send(heartbeat) == [])
        #expect(client.beginFrame(with: [1]) == [])
    }

    @Test func endsForGood() {
        var client = connected()
        #expect(deeds(client.end()) == [.close])
        #expect(client.lost(nil, at: at(1)) == [])
        #expect(client.connectDue() == [])
        #expect(client.connected(at: at(2)) == [.close], "an attempt that was under way")
    }

    @Test func expectsMessagesInOrderWithOthersBetweenThem() {
        let texts = ["a", "b"].map { ChatMessage(text: $0, from: "CinentA", to: "CinentB") }
        var expectation = ChatExpectation(texts)
        expectation.offer(ChatMessage(text: "b", from: "CinentA"))
        #expect(
            expectation.shortfall
                == "0 of 2 messages arrived; missing next: txt CinentA → CinentB, 1 B: \"a\"")
        expectation.offer(ChatMessage(text: "a", from: "CinentA"))
        expectation.offer(ChatMessage(text: "b", from: "CinentC"))
        #expect(!expectation.isFulfilled)
        expectation.offer(ChatMessage(text: "b", from: "CinentA"))
        #expect(expectation.isFulfilled)
    }
}
