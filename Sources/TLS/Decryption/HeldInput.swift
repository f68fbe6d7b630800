import Streams

/// What a direction received while it waits for the other one's hello, or for a secret, in order.
struct HeldInput: Sendable {
    /// What was received.
    enum Content: Sendable {
        case bytes([UInt8])
        case missing(Int)
        case finish(hasEnded: Bool)
    }

    /// What was received, and when.
    struct Item: Sendable {
        let content: Content
        let arrival: Arrival
    }

    /// Why a direction waits.
    enum Wait: Sendable {
        /// For what decides how this record is read.
        case record(RecordHeader)
        /// For the ClientHello of a renegotiation, whose ServerHello lies in the first record.
        case renegotiation
        /// For the secret of the handshake, in TLS 1.3, which may still be logged.
        case secret
    }

    /// How many bytes are held; then the wait is given up.
    static let byteLimit = 256 << 10
    /// How many items are held: every gap is one.
    static let itemLimit = 4_096
    /// How many items there are before bytes that follow each other are joined, and have the time of the last ones.
    static let pieceLimit = 256

    private(set) var items: [Item] = []
    private(set) var byteCount = 0
    /// What is waited for; nil if nothing is.
    var wait: Wait?
    /// The limit was reached, or nothing more can come.
    var isGivenUp = false

    var isFull: Bool { byteCount > HeldInput.byteLimit || items.count > HeldInput.itemLimit }

    /// Adds bytes.
    mutating func add(_ bytes: RawSpan, _ arrival: Arrival) {
        guard bytes.byteCount > 0 else { return }
        byteCount += bytes.byteCount
        let isJoined = items.last?.arrival == arrival || items.count >= HeldInput.pieceLimit
        if isJoined, case .bytes(var joined)? = items.last?.content {
            items.removeLast()
            joined.append(contentsOf: bytes)
            items.append(Item(content: .bytes(joined), arrival: arrival))
        } else {
            items.append(Item(content: .bytes(bytes.copied()), arrival: arrival))
        }
    }

    /// Adds anything.
    mutating func add(_ content: Content, _ arrival: Arrival) {
        if case .bytes(let bytes) = content {
            add(bytes.span.bytes, arrival)
        } else {
            items.append(Item(content: content, arrival: arrival))
        }
    }

    /// Takes everything out; nothing is waited for.
    mutating func take() -> [Item] {
        defer { (items, byteCount, wait) = ([], 0, nil) }
        return items
    }
}
