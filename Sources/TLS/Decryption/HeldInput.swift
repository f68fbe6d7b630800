import Streams

/// What a direction received while it waits for the other one's hello, in order.
struct HeldInput: Sendable {
    enum Item: Sendable {
        case bytes([UInt8])
        case missing(Int)
        case finish(hasEnded: Bool)
    }

    /// Why a direction waits.
    enum Wait: Sendable {
        /// For what decides how this record is read.
        case record(RecordHeader)
        /// For the ClientHello of a renegotiation, whose ServerHello lies in the first record.
        case renegotiation
    }

    /// How many bytes are held; then the wait is given up.
    static let byteLimit = 256 << 10
    /// How many items are held: every gap is one.
    static let itemLimit = 4_096

    private(set) var items: [Item] = []
    private(set) var byteCount = 0
    /// What is waited for; nil if nothing is.
    var wait: Wait?
    /// The limit was reached, or nothing more can come.
    var isGivenUp = false

    var isFull: Bool { byteCount > HeldInput.byteLimit || items.count > HeldInput.itemLimit }

    mutating func add(_ bytes: RawSpan) {
        guard bytes.byteCount > 0 else { return }
        byteCount += bytes.byteCount
        if case .bytes(var last)? = items.last {
            items.removeLast()
            last.append(contentsOf: bytes)
            items.append(.bytes(last))
        } else {
            items.append(.bytes(bytes.copied()))
        }
    }

    mutating func add(_ item: Item) {
        if case .bytes(let bytes) = item {
            add(bytes.span.bytes)
        } else {
            items.append(item)
        }
    }

    /// Takes everything out; nothing is waited for.
    mutating func take() -> [Item] {
        defer { (items, byteCount, wait) = ([], 0, nil) }
        return items
    }
}
