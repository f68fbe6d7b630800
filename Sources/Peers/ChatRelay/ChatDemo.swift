import NIOCore
import Streams

extension ChatPair {
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
    func demonstrate() async throws {
        try await settle(0.4)
        let texts = texts(from: a, to: b)
        try await deliver(texts, parts: [a.bytes(of: texts)], from: a, to: b)
        try await wait(0.3)
        try await show(picture(48_213, from: a, to: b), cutAt: 20_000, from: a, to: b)
        try await wait(0.55)
        let answer = self.texts(from: b, to: a)
        try await deliver(answer, parts: halves(b.bytes(of: answer), cutAt: 31), from: b, to: a)
        try await wait(0.2)
        try await show(picture(9_000, from: b, to: a), cutAt: 4_000, from: b, to: a)
        try await wait(0.55)
        try await b.skipHeartbeats(3)
        try await wait(0.7)
        try await a.send(ChatMessage(text: "Anyone there?", from: a.name, to: Self.absent))
        try await wait(3.5)
    }

    private func show(
        _ picture: ChatMessage, cutAt place: Int, from sender: ChatClient, to target: ChatClient
    ) async throws {
        try await deliver([picture], parts: halves(sender.bytes(of: [picture]), cutAt: place), from: sender, to: target)
    }

    private func halves(_ bytes: [UInt8], cutAt place: Int) -> [[UInt8]] {
        [Array(bytes[..<place]), Array(bytes[place...])]
    }

    /// Sends messages as these parts, and waits until they have arrived.
    private func deliver(
        _ messages: [ChatMessage], parts: [[UInt8]], from sender: ChatClient, to target: ChatClient
    ) async throws {
        let arrival = try await target.arrival(of: messages, within: patience)
        try await sender.send(parts: parts, pause: options.scaled(.seconds(0.12)))
        try await arrival.get()
    }
}
