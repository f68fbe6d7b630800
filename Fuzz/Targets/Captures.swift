import Packets
import Streams

/// Byte 0: how many bytes are read at once. The rest is a capture file: read whole or in pieces it is the same packets and
/// the same streams.
func fuzzCaptures(_ input: FuzzInput) {
    var input = input
    let size = input.byte() + 1
    let file = Array(input.rest)
    let whole = CaptureResult(file, size: 1 << 16)
    let pieces = CaptureResult(file, size: size)
    expect(whole == pieces, "in pieces of \(size) it is another capture")
}

/// What a capture gave.
private struct CaptureResult: Equatable {
    var packets = 0
    var error: CaptureError?
    var counters: CaptureCounters
    var events: [StreamEvent]

    init(_ file: [UInt8], size: Int) {
        let log = CheckedStreams()
        var decoder = CaptureDecoder(receiver: log)
        var reader = CaptureReader(Pieces(bytes: file[...], size: size), chunk: 1 << 12)
        do {
            try reader.read(to: &decoder)
        } catch {
            if case .damaged(let damage) = error { self.error = damage }
        }
        decoder.finish()
        log.expectAllClosed()
        packets = reader.packetCount
        (counters, events) = (decoder.counters, log.events)
    }
}
