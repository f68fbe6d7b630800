import Streams
import TLS

/// The conversation in which these bytes of one direction are missing; the other direction comes first or last, as captured.
func gap(_ recording: Recording, _ direction: Direction, _ missing: Range<Int>) -> [Step] {
    var at = 0
    return recording.connections[0].flatMap { step -> [Step] in
        guard case .bytes(let bytes, direction) = step else { return [step] }
        defer { at += bytes.count }
        let range = missing.clamped(to: at..<at + bytes.count)
        guard !range.isEmpty else { return [step] }
        let (before, after) = (Array(bytes[..<(range.lowerBound - at)]), Array(bytes[(range.upperBound - at)...]))
        return [.bytes(before, direction), .missing(range.count, direction), .bytes(after, direction)]
            .filter { $0 != .bytes([], direction) }
    }
}

/// Where a stream's records lie.
func records(_ stream: [UInt8]) -> [Range<Int>] {
    var (ranges, at): ([Range<Int>], Int) = ([], 0)
    while at + 5 <= stream.count {
        let end = at + 5 + Int(stream[at + 3]) << 8 + Int(stream[at + 4])
        ranges.append(at..<min(end, stream.count))
        at = end
    }
    return ranges
}

/// The plaintext of each record.
func plaintexts(_ log: TLSLog, _ direction: Direction) -> [[UInt8]] {
    log.entries[direction].compactMap { if case .plaintext(let bytes) = $0 { bytes } else { nil } }
}

/// How many bytes are delivered or reported lost.
func filled(_ log: TLSLog, _ direction: Direction) -> Int {
    log.entries[direction].reduce(0) { sum, entry in
        switch entry {
        case .plaintext(let bytes): sum + bytes.count
        case .lost(let count, _, _): sum + count
        case .event: sum
        }
    }
}

/// Where the first application data is, in the stream.
func applicationDataOffset(_ log: TLSLog, _ direction: Direction) -> Int? {
    log.events(direction).lazy.compactMap { if case .applicationDataBegins(let offset, _) = $0 { offset } else { nil } }
        .first
}

/// Whether the plaintext is a subsequence of the whole's records, at the right positions as far as losses are exact.
func isPart(_ log: TLSLog, of whole: TLSLog, _ direction: Direction, checksPositions: Bool) -> Bool {
    let early = [UInt8](repeating: UInt8(ascii: "e"), count: 300)
    let all = (checksPositions ? [] : [early]) + plaintexts(whole, direction)
    var starts: [Int] = [0]
    for chunk in all { starts.append(starts[starts.count - 1] + chunk.count) }
    var next = 0
    var position: Int? = checksPositions ? 0 : nil
    for entry in log.entries[direction] {
        switch entry {
        case .event: break
        case .lost(let count, let isExact, _):
            position = isExact ? position.map { $0 + count } : nil
        case .plaintext(let bytes):
            guard let found = all[next...].firstIndex(of: bytes) else { return false }
            if let position {
                // The same plaintext may come twice: one of them has to begin here.
                guard let exact = all.indices.first(where: { $0 >= next && starts[$0] == position && all[$0] == bytes })
                else { return false }
                next = exact + 1
            } else {
                next = found + 1
            }
            position = position.map { $0 + bytes.count }
        }
    }
    return true
}
