import Packets
import Streams

/// Byte 0: the link type. Byte 1: bit 0 the last copy of a byte counts, bit 1 overlaps are remembered. Then packets: two
/// bytes of length (bit 15: later by 2 s; bit 14: the packet was cut off; bit 13: the same once more), and its bytes.
func fuzzPackets(_ input: FuzzInput) {
    var input = input
    let linkType = LinkType(rawValue: linkTypes[input.byte() % linkTypes.count])
    let flags = input.byte()
    var options = ReassemblyOptions()
    options.overlap = flags & 1 == 0 ? .first : .last
    options.conflictHistory = flags & 2 == 0 ? 0 : 256
    options.reorderingLimit = 4_096
    let log = CheckedStreams()
    var decoder = CaptureDecoder(options: options, receiver: log)
    var (number, time) = (0, Timestamp(nanoseconds: 0))
    while !input.rest.isEmpty {
        let word = input.byte() << 8 | input.byte()
        let bytes = input.bytes(word & 0x1fff)
        time = time + Interval(nanoseconds: word & 0x8000 == 0 ? 1_000_000 : 2_000_000_000)
        let isCutOff = word & 0x4000 != 0
        for _ in 0..<(word & 0x2000 == 0 ? 1 : 2) {
            number += 1
            let packet = PacketInfo(
                number: number, time: time, linkType: linkType, capturedLength: bytes.count,
                originalLength: bytes.count + (isCutOff ? 100 : 0))
            _ = decoder.receive(packet, bytes: bytes.span.bytes, options: RawSpan())
        }
    }
    decoder.finish()
    log.expectAllClosed()
    expect(decoder.counters.packets == number, "\(decoder.counters.packets) packets of \(number)")
    expect(decoder.connectionCount == log.openedCount, "\(decoder.connectionCount) connections")
}

/// Those that are read, and one that is not.
private let linkTypes: [UInt16] = [
    1, 0, 9, 12, 50, 51, 101, 104, 105, 108, 113, 119, 127, 163, 192, 219, 228, 229, 239, 258, 276, 9_999,
]
