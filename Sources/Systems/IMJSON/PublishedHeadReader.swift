import Framing
import Streams
import Synchronization

/// The published receivers of `im-json`, with any of their hazards; those not requested are fixed.
///
/// They read as GCDAsyncSocket does: up to the CRLF of a head, then as many bytes as the head says, then up to the next CRLF.
///
///     zero-size-body  asks for exactly 0 bytes, and is never called back; so it does where a head has no size
///     bad-head        has no read outstanding after a head that is not JSON
///     endless-head    looks for the CRLF without limit
///     stale-head      keeps the head of a frame that the end of the connection cut, and takes the next connection's first
///                     head for its body
package struct PublishedHeadReader: MessageReader {
    /// The hazards that this reader can have.
    package static let hazards: Set = ["zero-size-body", "bad-head", "endless-head", "stale-head"]

    /// The head in progress, as a property of the published client: it outlives a connection.
    package final class Memory: Sendable {
        private let kept = Mutex<ChatHead?>(nil)
        fileprivate var head: ChatHead? {
            get { kept.withLock { $0 } }
            set { kept.withLock { $0 = newValue } }
        }

        /// No head is in progress.
        package init() {}
    }

    /// A head, and how many bytes of body it asks for.
    fileprivate struct ChatHead: Sendable {
        var fields: [Field]
        var size: Int
    }

    private enum Read {
        /// Up to CRLF.
        case head
        /// This many bytes.
        case body(Int)
        /// Nothing: the read never completes.
        case none
    }

    private static let delimiter: [UInt8] = [0x0d, 0x0a]
    /// The longest head with its delimiter, and the longest frame, as in the format.
    private static let limit = (head: 64 << 10, frame: 16 << 20)

    private let hazards: Set<String>
    private let memory: Memory
    private var held: [UInt8] = []
    /// How many of the held bytes have been searched for a CRLF.
    private var searched = 0
    private var read = Read.head
    /// The length of the head whose body is being read.
    private var headLength = 0

    /// A reader at the start of a connection.
    ///
    /// - Parameter memory: the state left by the previous connection.
    package init(hazards: Set<String>, memory: Memory = Memory()) {
        (self.hazards, self.memory) = (hazards, memory)
        if !hazards.contains("stale-head") { memory.head = nil }
    }

    package mutating func receive(_ bytes: RawSpan, at time: Timestamp) -> [PeerInput] {
        if case .none = read { return [] }
        held += bytes.copied()
        var inputs: [PeerInput] = []
        while let next = next() { inputs += next }
        return inputs
    }

    package mutating func finish() -> [PeerInput] {
        var count = held.count
        if case .body = read { count += headLength }
        return count == 0 ? [] : [.unframed(byteCount: count, detail: "never read")]
    }

    /// The data of the outstanding read; nil while it is incomplete.
    private mutating func next() -> [PeerInput]? {
        switch read {
        case .none: return nil
        case .body(let size):
            guard held.count >= size else { return nil }
            return called(with: take(size))
        case .head:
            let end = endOfHead()
            if !hazards.contains("endless-head"), (end ?? held.count) > Self.limit.head {
                return [drop("no end of a head within \(Self.limit.head) bytes")]
            }
            guard let end else {
                guard held.count > Self.limit.frame else { return nil }
                return deaf("the published receiver looks for the end of a head for ever")
            }
            return called(with: take(end))
        }
    }

    /// The published receiver's action when a read completes: the first read is for a head, the next one for its body.
    private mutating func called(with bytes: [UInt8]) -> [PeerInput] {
        guard let head = memory.head else { return headRead(bytes) }
        guard bytes.count == head.size else {
            held = bytes + held
            return deaf("the published receiver keeps an old head that asks for \(head.size) B: goes deaf")
        }
        memory.head = nil
        read = .head
        return [.message(PeerMessage(fields: head.fields, body: bytes))]
    }

    private mutating func headRead(_ bytes: [UInt8]) -> [PeerInput] {
        guard let head = Self.head(bytes) else {
            held = bytes + held
            if hazards.contains("bad-head") { return deaf("the published receiver has no read outstanding: goes deaf") }
            return [drop("no JSON head")]
        }
        let isUsable = head.size >= 0 && head.size <= Self.limit.frame - bytes.count && Self.hasCount(head)
        if head.size == 0, hazards.contains("zero-size-body") {
            held = bytes + held
            memory.head = head
            return deaf("the published receiver asks for exactly 0 bytes: goes deaf")
        }
        guard isUsable else { return [.unframed(byteCount: bytes.count, detail: "a head without a usable size")] }
        memory.head = head
        read = .body(head.size)
        headLength = bytes.count
        return []
    }

    /// The end of the head, including its CRLF; nil if it has not arrived yet.
    private mutating func endOfHead() -> Int? {
        while searched + 1 < held.count {
            if held[searched] == Self.delimiter[0], held[searched + 1] == Self.delimiter[1] { return searched + 2 }
            searched += 1
        }
        return nil
    }

    private mutating func take(_ count: Int) -> [UInt8] {
        defer { held.removeFirst(count) }
        searched = 0
        return Array(held[..<count])
    }

    /// Drops bytes that are not a head, up to the possible beginning of one.
    private mutating func drop(_ detail: String) -> PeerInput {
        var end: Int? = 0
        let open = held.indices.dropFirst().first { at in
            guard held[at] == UInt8(ascii: "{") else { return false }
            if let known = end, known < at {
                end = held[at...].indices.first { held[$0...].starts(with: Self.delimiter) }
            }
            guard let end else { return held.count - at <= Self.limit.head }
            return end + 2 - at <= Self.limit.head && Self.head(Array(held[at..<end])).map(Self.hasCount) == true
        }
        let count = open ?? held.count
        _ = take(count)
        return .unframed(byteCount: count, detail: detail)
    }

    private mutating func deaf(_ why: String) -> [PeerInput] {
        read = .none
        defer { held = [] }
        return [.unframed(byteCount: held.count, detail: why)]
    }

    /// The contents of a head; nil if it is not a JSON object. The published receiver treats a missing or non-numeric size as 0.
    private static func head(_ bytes: [UInt8]) -> ChatHead? {
        var text = bytes[...]
        while let last = text.last, last == 0x0a || last == 0x0d || last == 0x20 || last == 0x09 { text.removeLast() }
        text = text.drop { $0 == 0x0a || $0 == 0x0d || $0 == 0x20 || $0 == 0x09 }
        guard text.first == UInt8(ascii: "{"), case .object? = JSONValue(body: Array(text)) else { return nil }
        let fields = JSONHead(sizeField: "size").fields(of: Array(text).span.bytes)
        let size: Int
        switch fields.first(where: { $0.name == "size" })?.value {
        case .integer(let number): size = Int(number)
        case .number(let number): size = Int(exactly: number.rounded(.towardZero)) ?? 0
        case .text(let text): size = integerValue(text)
        default: size = 0
        }
        return ChatHead(fields: fields, size: size)
    }

    /// The result of NSString's `integerValue` for a text: the number at its beginning, or 0.
    private static func integerValue(_ text: String) -> Int {
        let text = text.drop { $0 == " " || $0 == "\t" || $0 == "\n" }
        let sign = text.first == "-" ? -1 : 1
        let digits = (text.first == "-" || text.first == "+" ? text.dropFirst() : text)
            .prefix { ("0"..."9").contains($0) }
        return digits.isEmpty ? 0 : sign * (Int(digits) ?? Int.max)
    }

    /// Whether the format accepts the size as well: an integer, or a text that contains one.
    private static func hasCount(_ head: ChatHead) -> Bool {
        switch head.fields.first(where: { $0.name == "size" })?.value {
        case .integer(let number): number >= 0
        case .text(let text): !text.isEmpty && text.allSatisfy { ("0"..."9").contains($0) }
        default: false
        }
    }
}
