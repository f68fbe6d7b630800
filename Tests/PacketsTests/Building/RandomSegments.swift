import Packets
import Streams
import TestSupport

/// Random segments of some connections, with everything that may be in them.
struct RandomSegments {
    private static let ports: [UInt16] = [1, 2, 3, 4, 5, 6]
    private var numbers: [UInt32]
    /// Those of the last SYN.
    private var starts: [UInt32]
    /// Of how many segments ten are unusual.
    private let usual: Int
    /// Most hosts count their packets.
    private var identifications = [UInt16](repeating: 0, count: 2 * ports.count)
    private var now: Int64 = 0
    private var generator: SeededGenerator

    /// How long after the one before a segment comes.
    private let pauses: [Int64]

    /// By how much a sequence number may differ from the next one.
    private let shifts: [Int]

    /// - Parameters:
    ///   - pauses: how long after the one before a segment comes, in nanoseconds; the last one is rare.
    ///   - shifts: by how much a sequence number may differ from the next one.
    ///   - usual: of how many segments ten are unusual; nil: few, or many.
    init(
        seed: UInt64, pauses: [Int64] = [0, 1_000, 1_000_000, 300_000_000, 2_000_000_000, 4_000_000_000_000],
        shifts: [Int] = [0, 0, 0, 0, 0, 1, 3, -2], usual: Int? = nil
    ) {
        (self.pauses, self.shifts) = (pauses, shifts)
        generator = SeededGenerator(seed: seed)
        (numbers, self.usual) = ([], usual ?? (seed % 2 == 1 ? 300 : 30))
        starts = [UInt32](repeating: 0, count: 2 * Self.ports.count)
        for _ in 0..<2 * Self.ports.count { numbers.append(UInt32.random(in: 0 ... .max, using: &generator)) }
    }

    /// The next one, its payload, and its time.
    mutating func next() -> (segment: TCPSegment, payload: [UInt8], leg: Leg?, time: Timestamp) {
        let rareness = Int.random(in: 0..<40, using: &generator)
        now += pauses[rareness == 0 ? pauses.count - 1 : rareness % (pauses.count - 1)]
        let place = Int.random(in: 0..<Self.ports.count, using: &generator)
        let isServer = Bool.random(using: &generator)
        let (own, other) = isServer ? (2 * place + 1, 2 * place) : (2 * place, 2 * place + 1)
        var flags: TCPFlags = .ack
        var number: UInt32?
        var acknowledgment = numbers[other] &- UInt32.random(in: 0...2, using: &generator)
        switch Int.random(in: 0..<usual, using: &generator) {
        case 0, 1, 2:
            flags = isServer ? [.syn, .ack] : .syn
            starts[own] = numbers[own]
        case 3: flags = [.fin, .ack]
        case 4:
            // It is valid within the window.
            flags = .rst
            number = numbers[own] &+ ([0, 0, 3_000, 200_000, 2_000_000].randomElement(using: &generator) ?? 0)
        case 5: numbers[own] = UInt32.random(in: 0 ... .max, using: &generator)
        case 6, 7, 8, 9:
            // A SYN again, or an answer to it that begins with another number.
            flags = isServer ? [.syn, .ack] : .syn
            number = isServer ? UInt32.random(in: 0 ... .max, using: &generator) : starts[own]
            acknowledgment = starts[other] &+ 1
        default: break
        }
        let count = flags == .ack ? Int.random(in: 0..<4, using: &generator) : 0
        let payload = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
        // Some segments were lost, others come again.
        let shift = number != nil ? 0 : shifts.randomElement(using: &generator) ?? 0
        var segment = TCPSegment(
            source: end(place, isServer), destination: end(place, !isServer),
            sequence: number ?? numbers[own] &+ UInt32(truncatingIfNeeded: shift), flags: flags,
            payloadLength: count)
        segment.acknowledgment = acknowledgment
        identifications[own] &+= [1, 1, 1, 1, 1, 1, 1, 1, 1, 3].randomElement(using: &generator) ?? 1
        segment.identification = identifications[own]
        segment.window = [0, 1, 50, 4_000, 65_535].randomElement(using: &generator) ?? 0
        if flags.contains(.syn) { segment.windowScale = UInt8.random(in: 0...9, using: &generator) }
        segment.clock = UInt32(truncatingIfNeeded: now / 1_000_000)
        if shift >= 0, number == nil {
            numbers[own] &+= UInt32(count + shift + (flags.isDisjoint(with: [.syn, .fin]) ? 0 : 1))
        }
        let leg: Leg? = place == 4 ? .in : place == 5 ? .out : nil
        return (segment, payload, leg, Timestamp(nanoseconds: now))
    }

    /// The last two are the legs of one connection; the first two are between IPv6 addresses.
    private func end(_ place: Int, _ isServer: Bool) -> Endpoint {
        let port = isServer ? 80 : place == 5 ? Self.ports[4] : Self.ports[place]
        let low = UInt64(isServer ? 2 : 1)
        return Endpoint(
            place < 2 ? IPAddress(v6: 0x2001_0db8_0000_0000, low) : IPAddress(v4: UInt32(low)), port)
    }
}
