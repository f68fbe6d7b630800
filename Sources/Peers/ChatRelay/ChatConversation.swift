import NIOCore
import Streams

extension ChatPair {
    /// The conversation of `connect`: five texts and a picture each way, repeated as requested, and one message to a target that
    /// is not connected. Takes about 2 s, and 0.3 s for every two further rounds.
    func converse() async throws {
        // A message that overtook the receiver's first heartbeat would be lost.
        try await settle(0.5)
        try await provoke()
        // Two rounds at a time, so that some texts immediately follow a picture, whose heads are split.
        for first in stride(from: 0, to: options.rounds, by: 2) {
            let rounds = first..<min(first + 2, options.rounds)
            try await talk(from: a, to: b, pictureSizes: rounds.map { Self.pictureSize(in: $0, big: 200_000, at: 2) })
            try await talk(from: b, to: a, pictureSizes: rounds.map { Self.pictureSize(in: $0, big: 70_000, at: 5) })
            try await wait(0.3)
        }
        try await a.send(ChatMessage(text: "Anyone there?", from: a.name, to: Self.absent))
        try await wait(1)
    }

    /// Sends the frames that trigger the requested hazards. A correct server relays the empty text, which the client must then
    /// read, and skips the rest; frames sent after it arrive.
    private func provoke() async throws {
        if options.asPublished.contains("zero-size-body") {
            try await a.send(ChatMessage(type: "txt", sender: a.name, target: b.name, body: []))
        }
        if options.asPublished.contains("bad-head") {
            try await a.send(parts: [Array("no head\r\n".utf8)], pause: .seconds(0))
        }
        if options.asPublished.contains("endless-head") {
            // Longer than a head may be; for a receiver without a limit, the end of the next head ends it.
            try await a.send(parts: [[UInt8](repeating: UInt8(ascii: "x"), count: 70_000)], pause: .seconds(0))
        }
    }

    /// One direction of the conversation, once for each picture: one write per message, as fast as possible, so that the kernel
    /// merges and splits.
    private func talk(from sender: ChatClient, to target: ChatClient, pictureSizes: [Int]) async throws {
        let messages = pictureSizes.flatMap { size in
            texts(from: sender, to: target) + [picture(size, from: sender, to: target)]
        }
        let arrival = try await target.arrival(of: messages, within: patience)
        try await sender.send(messages)
        try await arrival.get()
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
}
