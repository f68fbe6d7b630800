import Streams

/// The rule `fixed`: every frame has the same size.
package struct FixedSize: FramingRule {
    package static let name = "fixed"

    let size: Int
    let head: BinaryHead?
    let trailer: Int

    /// - Parameter size: of the whole frame, at least 1 and no less than head and trailer.
    package init(size: Int, head: BinaryHead?, trailer: Int) {
        self.size = size
        self.head = head
        self.trailer = trailer
    }

    package func scan(
        _ bytes: RawSpan, from start: Int, origin: Int, ended: Bool, memory: inout ScanMemory
    ) -> FrameScan {
        var headLength = 0
        if let head {
            switch head.scan(bytes, at: start) {
            case .complete(let length): headLength = length
            case .incomplete(let atLeast): return .incomplete(atLeast: atLeast)
            case .bad(let message): return .bad(BadBytes(.badHead, "\(message) (frame at offset \(origin + start))"))
            }
        }
        return .shape(FrameShape(head: headLength, body: size - headLength - trailer, tail: trailer))
    }

    package func resume(
        _ bytes: RawSpan, from start: Int, origin: Int, ended: Bool, memory: inout ScanMemory
    ) -> Resumption {
        guard head != nil else {
            return .found(at: start, how: "nothing but the first byte at hand: frames of a fixed size have no mark")
        }
        for at in start..<bytes.byteCount {
            switch scan(bytes, from: at, origin: origin, ended: ended, memory: &memory) {
            case .shape: return .found(at: at, how: "the header's constants")
            case .incomplete: return .undecided(from: at)
            case .bad, .padding: continue
            }
        }
        return .undecided(from: bytes.byteCount)
    }

    package func progress(_ bytes: RawSpan, shape: FrameShape?) -> String { "\(bytes.byteCount) of \(size) bytes" }

    package func encode(_ parts: FrameParts) throws(EncodingError) -> [UInt8] {
        let frame = parts.head + parts.body + parts.trailer
        guard frame.count == size else { throw EncodingError("the frame has \(frame.count) bytes, expected \(size)") }
        return frame
    }
}
