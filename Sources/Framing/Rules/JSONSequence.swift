import Streams

/// The rule `json-sequence`: JSON objects (or arrays) one after the other, without delimiters.
///
/// A frame ends where its brackets balance outside strings. White space between frames is padding.
package struct JSONSequence: FramingRule {
    package static let name = "json-sequence"

    let limit: Int

    package init(limit: Int) {
        self.limit = limit
    }

    private enum State: UInt8 {
        case plain, string, escape
    }

    package func scan(
        _ bytes: RawSpan, from start: Int, origin: Int, ended: Bool, memory: inout ScanMemory
    ) -> FrameScan {
        let space = Self.space(bytes, from: start)
        if space > 0 { return .padding(space) }
        let first = bytes[byte: start]
        guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else {
            return .bad(
                BadBytes(
                    .badHead, "expected { or [ at offset \(origin + start), found \(Self.shown(first))",
                    explains: memory.explains))
        }
        // Where the last scan of this frame ended; a new frame starts over.
        if memory.searchedTo <= origin + start || memory.depth == 0 {
            (memory.searchedTo, memory.depth, memory.state) = (origin + start, 0, State.plain.rawValue)
        }
        var state = State(rawValue: memory.state) ?? .plain
        var at = memory.searchedTo - origin
        while at < bytes.byteCount {
            let byte = bytes[byte: at]
            at += 1
            switch state {
            case .escape: state = .string
            case .string:
                if byte == UInt8(ascii: "\"") { state = .plain } else if byte == UInt8(ascii: "\\") { state = .escape }
            case .plain:
                switch byte {
                case UInt8(ascii: "\""): state = .string
                case UInt8(ascii: "{"), UInt8(ascii: "["): memory.depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    memory.depth -= 1
                    guard memory.depth == 0 else { continue }
                    memory.searchedTo = origin + at
                    guard at - start <= limit else { return .bad(tooLong(at: origin + start)) }
                    return .shape(FrameShape(head: 0, body: at - start))
                default: continue
                }
            }
        }
        (memory.searchedTo, memory.state) = (origin + at, state.rawValue)
        if at - start > limit {
            memory.depth = 0
            return .bad(tooLong(at: origin + start))
        }
        return .incomplete(atLeast: 0)
    }

    /// Only a closing bracket ends a frame.
    package func inert(_ next: RawSpan, after count: Int) -> Int {
        let most = max(0, min(next.byteCount, limit - count))
        var at = 0
        while at < most, next[byte: at] != UInt8(ascii: "}"), next[byte: at] != UInt8(ascii: "]") { at += 1 }
        return at
    }

    private func tooLong(at offset: Int) -> BadBytes {
        BadBytes(.tooLong, "no end of the object at offset \(offset) within \(limit) bytes")
    }

    package var firstBytes: ByteSet { ByteSet { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "[") } }

    /// How deeply a frame may nest for framing to resume there. The brackets of one frame are tried one after the other, each looks as
    /// far ahead as this, and an object that is too long may consist of nothing else.
    private static let mostLevels = 64

    package func mayStart(_ bytes: RawSpan, at start: Int) -> Bool {
        var tokens = JSONTokens(depthLimit: Self.mostLevels)
        let text = bytes.extracting(start..<min(bytes.byteCount, start + 4_096))
        return tokens.mayBegin(text)
    }

    /// The evidence that the text between balanced brackets is JSON. Text inside another object is JSON, too: no bracket follows
    /// there, and the chain breaks.
    package func evidence(
        of shape: FrameShape, in bytes: RawSpan, at start: Int, previous: (start: Int, shape: FrameShape)?,
        _ background: ByteBackground
    ) -> Evidence? {
        var tokens = JSONTokens()
        let text = bytes.extracting(start..<start + shape.total)
        do throws(JSONSyntaxError) {
            while try tokens.next(text) != nil {}
        } catch {
            return nil
        }
        var evidence = Evidence()
        evidence.constants = min(12, 5 + Double(shape.total) / 4)
        return evidence
    }

    private static func space(_ bytes: RawSpan, from start: Int) -> Int {
        var at = start
        while at < bytes.byteCount, [0x20, 0x09, 0x0a, 0x0d].contains(bytes[byte: at]) { at += 1 }
        return at - start
    }

    private static func shown(_ byte: UInt8) -> String {
        (0x21..<0x7f).contains(byte)
            ? String(UnicodeScalar(byte)) : "0x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }

    package func progress(_ bytes: RawSpan, shape: FrameShape?) -> String {
        "\(bytes.byteCount) bytes of an object that is not closed"
    }
}

extension JSONSequence: LoadableRule {
    static let keys = KeySection.rule(
        name, "JSON objects or arrays, one after the other",
        [
            .limit
        ])

    static func build(_ section: YAMLMap, _ head: BinaryHead?, _ trailer: BinaryHead?) -> FramingRules.Built? {
        if section.refuseHeader(head, trailer, name) { return nil }
        return (JSONSequence(limit: section.limit), nil)
    }
}
