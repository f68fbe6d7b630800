import Framing
import Streams

/// Frames both directions of a relayed connection, up to where it changes to TLS. A value but for its framers' receiver: no sockets.
final class UpgradeFraming {
    /// What a chunk consists of.
    enum Part: Equatable {
        /// This many bytes are plaintext.
        case plaintext(Int)
        /// The rest begins with plaintext, some of which is where TLS has to begin.
        case injected
        /// The rest is TLS.
        case tls
    }

    private let watch: TLSUpgradeWatch
    private let receiver: Receiver
    private var framers: PerDirection<Framer>
    private let scratch = FramingScratch()

    /// A connection that begins in plaintext.
    init?(_ format: Format) {
        guard let upgrade = format.upgrade else { return nil }
        watch = TLSUpgradeWatch(upgrade)
        receiver = Receiver(watch, format)
        framers = format.framers()
    }

    /// Whether both sides have agreed on TLS.
    var isAgreed: Bool { watch.isAgreed }

    /// Frames the next bytes of a direction.
    func take(_ bytes: RawSpan, from direction: Direction) -> [Part] {
        var parts: [Part] = []
        var start = 0
        while start < bytes.byteCount {
            let rest = bytes.extracting(start..<bytes.byteCount)
            if watch.beginsTLS(rest, from: direction) { return parts + [.tls] }
            let count = TLSUpgradeWatch.plaintext(before: rest)
            framers[direction].receive(
                rest.extracting(0..<count), at: Timestamp(nanoseconds: 0), packet: 0, scratch: scratch, into: receiver)
            watch.took(rest, held: framers[direction].heldBytes, from: direction)
            if watch.fault != nil { return parts + [.injected] }
            parts.append(.plaintext(count))
            start += count
        }
        return parts
    }

    private final class Receiver: FrameReceiver {
        private let watch: TLSUpgradeWatch
        private let format: Format

        init(_ watch: TLSUpgradeWatch, _ format: Format) { (self.watch, self.format) = (watch, format) }

        func framed(_ frame: FrameInfo, bytes: RawSpan, from direction: Direction) {
            let side = format.directions[direction]
            side.withContent(of: bytes, frame.partsAtHand) { content, shape in
                watch.take(frame, content: content, shape: shape, from: direction, side)
            }
        }

        func unframed(_ run: UnframedRun, from direction: Direction) {}
        func missing(offset: Int, byteCount: Int, from direction: Direction, at time: Timestamp) {}
    }
}
