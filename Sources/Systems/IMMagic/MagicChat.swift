import Streams

/// The reference peers of `im-magic`: login, pings, chat, and a kick.
package enum MagicChat: ReferencePeer {
    package static let format = "im-magic"
    package static let hazards = PublishedMagicReader.hazards.union(["wide-id"])
    package static let demoScale = 0.01

    private typealias Step = PeerScript<MagicClient>.Step

    package static func reader(_ setup: PeerSetup, from direction: Direction) -> (any MessageReader)? {
        let hazards = setup.options.asPublished.intersection(PublishedMagicReader.hazards)
        return hazards.isEmpty ? nil : PublishedMagicReader(of: direction, hazards: hazards)
    }

    package static func server(_ setup: PeerSetup) -> MagicServer { MagicServer(setup) }

    /// Two log in, chat both ways and ping; then the first one logs in again, from another device, and is kicked on this one.
    package static func conversation(_ setup: PeerSetup) -> PeerScript<MagicClient> {
        let names = names(setup)
        return PeerScript(
            clients(setup), decidesSegments: false, opening: logIns, closing: kick + [.wait(0.3)]
        ) { round in
            // One write for each, as fast as possible, so that the kernel merges and splits.
            let texts = ["Hello", "I", "am", "\(names[0]),", "nice to meet you!", longText(2_000 + round)]
            return talk(0, texts.map { [$0] }, names) + talk(1, texts.reversed().map { [$0] }, names)
                + talk(0, [["three", "in", "one"]], names) + talk(1, [["cut in its header"]], names, cutAt: [30])
        }
    }

    /// The demonstration, in seconds before scaling:
    ///
    ///     0    both log in and ping, every 30 s from then on
    ///     30   A: three messages in one write
    ///     60   B: one message, cut in its header
    ///     90   A: the next three pings left out: the one gap
    ///     210  A logs in once more, and is kicked here
    ///     230  both disconnect
    package static func demonstration(_ setup: PeerSetup) -> PeerScript<MagicClient> {
        let names = names(setup)
        let a = [.wait(30)] + talk(0, [["Hello", "nice to meet you!", "How are you?"]], names)
        let b = [.wait(15)] + talk(1, [["Fine, thank you."]], names, cutAt: [30])
        let gap: [Step] = [.wait(15), .set(0) { $0.pingsToSkip = 3 }, .wait(130)]
        return PeerScript(clients(setup), opening: logIns, closing: a + b + gap + kick + [.wait(20)])
    }

    /// Two users. The hazard `wide-id` requires a user id that is not ASCII.
    private static func names(_ setup: PeerSetup) -> [String] { [setup.has("wide-id") ? "用户1001" : "1001", "1002"] }

    /// The users, and the first one's other device.
    private static func clients(_ setup: PeerSetup) -> [MagicClient] {
        let names = names(setup)
        return (names + [names[0]]).map { MagicClient(setup, name: $0) }
    }

    private static let logIns: [Step] = [.connect(0), .connect(1)] + logIn(0) + logIn(1)

    private static func logIn(_ client: Int) -> [Step] {
        [
            .until(client, "an answer to its login") { $0.phase == .loggedIn },
            .until(client, "an answer to its ping") { $0.answeredPings > 0 },
        ]
    }

    private static let kick: [Step] =
        [.connect(2)] + logIn(2) + [.until(0, "the kick") { $0.phase == .kicked }, .disconnect(2)]

    /// Sends texts, one write for each group, and waits until they have arrived.
    private static func talk(
        _ sender: Int, _ groups: [[String]], _ names: [String], cutAt places: [Int] = []
    ) -> [Step] {
        let texts = groups.flatMap { $0 }
        return [
            .set(1 - sender) { $0.chats = [] },
            .tell(sender) { client, _ in
                groups.map { group in
                    let chats = group.map { MagicMessage.chat($0, from: names[sender], to: names[1 - sender]) }
                    let pause = client.setup.options.partPause
                    return places.isEmpty
                        ? .send(client.output(chats)) : .sendCut(client.output(chats), at: places, pause: pause)
                }
            },
            .until(1 - sender, "\(texts.count) texts from \(names[sender])") { $0.chats == texts },
        ]
    }

    /// A text that does not fit in a packet of 1,500 bytes.
    private static func longText(_ length: Int) -> String {
        String(String(repeating: "All work and no play makes Jack a dull boy. ", count: length / 44 + 1).prefix(length))
    }
}
