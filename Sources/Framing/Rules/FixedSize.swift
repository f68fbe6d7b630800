import Streams

/// The rule `fixed`: every frame has the same size.
package struct FixedSize: EndedRule {
    package static let name = "fixed"

    let size: Int
    let head: BinaryHead?
    let trailer: Int
    package let requiredEnd: FrameEnd?
    package let checksums: SearchedChecksums?

    /// - Parameter size: of the whole frame, at least 1 and no less than head and trailer.
    package init(size: Int, head: BinaryHead?, trailer: BinaryHead?) {
        self.size = size
        self.head = head
        self.trailer = trailer?.fixedLength ?? 0
        requiredEnd = FrameEnd(trailer: trailer)
        checksums = SearchedChecksums(head: head, trailer: trailer)
    }

    package func scan(
        _ bytes: RawSpan, from start: Int, origin: Int, ended: Bool, memory: inout ScanMemory
    ) -> FrameScan {
        var headLength = 0
        if let head {
            switch head.scan(bytes, at: start) {
            case .complete(let length): headLength = length
            case .incomplete(let atLeast): return .incomplete(atLeast: atLeast)
            case .bad(let message):
                return .bad(
                    BadBytes(
                        .badHead, "\(message) (frame at offset \(origin + start))", explains: memory.explains))
            }
        }
        return .shape(FrameShape(head: headLength, body: size - headLength - trailer, tail: trailer))
    }

    package var landmark: Landmark {
        guard head?.hasConstants == true else {
            // A body may have the same bytes as the end of a frame: only a chain of frames is evidence.
            if requiredEnd != nil, size <= FrameChain.window { return .none }
            if let last = requiredEnd?.lastBytes { return .after([last], isCertain: true) }
            return .anywhere(how: "nothing but the first byte at hand: frames of a fixed size have no mark")
        }
        guard let end = head?.constantEnd, head?.fixedLength == size else { return .none }
        return .after([end], isCertain: false)
    }

    package var firstBytes: ByteSet { head?.firstBytes ?? .all }

    package func mayStart(_ bytes: RawSpan, at start: Int) -> Bool {
        guard let head, head.fixedLength != nil else { return true }
        return head.mayHaveItsConstants(bytes, at: start)
    }

    package func evidence(
        of shape: FrameShape, in bytes: RawSpan, at start: Int, previous: (start: Int, shape: FrameShape)?,
        _ background: ByteBackground
    ) -> Evidence? {
        head?.evidence(in: bytes, at: start, lengthField: nil, previous: previous?.start, background) ?? Evidence()
    }

    package func progress(_ bytes: RawSpan, shape: FrameShape?) -> String { "\(bytes.byteCount) of \(size) bytes" }

    package func encode(_ parts: FrameParts) throws(EncodingError) -> [UInt8] {
        let frame = parts.head + parts.body + parts.trailer
        guard frame.count == size else { throw EncodingError("the frame has \(frame.count) bytes, expected \(size)") }
        return frame
    }
}

extension FixedSize: LoadableRule {
    static let keys = KeySection.rule(
        name, "every frame has the same size",
        [
            FormatKey(
                "size", .integer(1...FramingRules.standardLimit), "the bytes of a frame, header and trailer included",
                required: true)
        ])

    static func build(_ section: YAMLMap, _ head: BinaryHead?, _ trailer: BinaryHead?) -> FramingRules.Built? {
        if section["size"] == nil { section.fault("the rule fixed needs a size in bytes") }
        guard let size = section.integer("size") else { return nil }
        let least = (head?.fixedLength ?? 0) + (trailer?.fixedLength ?? 0)
        guard size >= least, head == nil || head?.fixedLength != nil else {
            section.fault("size is \(size); header and trailer alone have \(least) bytes", at: "size")
            return nil
        }
        return (FixedSize(size: size, head: head, trailer: trailer), nil)
    }
}
