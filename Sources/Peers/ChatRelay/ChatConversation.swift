import Streams

extension ChatPair {
    /// The conversation of `connect`: each way five texts and a picture, as often as asked, and one message to a target
    /// that is not there. Takes about 2 s, and 0.3 s for each further round.
    func converse() async throws {
        // A message that overtakes the receiver's first heartbeat would be lost.
        try await Task.sleep(for: .nanoseconds(max(options.scaled(.seconds(0.5)), .seconds(0.1)).nanoseconds))
        for round in 0..<options.rounds {
            try await talk(from: a, to: b, pictureSize: pictureSize(in: round, first: true))
            try await talk(from: b, to: a, pictureSize: pictureSize(in: round, first: false))
            try await wait(0.3)
        }
        try await a.send(ChatMessage(text: "Anyone there?", from: a.name, to: Self.absent))
        try await wait(1)
    }

    /// One way of the conversation: a write for each message, as fast as they go, so that the kernel merges and splits.
    private func talk(from sender: ChatClient, to target: ChatClient, pictureSize: Int) async throws {
        let messages = texts(from: sender, to: target) + [picture(pictureSize, from: sender, to: target)]
        let arrival = try await target.arrival(of: messages, within: patience)
        try await sender.send(messages)
        try await arrival.get()
    }

    /// Mostly small pictures, so that recordings stay small; now and then one beyond a loopback segment's 65,483 bytes.
    private func pictureSize(in round: Int, first: Bool) -> Int {
        switch (round % 8, first) {
        case (0, _): 4_213
        case (2, true): 200_000
        case (5, false): 70_000
        default: 700 + 97 * (round % 8)
        }
    }
}
