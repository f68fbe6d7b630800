import Streams

/// The reference peers of `len16-id`: 16-bit length, 16-bit message id, Protobuf.
package enum MessageIDs: ReferencePeer {
    package static let format = "len16-id"
    /// The hazards that both its ends can reproduce.
    package static let hazards: Set = ["negative-length", "double-append"]
    /// 31 s of heartbeats in 2.5 s.
    package static let demoScale = 0.08

    private typealias Step = PeerScript<MessageClient>.Step

    package static func reader(_ setup: PeerSetup, from direction: Direction) -> (any MessageReader)? {
        setup.options.asPublished.isEmpty ? nil : PublishedLengthReceiver(setup.options.asPublished)
    }

    package static func server(_ setup: PeerSetup) -> MessageServer { MessageServer(setup) }

    /// Ann and Ben log in and chat both ways: two messages merged in one write, one split over two; until both have had
    /// two heartbeats, 5 and 10 s after connecting. 10.3 s in all, however many rounds of chat.
    package static func conversation(_ setup: PeerSetup) -> PeerScript<MessageClient> {
        PeerScript(clients(setup), opening: logIns, closing: [twoHeartbeats(0), twoHeartbeats(1), .wait(0.3)]) { _ in
            chat
        }
    }

    /// The demonstration, 31 s before scaling.
    ///
    ///     0       both log in, and chat as in `converse`
    ///     5, 10   heartbeats from the server
    ///     11      Ann has the server leave out her next three: the one gap
    ///     30      heartbeats
    package static func demonstration(_ setup: PeerSetup) -> PeerScript<MessageClient> {
        let gap: [Step] = [
            twoHeartbeats(0), .wait(1), say(0, ["leave out 3 heartbeats"], to: "server"),
            // Long enough for the server to have read it, and for any heartbeat that overtook it.
            .wait(6), .set(0) { $0.heartbeats = 0 },
            .until(0, "a heartbeat after the gap", after: 20) { $0.heartbeats > 0 }, .wait(1),
        ]
        return PeerScript(clients(setup), opening: logIns + [.wait(1)] + chat, closing: gap)
    }

    private static func clients(_ setup: PeerSetup) -> [MessageClient] {
        ["ann", "ben"].map { MessageClient(setup, name: $0, session: "5eCr3t-of-\($0)") }
    }

    private static let logIns: [Step] =
        [.connect(0), .connect(1)]
        + [0, 1].flatMap { (client: Int) -> [Step] in
            [
                .until(client, "an answer to its login") { $0.outcome != nil },
                .until(client, "a login that succeeds") { $0.outcome == .userLoginSucceeded },
            ]
        }

    private static func twoHeartbeats(_ client: Int) -> Step {
        .until(client, "two heartbeats", after: 10) { $0.heartbeats >= 2 }
    }

    private static let chat =
        talk(0, ["Hello", "Are you there?"], to: 1) + talk(1, ["你好，我在这里"], to: 0, cutAt: [12])
        // A receiver that is out of sync shows it here.
        + talk(1, ["And you?"], to: 0)

    /// A client sends chats to the other one, and waits until it has them.
    private static func talk(_ sender: Int, _ texts: [String], to target: Int, cutAt places: [Int] = []) -> [Step] {
        let names = ["ann", "ben"]
        let expected = texts.map { MessageClient.Chat(from: names[sender], text: $0) }
        return [
            .set(target) { $0.chats = [] }, say(sender, texts, to: names[target], cutAt: places),
            .until(target, "\(texts.count) chats from \(names[sender])") { $0.chats == expected },
        ]
    }

    /// A client sends chats in one write, or split at an offset.
    private static func say(_ sender: Int, _ texts: [String], to target: String, cutAt places: [Int] = []) -> Step {
        .tell(sender) { client, now in
            let sentAt = UInt64(now.nanoseconds / 1_000_000)
            let frames = texts.map { UserMessage.chat(from: client.name, to: target, text: $0, sentAt: sentAt).frame }
            return [.sendCut(.messages(frames), at: places, pause: client.setup.options.partPause)]
        }
    }
}
