import Streams

/// A stream compressed with `zstd` (RFC 8878), flushed after each frame of the application. After a zstd frame the state says what
/// follows: in the same state, another zstd frame.
struct ZstdStream: StreamEncoding {
    static let name = "zstd"
    static let keys = KeySection(
        "through.zstd", "compressed with zstd (RFC 8878) and flushed after each message", [])

    init(_ options: YAMLMap?) {}

    func layer() throws(StreamLayerFault) -> any StreamLayer {
        guard let zstd = Zstd() else { throw StreamLayerFault("zstd: out of memory") }
        return Layer(zstd)
    }

    private final class Layer: StreamLayer {
        private static let piece = 256 << 10
        private let zstd: Zstd
        private(set) var isOver = false
        private var taken = 0
        var memory: Int { zstd.memory }

        init(_ zstd: Zstd) { self.zstd = zstd }

        func take(_ bytes: RawSpan, _ emit: (RawSpan) -> Void) throws(StreamLayerFault) -> Int {
            var at = 0
            var output: [UInt8] = []
            while true {
                let count = output.count
                let room = min(max(4_096, count), Self.piece - count)
                output.append(contentsOf: repeatElement(0, count: room))
                let before = at
                let fault = zstd.step(bytes, &at, &output, from: count)
                let isFull = output.count == count + room
                if output.count == Self.piece || !isFull || fault != nil || zstd.isAtFrameEnd {
                    if !output.isEmpty { emit(output.span.bytes) }
                    output.removeAll(keepingCapacity: true)
                }
                if let fault { throw StreamLayerFault("zstd: \(fault) near byte \(taken + at)", used: at) }
                if zstd.isAtFrameEnd, at > before {
                    // The state then says what follows.
                    isOver = true
                    taken += at
                    return at
                }
                if at == bytes.byteCount, !isFull {
                    taken += at
                    return at
                }
            }
        }

        func skip(_ byteCount: Int) -> Int? { nil }
    }
}
