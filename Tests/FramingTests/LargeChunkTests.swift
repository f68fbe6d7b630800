import Framing
import Streams
import Testing

/// A chunk of very many frames takes time in proportion to their number.
@Suite struct LargeChunkTests {
    /// Checks that the frames of the second chunk know their places in it.
    private final class Places: FrameReceiver {
        let count: Int
        private(set) var frames = 0
        private(set) var wrong: [FrameInfo] = []

        init(_ count: Int) { self.count = count }

        func framed(_ frame: FrameInfo, bytes: RawSpan, from direction: Direction) {
            frames += 1
            let isFirst = frame.index == 0
            // Of the last frame it is known only later where it ends.
            guard frame.index < count else { return }
            if frame.position != (isFirst ? 1 : frame.index) || frame.companions != (isFirst ? 1 : count) {
                wrong.append(frame)
            }
        }

        func unframed(_ run: UnframedRun, from direction: Direction) {}

        func missing(offset: Int, byteCount: Int, from direction: Direction, at time: Timestamp) {}
    }

    /// Each frame ends where the next one begins: that of the first chunk ends there, but is held until the second chunk arrives. Looking
    /// through the chunk for each of its frames would take hours.
    @Test(.timeLimit(.minutes(1))) func aHeldFrameThatEndedEarlierCostsTheOthersNothing() {
        let count = 300_000
        let places = Places(count)
        let scratch = FramingScratch()
        let marker = Array("ab".utf8)
        var framer = Framer(
            rule: Marker(start: marker, idle: nil, limit: 1 << 20), direction: .fromClient, aligned: true)
        let chunks = [marker, [[UInt8]](repeating: marker, count: count).flatMap { $0 }]
        for (index, chunk) in chunks.enumerated() {
            let time = Timestamp(seconds: Int64(index), nanoseconds: 0)
            framer.receive(chunk.span.bytes, at: time, packet: index + 1, scratch: scratch, into: places)
        }
        framer.finish(scratch: scratch, into: places)
        #expect(places.frames == count + 1)
        #expect(
            places.wrong.isEmpty, "\(places.wrong.count) frames, the first \(String(describing: places.wrong.first))")
    }
}
