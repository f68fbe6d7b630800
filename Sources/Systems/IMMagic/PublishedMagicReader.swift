import Framing
import Streams

/// The published receivers of `im-magic`, with any of their hazards; those not requested are fixed.
package struct PublishedMagicReader: MessageReader {
    /// The hazards that this reader can have.
    package static let hazards: Set = ["empty-body", "no-magic-check", "no-length-limit"]

    /// Inspects held bytes only while they are *more* than a header: a frame without body waits for other bytes.
    private let waitsForBody: Bool
    /// Accepts any four bytes as the magic: once out of sync, always out of sync.
    private let takesAnyMagic: Bool
    /// Waits for a body of any length.
    private let takesAnyLength: Bool
    private let hasIDs: Bool
    private var held: [UInt8] = []
    /// Whether bytes were dropped up to here, and the rest may be an incomplete magic.
    private var isSearching = false

    /// The longest frame, as in the format. More is not held: a receiver that waits for gigabytes is stuck anyway.
    private static let limit = 16 << 20

    /// A reader at the start of a stream of `direction`, whose headers have 62 bytes from the client and 11 from the server.
    package init(of direction: Direction, hazards: Set<String>) {
        hasIDs = direction == .fromClient
        waitsForBody = hazards.contains("empty-body")
        takesAnyMagic = hazards.contains("no-magic-check")
        takesAnyLength = hazards.contains("no-length-limit")
    }

    package mutating func receive(_ bytes: RawSpan, at time: Timestamp) -> [PeerInput] {
        let room = Self.limit + headerLength - held.count
        held += bytes.copied(0..<min(bytes.byteCount, max(0, room)))
        var inputs: [PeerInput] = []
        while held.count >= headerLength + (waitsForBody ? 1 : 0) {
            let isInStep = held.starts(with: Self.magic)
            if !isInStep, isSearching || !takesAnyMagic {
                inputs.append(dropToMagic("the magic is not there"))
                continue
            }
            isSearching = false
            let length = Int(number(at: headerLength - 4))
            // A receiver that ignores the magic cannot resynchronise.
            if isInStep, !takesAnyLength, headerLength + length > Self.limit {
                held.removeFirst()
                inputs.append(dropToMagic("a body of \(length) bytes", dropped: 1))
                continue
            }
            guard held.count >= headerLength + length else { break }
            inputs.append(.message(message(body: length)))
            held.removeFirst(headerLength + length)
        }
        return inputs
    }

    package mutating func finish() -> [PeerInput] {
        held.isEmpty ? [] : [.unframed(byteCount: held.count, detail: "never read")]
    }

    private static let magic: [UInt8] = [0x20, 0x17, 0x08, 0x17]

    private var headerLength: Int { hasIDs ? 62 : 11 }

    private func number(at place: Int) -> UInt32 {
        held[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    private func message(body length: Int) -> PeerMessage {
        var fields = [Field("command", .integer(Int64(held[6])))]
        if hasIDs { fields += [Field("from", .text(text(7..<32))), Field("to", .text(text(32..<57)))] }
        return PeerMessage(fields: fields, body: Array(held[headerLength..<headerLength + length]))
    }

    private func text(_ place: Range<Int>) -> String {
        String(decoding: held[place].prefix { $0 != 0 }, as: UTF8.self)
    }

    /// Drops the bytes before the next magic, or before the possible beginning of one.
    private mutating func dropToMagic(_ detail: String, dropped: Int = 0) -> PeerInput {
        let start =
            held.indices.first { at in zip(held[at...], Self.magic).allSatisfy(==) } ?? held.endIndex
        held.removeFirst(start)
        isSearching = true
        return .unframed(byteCount: dropped + start, detail: detail)
    }
}
