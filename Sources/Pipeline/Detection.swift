import Framing
import Streams
import Trace

/// Holds what happens on a connection until its format is known.
struct Detection {
    /// What was held, to be told again once the format is known.
    enum Held {
        case received(bytes: [UInt8], direction: Direction, time: Timestamp, packet: Int)
        case missing(byteCount: Int, direction: Direction, time: Timestamp)
        case finished(direction: Direction, time: Timestamp)
    }

    private(set) var held: [Held] = []
    private var candidates: [Candidate]
    private var seen = PerDirection(fromClient: 0, fromServer: 0)
    private let limit: Int

    private struct Candidate {
        let format: Format
        let detection: Format.Detection
        var probes: PerDirection<FormatProbe>
    }

    init(_ formats: [Format], aligned: Bool, limit: Int) {
        self.limit = limit
        candidates = formats.compactMap { format in
            guard let detection = format.detection else { return nil }
            func probe(_ direction: Direction) -> FormatProbe {
                FormatProbe(
                    rule: format.directions[direction].rule, frames: detection.frames, direction: direction,
                    aligned: aligned)
            }
            return Candidate(
                format: format, detection: detection,
                probes: PerDirection(fromClient: probe(.fromClient), fromServer: probe(.fromServer)))
        }
    }

    /// Whether so much was seen of a direction that the format will not be recognised any more.
    var isExhausted: Bool { max(seen.fromClient, seen.fromServer) >= limit }

    /// How much was seen, for people.
    var extent: String { "the first \(seen.fromClient) bytes from the client and \(seen.fromServer) from the server" }

    /// Holds a chunk; returns the format that it settles.
    mutating func receive(
        _ bytes: RawSpan, from direction: Direction, at time: Timestamp, packet: Int
    ) -> (Format, FormatChoice)? {
        held.append(.received(bytes: bytes.copied(), direction: direction, time: time, packet: packet))
        // Only so many bytes count, wherever the chunks end.
        let count = min(bytes.byteCount, limit - seen[direction])
        seen[direction] += count
        for index in candidates.indices {
            candidates[index].probes[direction].receive(bytes.extracting(0..<count))
        }
        return settled(by: direction)
    }

    /// Holds a hole; returns the format that it settles.
    mutating func missing(
        _ byteCount: Int, from direction: Direction, at time: Timestamp
    ) -> (Format, FormatChoice)? {
        held.append(.missing(byteCount: byteCount, direction: direction, time: time))
        for index in candidates.indices { candidates[index].probes[direction].missing(byteCount) }
        return settled(by: direction)
    }

    /// Holds the end of a direction.
    mutating func finished(_ direction: Direction, at time: Timestamp) {
        held.append(.finished(direction: direction, time: time))
    }

    /// The format that fits from the earliest byte on; of several, the first in order.
    private func settled(by direction: Direction) -> (Format, FormatChoice)? {
        let fitting = candidates.filter { $0.probes[direction].fitsFrom != nil }
        let first = fitting.min { ($0.probes[direction].fitsFrom ?? 0) < ($1.probes[direction].fitsFrom ?? 0) }
        return first.map { ($0.format, FormatChoice(by: .content, evidence: $0.detection.evidence)) }
    }
}
