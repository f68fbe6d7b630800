import Packets
import Streams

/// Byte 0: bit 0 the last copy of a byte counts, bit 1 overlaps are remembered, bit 2 connections are let go after 5 s, bit 3
/// there is room for two connections. Then segments of 8 bytes: bit 0 the direction, bits 1–2 the client's port, bits 3–5
/// time passes (0, 1 ms … 100 s); flags; 16 bits of sequence number, around one of two places; length; acknowledgment likewise.
///
/// The byte at a sequence number is its lowest eight bits, so that every byte of a stream shows its place, and no two copies
/// are different.
func fuzzReassembly(_ input: FuzzInput) {
    var input = input
    let choices = input.byte()
    var options = ReassemblyOptions()
    options.overlap = choices & 1 == 0 ? .first : .last
    options.conflictHistory = choices & 2 == 0 ? 0 : 256
    options.idleTimeout = Interval.seconds(choices & 4 == 0 ? 3600 : 5)
    options.connectionLimit = choices & 8 == 0 ? 1000 : 2
    options.idleLimit = 1
    options.reorderingLimit = 4_096
    options.reorderingSegmentLimit = 16
    let log = CheckedStreams()
    var reassembler = TCPReassembler(options: options, receiver: log)
    var (number, time) = (0, Timestamp(nanoseconds: 0))
    func sequence(_ word: Int) -> UInt32 { (word & 0x8000 == 0 ? 0 : .max - 0x1000) &+ UInt32(word & 0x7fff) }
    while !input.rest.isEmpty {
        let head = input.byte()
        let flags = TCPFlags(rawValue: UInt8(input.byte()))
        let start = sequence(input.byte() << 8 | input.byte())
        let count = input.byte()
        let acknowledgment = sequence(input.byte() << 8 | input.byte())
        let cut = input.byte()
        time =
            time
            + Interval(
                nanoseconds: [0, 0, 0, 1_000_000, 100_000_000, 1_000_000_000, 6_000_000_000, 100_000_000_000][
                    head >> 3 & 7])
        number += 1
        let client = Endpoint(IPAddress(v4: 1), UInt16(40_000 + head >> 1 & 3))
        let server = Endpoint(IPAddress(v4: 2), 80)
        let segment = TCPSegment(
            source: head & 1 == 0 ? client : server, destination: head & 1 == 0 ? server : client, sequence: start,
            acknowledgment: acknowledgment, flags: flags, window: UInt16(cut), payloadLength: count)
        let first = flags.contains(.syn) ? start &+ 1 : start
        // What is cut off is the end.
        let bytes = (0..<UInt32(max(0, cut < 64 ? count - cut : count))).map { UInt8(truncatingIfNeeded: first &+ $0) }
        reassembler.advance(to: time)
        reassembler.receive(segment, payload: bytes.span.bytes, at: time, packet: number)
    }
    reassembler.finish()
    log.expectAllClosed()
    expectPlaces(log)
}

/// Every byte is its stream offset and a constant, and nothing was different.
private func expectPlaces(_ log: CheckedStreams) {
    var offsets: [Int: Int] = [:]
    var starts: [Int: UInt8] = [:]
    for event in log.events {
        switch event {
        case .received(let connection, let direction, let bytes, _, _):
            let place = connection * 2 + Int(direction.rawValue)
            for byte in bytes {
                let start = byte &- UInt8(truncatingIfNeeded: offsets[place, default: 0])
                expect(starts[place, default: start] == start, "a byte of connection \(connection) is out of place")
                starts[place] = start
                offsets[place, default: 0] += 1
            }
        case .missing(let connection, let direction, let count, _):
            offsets[connection * 2 + Int(direction.rawValue), default: 0] += count
        case .noticed(_, _, .conflict(let offset, _, _), _, _):
            expect(false, "all copies are the same, but there is a conflict at \(offset)")
        default: break
        }
    }
}
