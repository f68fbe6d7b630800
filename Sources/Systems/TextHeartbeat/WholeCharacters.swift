import Streams

/// A reader that gets only whole characters: an incomplete one at the end of a read waits for the next read.
struct WholeCharacters: MessageReader {
    private var reader: FrameReader
    private var character = UnfinishedCharacter()

    init(_ reader: FrameReader) { self.reader = reader }

    mutating func receive(_ bytes: RawSpan, at time: Timestamp) -> [PeerInput] {
        let whole = character.complete(with: bytes.copied())
        return reader.receive(whole.span.bytes, at: time)
    }
}

/// Holds back the incomplete UTF-8 character at the end of a read until the next read completes it (RFC 3629 §3).
struct UnfinishedCharacter {
    private var held: [UInt8] = []

    /// The held bytes and the new ones, up to the last complete character. Bytes that are not UTF-8 at all are not held back.
    mutating func complete(with bytes: [UInt8]) -> [UInt8] {
        let all = held + bytes
        let count = Self.unfinished(at: all)
        held = Array(all.suffix(count))
        return all.dropLast(count)
    }

    /// How many bytes at the end are the beginning of an incomplete character: 0 to 3.
    static func unfinished(at bytes: [UInt8]) -> Int {
        for count in 1...3 where count <= bytes.count {
            let byte = bytes[bytes.count - count]
            switch byte {
            case 0x80..<0xc0: continue
            case 0xc2..<0xe0: return count < 2 ? count : 0
            case 0xe0..<0xf0: return count < 3 ? count : 0
            case 0xf0..<0xf5: return count < 4 ? count : 0
            default: return 0
            }
        }
        return 0
    }
}
