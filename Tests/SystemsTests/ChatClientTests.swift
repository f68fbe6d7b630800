import Framing
import Streams
import Testing

@testable import Systems

/// The exchange of a chat client, without sockets and with artificial times.
@Suite struct ChatClientTests {
    private let plain: PeerSetup

    init() throws { plain = try setup(ChatRelay.self) }

    private func bytes(_ message: ChatMessage, from direction: Direction = .fromClient) throws -> [UInt8] {
        try plain.codec(from: direction).encode(.messages([message.frame(from: direction)]))
    }

    private func sent(_ type: String, _ text: String, to target: String) throws -> PeerAction {
        .send(.bytes(try bytes(ChatMessage(type: type, sender: "CinentA", target: target, body: Array(text.utf8)))))
    }

    private var heartbeat: PeerAction { get throws { try sent("heartA", "A心跳", to: "") } }
    private let nextHeartbeat = PeerAction.wake("heartbeat", after: .seconds(1))
    private let hello = ChatMessage(text: "Hello", from: "CinentA", to: "CinentB")

    private func client(_ setup: PeerSetup? = nil) -> PeerSession<ChatClient> {
        PeerSession(ChatClient(setup ?? plain, name: "CinentA"))
    }

    private func connected(_ setup: PeerSetup? = nil) -> PeerSession<ChatClient> {
        var client = client(setup)
        _ = client.started(at: at(0))
        _ = client.opened(1, by: "", at: at(0))
        return client
    }

    @Test func theHeartbeatIs93Bytes() throws {
        guard case .send(.bytes(let bytes), 1) = try heartbeat else { return }
        #expect(bytes.count == 93)
    }

    @Test func heartbeatsAtOnceAndEverySecond() throws {
        var client = client()
        #expect(client.started(at: at(0)) == [.connect(after: .seconds(0))])
        #expect(client.started(at: at(0)) == [])
        #expect(try deeds(client.opened(1, by: "", at: at(0))) == [heartbeat, nextHeartbeat])
        #expect(try client.due("heartbeat", at: at(1)) == [heartbeat, nextHeartbeat])
    }

    @Test func theTimeScaleHoldsForEveryInterval() throws {
        var client = connected(try setup(ChatRelay.self, timeScale: 0.1))
        #expect(client.due("heartbeat", at: at(0.1)).last == .wake("heartbeat", after: .seconds(0.1)))
        #expect(client.closed(1, error: nil, at: at(0.5)).last == .connect(after: .seconds(0.025)))
    }

    @Test func leavesOutHeartbeatsWithItsConnectionOpen() throws {
        var client = connected()
        _ = client.change { client in
            client.heartbeatsToSkip = 3
            return []
        }
        for _ in 0..<3 { #expect(deeds(client.due("heartbeat", at: at(1))) == [nextHeartbeat]) }
        #expect(try client.due("heartbeat", at: at(4)).first == heartbeat)
    }

    @Test func nothingGoesBetweenThePartsOfAFrame() throws {
        var client = connected()
        func part(_ byte: UInt8, isLast: Bool = false) -> [PeerAction] {
            client.change { _ in [.send(.part([byte], isLast: isLast))] }
        }
        let hello = hello
        #expect(part(1) == [.send(.bytes([1]))])
        #expect(client.due("heartbeat", at: at(1)) == [nextHeartbeat], "it waits")
        #expect(client.change { $0.send([hello]) } == [])
        #expect(part(2) == [.send(.bytes([2]))])
        let last = try [.send(.bytes([3])), heartbeat, sent("txt", "Hello", to: "CinentB")]
        #expect(part(3, isLast: true) == last)
        #expect(try client.due("heartbeat", at: at(2)).first == heartbeat)
    }

    @Test func theRestOfAFrameDoesNotGoToTheNextConnection() throws {
        var client = connected()
        _ = client.change { _ in [.send(.part([1], isLast: false))] }
        _ = client.closed(1, error: nil, at: at(1))
        #expect(try deeds(client.opened(1, by: "", at: at(2))).first == heartbeat)
        #expect(client.change { _ in [.send(.part([2], isLast: true))] } == [])
    }

    @Test func aFrameIsCutByTimeWithWhatComesMeanwhileAfterIt() throws {
        var client = connected()
        let hello = hello
        let cut = client.change { _ in [.sendCut(.bytes([1, 2, 3, 4]), at: [1, 3], pause: .seconds(0.1)), .close()] }
        let next = PeerAction.wake(PeerTimer("part", 1), after: .seconds(0.1))
        #expect(cut == [.send(.bytes([1])), next])
        #expect(client.change { $0.send([hello]) } == [])
        #expect(client.due(PeerTimer("part", 1), at: at(0.1)) == [.send(.bytes([2, 3])), next])
        #expect(
            client.due(PeerTimer("part", 1), at: at(0.2)) == [.send(.bytes([4])), .close()], "nothing after the end")
        #expect(client.due(PeerTimer("part", 1), at: at(0.3)) == [])
    }

    @Test func deliversAndSaysWhatArrives() throws {
        var client = connected()
        let hello = ChatMessage(text: "Hello", from: "CinentB")
        _ = client.change { client in
            client.expected = ChatExpectation([hello])
            return []
        }
        let bytes = try bytes(hello, from: .fromServer)
        #expect(client.received(bytes, on: 1, at: at(1)) == [.log("CinentA got txt from CinentB, 5 B: \"Hello\"")])
        #expect(client.machine.expected.isFulfilled)
        let bad = said(client.received(Array("no".utf8) + bytes, on: 1, at: at(1)))
        #expect(bad.hasPrefix("CinentA got 2 B without frame: bad-head at \(bytes.count): "))
    }

    @Test func reconnectsWithBackOffWithinBounds() {
        var client = client()
        _ = client.started(at: at(0))
        var waits: [Double] = []
        for _ in 0..<10 {
            guard case .connect(let wait)? = client.closed(1, error: "Connection refused", at: at(0)).last else {
                break
            }
            waits.append(wait.seconds)
        }
        #expect(waits == [0.25, 0.5, 1, 2, 4, 8, 16, 30, 30, 30])
        _ = client.opened(1, by: "", at: at(100))
        let short = client.closed(1, error: nil, at: at(101))
        #expect(short.last == .connect(after: .seconds(30)), "a short life is no success")
        _ = client.opened(1, by: "", at: at(200))
        #expect(client.closed(1, error: nil, at: at(210)).last == .connect(after: .seconds(0.25)))
    }

    @Test func withoutAConnectionNothingIsSent() {
        var client = connected()
        _ = client.closed(1, error: "Connection reset by peer", at: at(1))
        #expect(client.due("heartbeat", at: at(1)) == [])
        let hello = hello
        #expect(client.change { $0.send([hello]) } == [])
        #expect(client.change { _ in [.send(.part([1], isLast: false))] } == [])
    }

    @Test func endsForGood() {
        var client = connected()
        #expect(client.end() == [.log("CinentA disconnects"), .close()])
        #expect(client.end() == [], "once")
        #expect(client.closed(1, error: nil, at: at(1)) == [])
        #expect(client.opened(1, by: "", at: at(2)) == [.close()], "an attempt that was under way")
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
