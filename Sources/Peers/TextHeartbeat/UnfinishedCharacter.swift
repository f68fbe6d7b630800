/// Keeps back the beginning of a UTF-8 character that a read ended in, until the next read brings the rest (RFC 3629 §3).
struct UnfinishedCharacter {
    private var held: [UInt8] = []

    /// What was kept and the bytes, up to the last character that is whole. What is no UTF-8 at all is not kept back.
    mutating func complete(with bytes: [UInt8]) -> [UInt8] {
        let all = held + bytes
        let count = Self.unfinished(at: all)
        held = Array(all.suffix(count))
        return all.dropLast(count)
    }

    /// How many bytes at the end are the beginning of a character that is not whole: 0 to 3.
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
