import Framing
import Streams

/// The clients of the conversations: two users, and the first one's other device.
struct MagicPair: Sendable {
    private let script: PeerScript
    private let a: PeerClient<MagicClientState>
    private let b: PeerClient<MagicClientState>
    private let otherA: PeerClient<MagicClientState>

    init(
        _ server: PeerAddress, options: PeerOptions, seal: BodySeal, log: @escaping PeerLog,
        codec: @escaping @Sendable () -> FrameCodec
    ) {
        func client(_ userID: String) -> PeerClient<MagicClientState> {
            PeerClient(
                MagicClientState(userID: userID, options: options, seal: seal), of: server, options: options, log: log,
                codec: codec)
        }
        script = PeerScript(options)
        // The hazard wide-id requires a user id that is not ASCII.
        (a, b) = (client(options.asPublished.contains("wide-id") ? "用户1001" : "1001"), client("1002"))
        otherA = client(a.name)
    }

    /// The conversation of `connect`: two log in, chat both ways and ping; then the first one logs in again, from another
    /// device, and is kicked on this one.
    func converse() async throws {
        try await script.run([a, b]) {
            try await logIn(a)
            try await logIn(b)
            for round in 0..<script.options.rounds {
                // One write for each, as fast as possible, so that the kernel merges and splits.
                let texts = ["Hello", "I", "am", "\(a.name),", "nice to meet you!", Self.longText(2_000 + round)]
                try await talk(texts.map { [$0] }, from: a, to: b)
                try await talk(texts.reversed().map { [$0] }, from: b, to: a)
                try await talk([["three", "in", "one"]], from: a, to: b)
                try await talk([["cut in its header"]], cutAt: [30], from: b, to: a)
            }
            try await kickA()
            try await script.wait(0.3)
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
    func demonstrate() async throws {
        try await script.run([a, b]) {
            try await logIn(a)
            try await logIn(b)
            try await script.wait(30)
            try await talk([["Hello", "nice to meet you!", "How are you?"]], from: a, to: b)
            try await script.wait(15)
            try await talk([["Fine, thank you."]], cutAt: [30], from: b, to: a)
            try await script.wait(15)
            try await a.perform { client in
                client.pingsToSkip = 3
                return []
            }
            try await script.wait(130)
            try await kickA()
            try await script.wait(20)
        }
    }

    private func logIn(_ client: PeerClient<MagicClientState>) async throws {
        try await client.wait(for: "an answer to its login", within: script.patience) { $0.phase == .loggedIn }
        try await client.wait(for: "an answer to its ping", within: script.patience) { $0.answeredPings > 0 }
    }

    /// Sends texts, one write for each group, and waits until they have arrived.
    private func talk(
        _ groups: [[String]], cutAt places: [Int] = [], from sender: PeerClient<MagicClientState>,
        to target: PeerClient<MagicClientState>
    ) async throws {
        let (from, to) = (sender.name, target.name)
        let texts = groups.flatMap { $0 }
        try await target.perform { client in
            client.forgetChats()
            return []
        }
        let cut = !places.isEmpty
        let pause = Interval.milliseconds(100)
        try await sender.perform { client in
            groups.map { group in
                let output = client.output(group.map { .chat($0, from: from, to: to) })
                return cut ? .sendCut(output, at: places, pause: pause) : .send(output)
            }
        }
        try await target.wait(for: "\(texts.count) texts from \(from)", within: script.patience) { $0.chats == texts }
    }

    private func kickA() async throws {
        try await script.run([otherA]) {
            try await logIn(otherA)
            try await a.wait(for: "the kick", within: script.patience) { $0.phase == .kicked }
        }
    }

    /// A text that does not fit in a packet of 1,500 bytes.
    private static func longText(_ length: Int) -> String {
        String(String(repeating: "All work and no play makes Jack a dull boy. ", count: length / 44 + 1).prefix(length))
    }
}
