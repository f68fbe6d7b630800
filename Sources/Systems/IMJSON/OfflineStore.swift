/// Messages kept for targets that are not connected, within bounds.
struct OfflineStore {
    /// The total size of the store, in bytes of bodies and names.
    let byteLimit: Int
    /// The maximum number of stored messages.
    let messageLimit: Int

    private var messages: [String: [ChatMessage]] = [:]
    private var byteCount = 0
    private var messageCount = 0

    init(byteLimit: Int = 16 << 20, messageLimit: Int = 10_000) {
        self.byteLimit = byteLimit
        self.messageLimit = messageLimit
    }

    /// Stores a message for its target; false if there is no room for it.
    mutating func keep(_ message: ChatMessage, for target: String) -> Bool {
        let size = cost(message)
        guard messageCount < messageLimit, size <= byteLimit - byteCount else { return false }
        messages[target, default: []].append(message)
        byteCount += size
        messageCount += 1
        return true
    }

    /// Removes and returns the messages for a target, oldest first.
    mutating func take(for target: String) -> [ChatMessage] {
        guard let taken = messages.removeValue(forKey: target) else { return [] }
        messageCount -= taken.count
        byteCount -= taken.reduce(0) { $0 + cost($1) }
        return taken
    }

    private func cost(_ message: ChatMessage) -> Int {
        message.body.count + message.type.utf8.count + message.sender.utf8.count + (message.target?.utf8.count ?? 0)
    }
}
