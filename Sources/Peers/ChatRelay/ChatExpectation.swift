/// Messages that should arrive, in their order. Others may arrive between them.
struct ChatExpectation {
    private let expected: [ChatMessage]
    private var arrived = 0

    init(_ expected: [ChatMessage]) {
        self.expected = expected
    }

    /// Whether all of them arrived.
    var isFulfilled: Bool { arrived == expected.count }

    /// A message arrived; it may be the one that is next.
    mutating func offer(_ message: ChatMessage) {
        guard !isFulfilled else { return }
        let next = expected[arrived]
        // The server's heads do not name the target.
        guard message.type == next.type, message.sender == next.sender, message.body == next.body else { return }
        arrived += 1
    }

    /// For people: what is missing.
    var shortfall: String {
        guard !isFulfilled else { return "nothing is missing" }
        return "\(arrived) of \(expected.count) messages arrived; missing next: \(expected[arrived])"
    }
}
