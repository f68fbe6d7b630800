import Framing
import Streams
import Trace

/// Holds what happens on a connection until its format is known.
///
/// Every format that can be recognised frames both directions on trial. The strongest that fits wins as soon as all that
/// say more are ruled out; what stands equal is decided by the server's port, then by the order of formats, and said.
/// The decision falls at a byte of the stream, wherever the chunks end.
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
    private let port: UInt16

    private struct Candidate {
        let format: Format
        let detection: FormatDetection
        var probes: PerDirection<FormatProbe>
    }

    init(_ formats: [Format], aligned: Bool, limit: Int, port: UInt16) {
        self.limit = limit
        self.port = port
        candidates = formats.compactMap { format in
            guard let detection = format.detection else { return nil }
            func probe(_ direction: Direction) -> FormatProbe {
                FormatProbe(format.directions[direction], detection, direction: direction, aligned: aligned)
            }
            return Candidate(
                format: format, detection: detection,
                probes: PerDirection(fromClient: probe(.fromClient), fromServer: probe(.fromServer)))
        }
    }

    /// Whether so much was seen of a direction that the decision has to fall.
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
        guard count > 0 else { return nil }
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

    /// Holds the end of a direction; returns the format that it settles.
    mutating func finished(_ direction: Direction, at time: Timestamp) -> (Format, FormatChoice)? {
        held.append(.finished(direction: direction, time: time))
        for index in candidates.indices { candidates[index].probes[direction].finish() }
        return settled(by: direction)
    }

    /// The best guess when no more can be seen.
    mutating func conclude() -> (Format, FormatChoice)? {
        for index in candidates.indices {
            for direction in Direction.allCases { candidates[index].probes[direction].finish() }
        }
        return choose(candidates.filter { fits($0, .fromClient, upTo: .max - 1) })  // .max stands for never
    }

    // MARK: Deciding

    /// The format on which the decision falls at the earliest byte of `direction` that allows one.
    private func settled(by direction: Direction) -> (Format, FormatChoice)? {
        let places = candidates.flatMap { candidate in
            [candidate.probes[direction].fitsFrom, candidate.probes[direction].refutedFrom].compactMap { $0 }
        }
        for place in Set(places).sorted() {
            let fitting = candidates.filter { fits($0, direction, upTo: place) }
            guard let best = fitting.map(\.detection.strength).max() else { continue }
            let isBlocked = candidates.contains { candidate in
                candidate.detection.strength > best && blocks(candidate, direction, upTo: place)
            }
            if !isBlocked { return choose(fitting) }
        }
        return nil
    }

    /// Whether a candidate fits, by what is known of `direction` up to a byte, and all that is known of the other.
    private func fits(_ candidate: Candidate, _ direction: Direction, upTo place: Int) -> Bool {
        func fits(_ side: Direction) -> Bool {
            (candidate.probes[side].fitsFrom ?? .max) <= (side == direction ? place : .max - 1)
        }
        func isRefuted(_ side: Direction) -> Bool {
            (candidate.probes[side].refutedFrom ?? .max) <= (side == direction ? place : .max - 1)
        }
        let detection = candidate.detection
        if let only = detection.from { return fits(only) && !isRefuted(only) }
        if detection.needsBoth { return fits(.fromClient) && fits(.fromServer) }
        // Strong evidence outweighs bytes that came before it and are no frame.
        if Direction.allCases.contains(where: isRefuted), detection.strength < 80 { return false }
        return fits(.fromClient) || fits(.fromServer)
    }

    /// Whether weaker candidates have to wait for this one.
    private func blocks(_ candidate: Candidate, _ direction: Direction, upTo place: Int) -> Bool {
        func reached(_ offset: Int?, _ side: Direction) -> Bool {
            (offset ?? .max) <= (side == direction ? place : .max - 1)
        }
        let sides = candidate.detection.from.map { [$0] } ?? Direction.allCases
        if sides.contains(where: { reached(candidate.probes[$0].refutedFrom, $0) }) { return false }
        return sides.contains { reached(candidate.probes[$0].blocksFrom, $0) && seen[$0] > 0 }
    }

    /// The strongest; of several the one whose port it is, then the first. What else it could be is said.
    private func choose(_ fitting: [Candidate]) -> (Format, FormatChoice)? {
        guard let best = fitting.map(\.detection.strength).max() else { return nil }
        let equal = fitting.filter { $0.detection.strength == best }
        guard let winner = equal.first(where: { $0.format.ports.contains(port) }) ?? equal.first else { return nil }
        let others = equal.map(\.format.name).filter { $0 != winner.format.name }
        var evidence = winner.detection.evidence
        if !others.isEmpty { evidence += "; could also be \(others.joined(separator: " or "))" }
        return (winner.format, FormatChoice(by: .content, evidence: evidence))
    }
}
