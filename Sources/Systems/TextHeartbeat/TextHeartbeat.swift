import Streams

/// The reference peers of `text-heartbeat`: undelimited text.
package enum TextHeartbeat: ReferencePeer {
    package static let format = "text-heartbeat"
    /// The hazards that its server can reproduce.
    package static let hazards: Set = ["keyed-by-text", "cut-character"]
    /// 31 s of heartbeats in 2.5 s.
    package static let demoScale = 0.08

    private typealias Step = PeerScript<TextClient>.Step

    package static func reader(_ setup: PeerSetup, from direction: Direction) -> (any MessageReader)? {
        WholeCharacters(FrameReader(setup.format, from: direction))
    }

    package static func server(_ setup: PeerSetup) -> TextServer { TextServer(setup) }

    /// Two heartbeats, 5 and 10 s after connecting, and text both ways between them: one cut inside a character, one
    /// merged with a heartbeat. 10.3 s in all for each round.
    package static func conversation(_ setup: PeerSetup) -> PeerScript<TextClient> {
        PeerScript([client(setup)], opening: [.connect(0)], closing: [.wait(0.3)]) { round in
            let number = round == 0 ? "" : " \(round + 1)"
            return [.until(0, "a heartbeat", after: 5) { $0.heartbeats > 2 * round }, .wait(0.5)]
                + say("Hello" + number) + say("你好，服务器" + number) + say("再" + number, "见", pause: 0.1)
                + [
                    .set(0) { $0.textWithHeartbeat = Array("bye\(number)".utf8) },
                    .until(0, "a second heartbeat", after: 5) { $0.heartbeats > 2 * round + 1 },
                    answered("bye\(number)"),
                ]
        }
    }

    /// The demonstration, 31 s before scaling; what one read carries is one message, so only a character can be split.
    ///
    ///     5   heartbeat
    ///     6   text, answered
    ///     7   text, cut inside a character; answered when it is whole
    ///     10  heartbeat
    ///     12  two heartbeats in one write; the next three are left out: the one gap
    ///     30  heartbeat
    package static func demonstration(_ setup: PeerSetup) -> PeerScript<TextClient> {
        let steps: [Step] =
            [.until(0, "a heartbeat", after: 5) { $0.heartbeats >= 1 }, .wait(1)] + say("Hello")
            + [.wait(1)] + say("你", "好", pause: 1)
            + [
                .until(0, "a second heartbeat", after: 5) { $0.heartbeats >= 2 }, .wait(2),
                .tell(0) { client, _ in
                    (client.heartbeatsToSkip, client.heartbeats) = (3, 0)
                    return [.send(.bytes(client.heartbeat + client.heartbeat))]
                },
                .until(0, "a heartbeat after the gap", after: 20) { $0.heartbeats > 0 }, .wait(1),
            ]
        return PeerScript([client(setup)], opening: [.connect(0)], closing: steps)
    }

    private static func client(_ setup: PeerSetup) -> TextClient { TextClient(setup, version: "10.300000") }

    /// Sends text and waits for the server's answer to it.
    private static func say(_ text: String) -> [Step] { [.send(0, text), answered(text)] }

    /// Sends text in two writes, split inside the second's first character, and waits for the answers: the server treats what
    /// each read completes as a message. It may send something else between them.
    private static func say(_ first: String, _ second: String, pause: Double) -> [Step] {
        let (start, rest) = Array((first + second).utf8).cut(at: first.utf8.count + 1)
        return [
            .send(0, .part(start, isLast: false)),
            // The answer proves that a read ended there.
            answered(first), .wait(pause), .send(0, .part(rest, isLast: true)), answered(second),
        ]
    }

    private static func answered(_ text: String) -> Step {
        .until(0, "the answer to \(text)") { $0.hasHeard("收到 \(text)") }
    }
}
