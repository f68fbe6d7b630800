import Streams
import YAML

/// The rule `escaped`: frames between flags; flag bytes inside them are escaped.
///
///     SLIP      RFC 1055: end c0; db dc represents c0, db dd represents db
///     HDLC      RFC 1662 section 4.2: 7e … 7e; 7d before a byte that is XORed with 20
///     JT/T 808  7e … 7e; 7d 02 represents 7e, 7d 01 represents 7d
package struct Escaped: FramingRule {
    package static let name = "escaped"

    let start: UInt8?
    let end: UInt8
    let escape: UInt8
    /// The meaning of the byte after an escape.
    let meanings: [UInt8: UInt8]
    /// If there are no meanings: what the byte after an escape is XORed with.
    let mask: UInt8
    /// Whether one flag may both end a frame and start the next.
    let isShared: Bool
    let parts: EncodedParts
    let limit: Int

    package func scan(
        _ bytes: RawSpan, from begin: Int, origin: Int, ended: Bool, memory: inout ScanMemory
    ) -> FrameScan {
        let first = bytes[byte: begin]
        var headLength = 0
        if let start, first == start {
            headLength = 1
            if start == end {
                // Two flags in a row fill the time between frames: the first one is padding.
                guard begin + 1 < bytes.byteCount else { return ended ? .padding(1) : .incomplete(atLeast: 2) }
                if bytes[byte: begin + 1] == end { return .padding(1) }
            }
        } else if first == end {
            return .padding(1)
        } else if start != nil, !isShared {
            return .bad(BadBytes(.noSync, "no flag at offset \(origin + begin)"))
        }
        let body = begin + headLength
        let from = max(body, memory.searchedTo - origin)
        guard let close = bytes.firstIndex(of: end, from: from) else {
            memory.searchedTo = max(memory.searchedTo, origin + bytes.byteCount)
            return bytes.byteCount - begin > limit ? .bad(tooLong(at: origin + begin)) : .incomplete(atLeast: 0)
        }
        guard close + 1 - begin <= limit else { return .bad(tooLong(at: origin + begin)) }
        let shape = FrameShape(head: headLength, body: close - body, tail: 1)
        if parts.areAny,
            let mismatch = parts.mismatch(unescaped(bytes.extracting(begin..<close + 1), shape).span.bytes)
        {
            let count = close - begin + (isShared && start != nil ? 0 : 1)
            return .bad(
                BadBytes(
                    .badHead, "\(mismatch) (frame at offset \(origin + begin))", explains: memory.explains,
                    byteCount: count, areDelimited: start == nil))
        }
        return .shape(shape)
    }

    private func tooLong(at offset: Int) -> BadBytes {
        BadBytes(.tooLong, "no flag ends the frame at offset \(offset) within \(limit) bytes", byteCount: 1)
    }

    /// They are: flags that start frames may follow one another, and none of them has an end before.
    package var searchesAnywhere: Bool { true }

    package var landmark: Landmark {
        if let start { return .at([start], how: "the next flag, which may be the end of a frame") }
        return .after([[end]], isCertain: true)
    }

    /// True: content has no flags and escapes, in header, body and trailer.
    package var transforms: Bool { true }

    package func content(of frame: RawSpan, _ shape: FrameShape) -> (bytes: [UInt8], shape: FrameShape)? {
        let content = unescaped(frame, shape)
        return (content, parts.shape(of: content.span.bytes, shape.layout))
    }

    private func unescaped(_ frame: RawSpan, _ shape: FrameShape) -> [UInt8] {
        var content: [UInt8] = []
        content.reserveCapacity(shape.body)
        var isEscaped = false
        for at in shape.head..<shape.head + shape.body {
            let byte = frame[byte: at]
            if isEscaped {
                content.append(meanings.isEmpty ? byte ^ mask : meanings[byte] ?? byte)
                isEscaped = false
            } else if byte == escape {
                isEscaped = true
            } else {
                content.append(byte)
            }
        }
        return content
    }

    package func progress(_ bytes: RawSpan, shape: FrameShape?) -> String {
        "\(bytes.byteCount) bytes without the flag that ends a frame"
    }

    package func encode(_ parts: FrameParts) throws(EncodingError) -> [UInt8] {
        var frame: [UInt8] = start.map { [$0] } ?? []
        for byte in parts.head + parts.body + parts.trailer {
            if let code = meanings.first(where: { $0.value == byte })?.key {
                frame += [escape, code]
            } else if meanings.isEmpty, byte == escape || byte == end || byte == start {
                frame += [escape, byte ^ mask]
            } else {
                frame.append(byte)
            }
        }
        return frame + [end]
    }
}

extension Escaped: LoadableRule {
    static let keys = KeySection.rule(
        name, "flags surround a frame, and bytes inside it that look like flags are escaped: SLIP, HDLC, JT/T 808",
        [
            FormatKey("end", .byte, "the byte that ends a frame", required: true),
            FormatKey("start", .byte, "the byte that starts a frame, if there is one"),
            FormatKey("escape", .byte, "the byte before an escaped byte", required: true),
            FormatKey(
                "map", .mapping(.byte, names: KeyValue.numberPattern),
                "what the byte after an escape stands for: `{ 0x02: 0x7e, 0x01: 0x7d }`"),
            FormatKey(
                "xor", .byte, "if there is no `map`: the value with which the byte after an escape is XORed",
                default: "0x20"),
            FormatKey(
                "shared", .boolean, "`true`: one flag may both end a frame and start the next", default: "false"),
            .limit,
        ])

    static func build(_ section: YAMLMap, _ head: BinaryHead?, _ trailer: BinaryHead?) -> FramingRules.Built? {
        for key in ["end", "escape"] where section[key] == nil {
            section.fault("the rule escaped needs \(key), a byte such as 0x7e")
        }
        for key in ["end", "start"] where section[key] != nil {
            if let escape = section.byte("escape"), section.byte(key) == escape {
                section.fault("\(key) and escape are the same byte; expected different ones", at: "escape")
            }
        }
        var meanings: [UInt8: UInt8] = [:]
        for (key, value) in section.map("map")?.node.mapping ?? [:] {
            let numbers = [key, value].map { $0.string.flatMap(Int.init(number:)).flatMap { UInt8(exactly: $0) } }
            guard let code = numbers[0], let meaning = numbers[1] else {
                section.context.add("map should be byte: byte, such as 0x02: 0x7e", at: key)
                continue
            }
            meanings[code] = meaning
        }
        let rule = Escaped(
            start: section.byte("start"), end: section.byte("end") ?? 0, escape: section.byte("escape") ?? 0,
            meanings: meanings, mask: section.byte("xor") ?? 0x20, isShared: section.boolean("shared") ?? false,
            parts: EncodedParts(head: head, trailer: trailer), limit: section.limit)
        return section["end"] == nil || section["escape"] == nil ? nil : (rule, nil)
    }
}
