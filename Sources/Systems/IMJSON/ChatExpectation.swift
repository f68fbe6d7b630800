/// Expected messages, in order. Others may arrive in between.
package struct ChatExpectation: Sendable {
    private let expected: [ChatMessage]
    private var arrived = 0

    package init(_ expected: [ChatMessage]) {
        self.expected = expected
    }

    /// Whether all of them have arrived.
    package var isFulfilled: Bool { arrived == expected.count }

    /// A message arrived; it may be the next expected one.
    package mutating func offer(_ message: ChatMessage) {
        guard !isFulfilled else { return }
        let next = expected[arrived]
        // The server's heads do not name the target.
        guard message.type == next.type, message.sender == next.sender, message.body == next.body else { return }
        arrived += 1
    }

    /// The missing messages, in words.
    package var shortfall: String {
        guard !isFulfilled else { return "nothing is missing" }
        return "\(arrived) of \(expected.count) messages arrived; missing next: \(expected[arrived])"
    }
}
