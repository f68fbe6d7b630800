import Streams
import YAML

/// The rule `delimiter`: a frame runs up to a delimiter that belongs to it.
///
/// Of several delimiters the first to end wins, and of those that end there the longest: with `\r\n` and `\n` a line ends at its
/// LF, and a CR before that belongs to the delimiter.
package struct Delimiter: FramingRule {
    package static let name = "delimiter"

    let head: BinaryHead?
    /// Longest first.
    let ends: [[UInt8]]
    let trailer: Int
    /// The constants of the trailer.
    private let requiredTrailer: FrameEnd?
    let limit: Int
    /// The last bytes of the delimiters.
    let lastBytes: ByteSet

    /// - Parameter ends: at least one delimiter, none of them empty.
    package init(head: BinaryHead?, ends: [[UInt8]], trailer: BinaryHead?, limit: Int) {
        self.head = head
        self.ends = ends.sorted { $0.count > $1.count }
        self.trailer = trailer?.fixedLength ?? 0
        requiredTrailer = FrameEnd(trailer: trailer)
        self.limit = limit
        lastBytes = ByteSet { byte in ends.contains { $0.last == byte } }
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
                        .badHead, "\(message) (head at offset \(origin + start))", explains: memory.explains))
            }
        }
        let body = start + headLength
        let from = max(body, memory.searchedTo - origin)
        guard let end = firstEnd(bytes, from: from, notBefore: body) else {
            // A delimiter may have begun in the last bytes.
            memory.searchedTo = max(memory.searchedTo, origin + max(body, bytes.byteCount - (ends[0].count - 1)))
            if bytes.byteCount - start > limit { return .bad(tooLong(at: origin + start)) }
            return .incomplete(atLeast: 0)
        }
        guard end.upperBound - start <= limit else { return .bad(tooLong(at: origin + start)) }
        let tail = end.count + trailer
        guard end.upperBound - body >= tail else {
            return .bad(BadBytes(.badHead, "the frame at offset \(origin + start) ends before its trailer"))
        }
        if let requiredTrailer {
            let found = bytes.extracting(end.lowerBound - trailer..<end.lowerBound)
            if !requiredTrailer.isMet(by: found) {
                let detail = "\(requiredTrailer.fault(of: found)) (frame at offset \(origin + start))"
                return .bad(BadBytes(.badHead, detail, byteCount: end.upperBound - start))
            }
        }
        return .shape(FrameShape(head: headLength, body: end.upperBound - body - tail, tail: tail))
    }

    /// Without a header, only the last byte of a delimiter ends a frame.
    package func inert(_ next: RawSpan, after count: Int) -> Int {
        guard head == nil else { return 0 }
        let most = max(0, min(next.byteCount, limit - count))
        var at = 0
        while at < most, !lastBytes.contains(next[byte: at]) { at += 1 }
        return at
    }

    private func tooLong(at offset: Int) -> BadBytes {
        BadBytes(.tooLong, "no delimiter within \(limit) bytes of offset \(offset)")
    }

    /// The delimiter that ends first; the longest if there are several.
    private func firstEnd(_ bytes: RawSpan, from start: Int, notBefore least: Int) -> Range<Int>? {
        var best: Range<Int>?
        for end in ends {
            let known = bytes.extracting(0..<(best?.upperBound ?? bytes.byteCount))
            // An end that overlaps the searched bytes may begin before them.
            guard let at = known.firstRange(of: end, from: max(least, start - ends[0].count + 1)) else { continue }
            if at + end.count < (best?.upperBound ?? .max) { best = at..<at + end.count }
        }
        return best
    }

    /// Without constants in its header a frame ends wherever a delimiter is.
    package var landmark: Landmark { .after(ends, isCertain: head?.hasConstants != true && trailer == 0) }

    package var firstBytes: ByteSet { head?.firstBytes ?? .all }

    /// The evidence of constants, and of a text body, as in most delimited frames.
    package func evidence(
        of shape: FrameShape, in bytes: RawSpan, at start: Int, previous: (start: Int, shape: FrameShape)?,
        _ background: ByteBackground
    ) -> Evidence? {
        var evidence =
            head?.evidence(in: bytes, at: start, lengthField: nil, previous: previous?.start, background) ?? Evidence()
        let body = bytes.extracting(start + shape.head..<start + shape.head + shape.body)
        evidence.values += Self.textEvidence(body)
        return evidence
    }

    private static func textEvidence(_ body: RawSpan) -> Double {
        let shown = body.extracting(0..<min(body.byteCount, 64))
        for at in 0..<shown.byteCount {
            let byte = shown[byte: at]
            if (byte < 0x20 && byte != 0x09) || byte == 0x7f { return -4 }
        }
        return min(4, Double(shown.byteCount) / 2)
    }

    package func progress(_ bytes: RawSpan, shape: FrameShape?) -> String {
        "\(bytes.byteCount) bytes without delimiter"
    }

    /// If there are several delimiters: which one it was.
    package func notes(of frame: RawSpan, _ shape: FrameShape) -> [Field] {
        guard ends.count > 1 else { return [] }
        let length = shape.tail - trailer
        let end = frame.extracting(shape.total - length..<shape.total)
        guard end.firstInvalidUTF8() == nil else { return [Field("end", .bytes(end.copied()))] }
        return [Field("end", .text(end.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }))]
    }

    package func encode(_ parts: FrameParts) throws(EncodingError) -> [UInt8] {
        let body = parts.body + parts.trailer
        if ends.contains(where: { body.span.bytes.firstRange(of: $0, from: 0) != nil }) {
            throw EncodingError("the body contains the delimiter")
        }
        return parts.head + body + (try end(parts.given))
    }

    package var noted: [String] { ends.count > 1 ? ["end"] : [] }

    /// The requested one, otherwise the shortest: with CR LF and LF allowed, a line ends in LF.
    private func end(_ given: [Field]) throws(EncodingError) -> [UInt8] {
        guard ends.count > 1, let value = given.last(where: { $0.name == "end" })?.value else { return ends.last ?? [] }
        if case .text(let text) = value, let end = ends.first(where: { $0 == Array(text.utf8) }) { return end }
        if let bytes = value.rawBytes, let end = ends.first(where: { $0 == bytes }) { return end }
        throw EncodingError(
            "end is \(value.shortDescription), which is none of the delimiters",
            withoutValues: "end is none of the delimiters")
    }
}

extension Delimiter: LoadableRule {
    static let keys = KeySection.rule(
        name, "a frame extends up to and including a delimiter",
        [
            FormatKey(
                "end", .oneOrMore(.bytes), "the delimiter, or several; the field `end` says which one it was",
                required: true),
            .limit,
        ])

    static func build(_ section: YAMLMap, _ head: BinaryHead?, _ trailer: BinaryHead?) -> FramingRules.Built? {
        if section["end"] == nil { section.fault("the rule delimiter needs end, such as \"\\n\"") }
        let ends = section.texts("end").map { [UInt8](written: $0.text) }
        let limit = section.limit
        if section["end"]?.sequence?.isEmpty == true {
            section.fault("end is an empty list; expected the bytes that end a frame", at: "end")
        }
        guard !ends.isEmpty else { return nil }
        guard !ends.contains([]) else {
            section.fault("end is empty; expected the bytes that end a frame", at: "end")
            return nil
        }
        return (Delimiter(head: head, ends: ends, trailer: trailer, limit: limit), nil)
    }
}
