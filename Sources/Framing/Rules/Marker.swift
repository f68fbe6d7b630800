import Streams

/// The rule `marker`: a frame runs from its marker to the next one, to the stream's end, or until its sender pauses.
package struct Marker: FramingRule {
    package static let name = "marker"

    let start: [UInt8]
    let limit: Int
    package let idle: Interval?

    /// - Parameters:
    ///   - start: the marker, not empty.
    ///   - idle: how long a pause must be to end a frame; nil: pauses are ignored.
    package init(start: [UInt8], idle: Interval?, limit: Int) {
        self.start = start
        self.idle = idle
        self.limit = limit
    }

    package func scan(
        _ bytes: RawSpan, from begin: Int, origin: Int, ended: Bool, memory: inout ScanMemory
    ) -> FrameScan {
        for (index, byte) in start.enumerated() {
            guard begin + index < bytes.byteCount else {
                return ended ? .bad(lost(at: origin + begin)) : .incomplete(atLeast: start.count)
            }
            guard bytes[byte: begin + index] == byte else { return .bad(lost(at: origin + begin)) }
        }
        let body = begin + start.count
        let from = max(body, memory.searchedTo - origin)
        if let next = bytes.firstRange(of: start, from: from) {
            guard next - begin <= limit else { return .bad(tooLong(at: origin + begin)) }
            return .shape(FrameShape(head: start.count, body: next - body))
        }
        // A marker may have begun in the last bytes.
        let unmarked = ended ? bytes.byteCount - begin : bytes.byteCount - begin - (start.count - 1)
        if unmarked > limit { return .bad(tooLong(at: origin + begin)) }
        if ended { return .shape(FrameShape(head: start.count, body: bytes.byteCount - body)) }
        memory.searchedTo = max(memory.searchedTo, origin + max(body, bytes.byteCount - (start.count - 1)))
        return .incomplete(atLeast: 0)
    }

    private func lost(at offset: Int) -> BadBytes { BadBytes(.noSync, "no marker at offset \(offset)") }

    private func tooLong(at offset: Int) -> BadBytes {
        BadBytes(.tooLong, "no second marker within \(limit) bytes of offset \(offset)", byteCount: start.count)
    }

    package var landmark: Landmark { .at(start, how: "the next marker") }

    package var hasProof: Bool { true }

    package func proof(_ bytes: RawSpan) -> Int? {
        guard bytes.byteCount >= start.count else { return nil }
        return start.indices.allSatisfy { bytes[byte: $0] == start[$0] } ? start.count : nil
    }

    package func progress(_ bytes: RawSpan, shape: FrameShape?) -> String { "\(bytes.byteCount) bytes of a frame" }

    package func encode(_ parts: FrameParts) throws(EncodingError) -> [UInt8] {
        if parts.body.span.bytes.firstRange(of: start, from: 0) != nil {
            throw EncodingError("the body contains the marker, which would cut the frame in two")
        }
        return start + parts.body
    }
}

extension Marker: LoadableRule {
    static let keys = KeySection.rule(
        name, "a frame extends from its marker to the next one",
        [
            FormatKey("start", .bytes, "the marker", required: true),
            FormatKey(
                "idle", .any([.interval, .words(["none"])]),
                "how long a pause of the sender ends a frame; `none`: no pause does",
                default: "200 ms"),
            .limit,
        ])

    static func build(_ section: YAMLMap, _ head: BinaryHead?, _ trailer: BinaryHead?) -> FramingRules.Built? {
        let start = section.bytes("start")
        let idle = section.text("idle") == "none" ? nil : section.interval("idle") ?? .milliseconds(200)
        let limit = section.limit
        if section.refuseHeader(head, trailer, name) { return nil }
        return start.map { (Marker(start: $0, idle: idle, limit: limit), nil) }
    }
}
