import Streams
import YAML

/// The rule `cobs`: frames whose bytes are encoded so that none of them is zero, and that a zero ends.
///
/// Consistent Overhead Byte Stuffing (Cheshire and Baker, IEEE/ACM Transactions on Networking 7(2), 1999): each code says where the
/// next one is. The bytes in between are data; a code below 255 stands for a zero after them, except at the frame's end.
package struct COBS: FramingRule {
    package static let name = "cobs"

    let parts: EncodedParts
    let limit: Int

    private static let end: UInt8 = 0
    /// How many bytes one code is for, itself included.
    private static let longest = 255

    package func scan(
        _ bytes: RawSpan, from begin: Int, origin: Int, ended: Bool, memory: inout ScanMemory
    ) -> FrameScan {
        // Some senders begin with a zero, too.
        if bytes[byte: begin] == Self.end { return .padding(1) }
        guard let close = bytes.firstIndex(of: Self.end, from: max(begin, memory.searchedTo - origin)) else {
            memory.searchedTo = max(memory.searchedTo, origin + bytes.byteCount)
            return bytes.byteCount - begin > limit ? .bad(tooLong(at: origin + begin)) : .incomplete(atLeast: 0)
        }
        guard close + 1 - begin <= limit else { return .bad(tooLong(at: origin + begin)) }
        let shape = FrameShape(head: 0, body: close - begin, tail: 1)
        let encoded = bytes.extracting(begin..<close)
        func bad(_ fault: @autoclosure () -> String) -> FrameScan {
            .bad(
                BadBytes(
                    .badHead, fault(), explains: memory.explains, byteCount: shape.total, areDelimited: true))
        }
        guard Self.isWhole(encoded) else {
            return bad("a code of the frame at offset \(origin + begin) reaches beyond the zero that ends it")
        }
        if parts.areAny, let mismatch = parts.mismatch(Self.decoded(encoded).span.bytes) {
            return bad("\(mismatch) (frame at offset \(origin + begin))")
        }
        return .shape(shape)
    }

    private func tooLong(at offset: Int) -> BadBytes {
        BadBytes(.tooLong, "no zero ends the frame at offset \(offset) within \(limit) bytes", byteCount: 1)
    }

    /// Whether the last code of bytes without zeros says that they end where they do.
    private static func isWhole(_ bytes: RawSpan) -> Bool {
        var at = 0
        while at < bytes.byteCount { at += max(1, Int(bytes[byte: at])) }
        return at == bytes.byteCount
    }

    /// What the whole bytes of a frame stand for.
    private static func decoded(_ bytes: RawSpan) -> [UInt8] {
        var content: [UInt8] = []
        content.reserveCapacity(bytes.byteCount)
        var at = 0
        while at < bytes.byteCount {
            let next = min(at + max(1, Int(bytes[byte: at])), bytes.byteCount)
            content.append(contentsOf: bytes.extracting(at + 1..<next))
            if next - at < longest, next < bytes.byteCount { content.append(end) }
            at = next
        }
        return content
    }

    package var landmark: Landmark { .after([[Self.end]], isCertain: true) }

    /// True: header, body and trailer are encoded.
    package var transforms: Bool { true }

    package func content(of frame: RawSpan, _ shape: FrameShape) -> (bytes: [UInt8], shape: FrameShape)? {
        let content = Self.decoded(frame.extracting(shape.head..<shape.head + shape.body))
        return (content, parts.shape(of: content.span.bytes, shape.layout))
    }

    package func progress(_ bytes: RawSpan, shape: FrameShape?) -> String {
        "\(bytes.byteCount) bytes without the zero that ends a frame"
    }

    package func encode(_ parts: FrameParts) throws(EncodingError) -> [UInt8] {
        let content = parts.head + parts.body + parts.trailer
        var frame: [UInt8] = []
        frame.reserveCapacity(content.count + content.count / (Self.longest - 1) + 2)
        var code = 0
        frame.append(0)
        for (index, byte) in content.enumerated() {
            if byte != Self.end { frame.append(byte) }
            let isFull = frame.count - code == Self.longest
            // A full code stands for no zero: another one follows only if there is more.
            guard byte == Self.end || isFull && index + 1 < content.count else { continue }
            frame[code] = UInt8(frame.count - code)
            code = frame.count
            frame.append(0)
        }
        frame[code] = UInt8(frame.count - code)
        return frame + [Self.end]
    }
}

extension COBS: LoadableRule {
    static let keys = KeySection.rule(
        name, "a zero ends a frame, whose bytes are encoded so that they have none (Consistent Overhead Byte Stuffing)",
        [.limit])

    static func build(_ section: YAMLMap, _ head: BinaryHead?, _ trailer: BinaryHead?) -> FramingRules.Built? {
        (COBS(parts: EncodedParts(head: head, trailer: trailer), limit: section.limit), nil)
    }
}
