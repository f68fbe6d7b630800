import Streams

/// The reference peers of `im-json`, a chat relay.
package enum ChatRelay: ReferencePeer {
    package static let format = "im-json"
    package static let hazards = PublishedHeadReader.hazards

    private typealias Step = PeerScript<ChatClient>.Step

    /// The two clients; and a target that never connects.
    private static let (names, absent) = (["CinentA", "CinentB"], "CinentC")

    package static func reader(_ setup: PeerSetup, from direction: Direction) -> (any MessageReader)? {
        let hazards = setup.options.asPublished
        return hazards.isEmpty ? nil : PublishedHeadReader(hazards: hazards)
    }

    package static func server(_ setup: PeerSetup) -> ChatServer { ChatServer(setup) }

    /// Five texts and a picture each way, repeated as requested, and one message to a target that is not connected. Takes about
    /// 2 s, and 0.3 s for every two further rounds.
    package static func conversation(_ setup: PeerSetup) -> PeerScript<ChatClient> {
        let rounds = setup.options.rounds
        // A message that overtook the receiver's first heartbeat would be lost.
        return PeerScript(
            clients(setup), decidesSegments: false,
            opening: [.connect(0), .connect(1), .wait(0.5, atLeast: setup.options.leastPause)] + provoke(setup),
            closing: [ask, .wait(1)]
        ) { first in
            // Two rounds at a time, so that some texts immediately follow a picture, whose heads are split.
            guard first.isMultiple(of: 2) else { return [] }
            let rounds = first..<min(first + 2, rounds)
            return talk(0, rounds.flatMap { texts(0) + [picture(pictureSize(in: $0, big: 200_000, at: 2), 0)] })
                + talk(1, rounds.flatMap { texts(1) + [picture(pictureSize(in: $0, big: 70_000, at: 5), 1)] })
                + [.wait(0.3)]
        }
    }

    /// The demonstration, about 6.6 s: only the writes decide what is merged and split.
    ///
    ///     0.0  both connect; heartbeats at once and every second
    ///     0.4  A: the five texts in one write
    ///     0.7  A: the picture in two writes
    ///     1.4  B: the five texts, the first one's head cut in its middle, the rest in one write
    ///     1.7  B: the picture in two writes
    ///     2.4  B: the next three heartbeats left out, so none between 2.0 and 6.0: the one gap
    ///     3.1  A: a text for a target that is not there
    ///     6.6  both disconnect
    package static func demonstration(_ setup: PeerSetup) -> PeerScript<ChatClient> {
        let a = show(0, texts(0)) + [.wait(0.3)] + show(0, [picture(48_213, 0)], cutAt: [20_000]) + [.wait(0.55)]
        let b =
            show(1, texts(1), cutAt: [31]) + [.wait(0.2)] + show(1, [picture(9_000, 1)], cutAt: [4_000])
            + [.wait(0.55), .set(1) { $0.heartbeatsToSkip = 3 }]
        return PeerScript(
            clients(setup), opening: [.connect(0), .connect(1), .wait(0.4, atLeast: setup.options.leastPause)],
            closing: a + b + [.wait(0.7), ask, .wait(3.5)])
    }

    private static func clients(_ setup: PeerSetup) -> [ChatClient] { names.map { ChatClient(setup, name: $0) } }

    /// The five texts of the demo conversation.
    private static func texts(_ sender: Int) -> [ChatMessage] {
        ["Hello", "I", "am", "A,", "nice to meet you!"].map {
            ChatMessage(text: $0, from: names[sender], to: names[1 - sender])
        }
    }

    private static func picture(_ byteCount: Int, _ sender: Int) -> ChatMessage {
        ChatMessage(
            type: "img", sender: names[sender], target: names[1 - sender], body: Picture.jpeg(byteCount: byteCount))
    }

    /// Mostly small pictures, so that recordings stay small; in every eighth round, one larger than a loopback segment's 65,483
    /// bytes.
    private static func pictureSize(in round: Int, big: Int, at bigRound: Int) -> Int {
        switch round % 8 {
        case 0: 4_213
        case bigRound: big
        case let other: 700 + 97 * other
        }
    }

    /// A message for a target that is not there.
    private static let ask = Step.tell(0) { client, _ in
        client.send([ChatMessage(text: "Anyone there?", from: client.name, to: absent)])
    }

    /// Frames that trigger the requested hazards. A correct server relays the empty text, which the client must then read, and
    /// skips the rest; frames sent after it arrive.
    private static func provoke(_ setup: PeerSetup) -> [Step] {
        var steps: [Step] = []
        if setup.has("zero-size-body") {
            let empty = ChatMessage(type: "txt", sender: names[0], target: names[1], body: [])
            steps.append(.tell(0) { client, _ in client.send([empty]) })
        }
        if setup.has("bad-head") { steps.append(.send(0, "no head\r\n")) }
        // Longer than a head may be; for a receiver without a limit, the end of the next head ends it.
        if setup.has("endless-head") { steps.append(.send(0, String(repeating: "x", count: 70_000))) }
        return steps
    }

    /// One write per message, as fast as possible, so that the kernel merges and splits; until they have arrived.
    private static func talk(_ sender: Int, _ messages: [ChatMessage]) -> [Step] {
        arrival(of: messages, from: sender, sent: .tell(sender) { client, _ in client.send(messages) })
    }

    /// One write for all messages, or as many as it is cut in.
    private static func show(_ sender: Int, _ messages: [ChatMessage], cutAt places: [Int] = []) -> [Step] {
        let output = PeerOutput.messages(messages.map { $0.frame(from: .fromClient) })
        return arrival(of: messages, from: sender, sent: .send(sender, output, cutAt: places))
    }

    private static func arrival(of messages: [ChatMessage], from sender: Int, sent: Step) -> [Step] {
        [
            .set(1 - sender) { $0.expected = ChatExpectation(messages) }, sent,
            .until(1 - sender, "\(messages.count) messages from \(names[sender])") { $0.expected.isFulfilled },
        ]
    }
}
