import Streams

/// Writes most Protobuf messages by number straight into a line, in one pass: those whose fields come in the order of their numbers,
/// each once, and without groups. The JSON is that of `ProtobufDecoder`, to the byte.
enum PlainProtobuf {
    private enum Outcome {
        case written
        /// The bytes are not a message.
        case noMessage
        /// They may be one, but not one of these.
        case unknown
    }

    /// No longer messages, and no deeper ones, are tried.
    private static let (longest, deepest) = (8_192, 8)

    /// Writes a message.
    ///
    /// - Returns: whether it was written; if not, `output` is as it was.
    static func write(_ bytes: RawSpan, into output: inout [UInt8]) -> Bool {
        guard bytes.byteCount <= longest else { return false }
        let start = output.count
        if case .written = message(bytes, depth: 0, into: &output) { return true }
        output.removeLast(output.count - start)
        return false
    }

    private static func message(_ bytes: RawSpan, depth: Int, into output: inout [UInt8]) -> Outcome {
        guard depth < deepest else { return .unknown }
        let end = bytes.byteCount
        var at = 0
        var last: UInt64 = 0
        if end == 0 { output.append(UInt8(ascii: "{")) }
        while at < end {
            guard let tag = ProtobufReader.quickVarint(bytes, &at, end), tag >> 3 > 0, tag >> 3 < 1 << 29 else {
                return .noMessage
            }
            let number = tag >> 3
            // What is out of order may still be no message at all.
            guard number > last else { return .unknown }
            key(number, isFirst: last == 0, into: &output)
            last = number
            switch tag & 7 {
            case 0:
                guard let value = ProtobufReader.quickVarint(bytes, &at, end) else { return .noMessage }
                JSONOutput.decimal(value, into: &output)
            case 2:
                guard let length = ProtobufReader.quickVarint(bytes, &at, end), length <= UInt64(end - at) else {
                    return .noMessage
                }
                let value = bytes.extracting(at..<at + Int(length))
                at += Int(length)
                if case .unknown = self.bytes(value, depth: depth, into: &output) { return .unknown }
            case 1, 5:
                let isLong = tag & 7 == 1
                let size = isLong ? 8 : 4
                guard end - at >= size else { return .noMessage }
                put(isLong ? "{\"fixed64\":" : "{\"fixed32\":", into: &output)
                JSONOutput.decimal(bytes.unsigned(at: at, width: size, .little), into: &output)
                output.append(UInt8(ascii: "}"))
                at += size
            default: return .unknown
            }
        }
        output.append(UInt8(ascii: "}"))
        return .written
    }

    /// A field's number as a member's name, behind the brace or comma before it.
    @inline(__always)
    private static func key(_ number: UInt64, isFirst: Bool, into output: inout [UInt8]) {
        let before = UInt64(UInt8(ascii: isFirst ? "{" : ",")) | UInt64(UInt8(ascii: "\"")) << 8
        let after = UInt64(UInt8(ascii: "\"")) | UInt64(UInt8(ascii: ":")) << 8
        if number < 10_000 {
            // All of it fits a word.
            let (count, digits) = JSONOutput.digits(of: UInt32(truncatingIfNeeded: number), least: 1)
            output.append(first: count + 4, of: before | digits << 16 | after << UInt64(16 + 8 * count))
        } else {
            output.append(first: 2, of: before)
            JSONOutput.decimal(number, into: &output)
            output.append(first: 2, of: after)
        }
    }

    /// Text, a message, or hex.
    private static func bytes(_ bytes: RawSpan, depth: Int, into output: inout [UInt8]) -> Outcome {
        switch bytes.plainness {
        case .verbatim:
            JSONOutput.quoted(bytes, into: &output)
            return .written
        case .text:
            string(bytes, into: &output)
            return .written
        case .none: break
        }
        let start = output.count
        switch message(bytes, depth: depth + 1, into: &output) {
        case .written: return .written
        case .unknown: return .unknown
        case .noMessage: output.removeLast(output.count - start)
        }
        if bytes.isPrintable {
            string(bytes, into: &output)
        } else {
            put("{\"hex\":\"", into: &output)
            JSONOutput.hex(bytes, into: &output)
            put("\"}", into: &output)
        }
        return .written
    }

    private static func string(_ text: RawSpan, into output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        text.withUnsafeBytes { JSONOutput.escaped($0.bindMemory(to: UInt8.self), into: &output) }
        output.append(UInt8(ascii: "\""))
    }

    private static func put(_ text: StaticString, into output: inout [UInt8]) {
        text.withUTF8Buffer { output.append(contentsOf: $0) }
    }
}
