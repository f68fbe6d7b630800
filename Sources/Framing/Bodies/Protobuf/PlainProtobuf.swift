import Streams

/// Writes most Protobuf messages by number in one pass, without decoding them first: those whose fields come in the order of their numbers,
/// each once, and without groups. The JSON is that of `ProtobufDecoder`, to the byte.
enum PlainProtobuf {
    private enum Outcome {
        case written
        /// The bytes are not a message.
        case noMessage
        /// They may be one, but not one of these.
        case unknown
    }

    /// No longer messages are tried.
    private static let longest = 8_192
    /// No deeper ones are.
    private static let deepest = 8

    /// How much room a message of `byteCount` bytes needs: its JSON has at most six bytes for each of them, and a text is written only
    /// where there is room for all of it to be escaped.
    ///
    /// - Returns: nil if no message as long as this is written.
    static func room(for byteCount: Int) -> Int? { byteCount <= longest ? 8 * byteCount + 2 * slack : nil }

    /// How much room there has to be for a field in addition to its text, and is left after a message.
    private static let slack = 96

    /// Writes a message.
    ///
    /// - Parameter room: at least that of `room(for:)`.
    /// - Returns: whether it was written; if not, `room` is as it was.
    static func write(_ bytes: RawSpan, into room: inout ByteRoom) -> Bool {
        let start = room.count
        if case .written = message(bytes, depth: 0, into: &room) { return true }
        room.takeBack(to: start)
        return false
    }

    /// A message as JSON; nil if it is none of these.
    static func json(of bytes: RawSpan) -> [UInt8]? {
        guard let most = room(for: bytes.byteCount) else { return nil }
        var json: [UInt8] = []
        json.append(upTo: most) { _ = write(bytes, into: &$0) }
        return json.isEmpty ? nil : json
    }

    private static func message(_ bytes: RawSpan, depth: Int, into room: inout ByteRoom) -> Outcome {
        guard depth < deepest, room.free >= slack else { return .unknown }
        let end = bytes.byteCount
        var at = 0
        var last: UInt64 = 0
        if end == 0 { room.put("{") }
        while at < end {
            guard let tag = ProtobufReader.quickVarint(bytes, &at, end), tag >> 3 > 0, tag >> 3 < 1 << 29 else {
                return .noMessage
            }
            let number = tag >> 3
            // What is out of order may still be no message at all.
            guard number > last, room.free >= slack else { return .unknown }
            key(number, isFirst: last == 0, into: &room)
            last = number
            switch tag & 7 {
            case 0:
                guard let value = ProtobufReader.quickVarint(bytes, &at, end) else { return .noMessage }
                JSONOutput.decimal(value, into: &room)
            case 2:
                guard let length = ProtobufReader.quickVarint(bytes, &at, end), length <= UInt64(end - at) else {
                    return .noMessage
                }
                let value = bytes.extracting(at..<at + Int(length))
                at += Int(length)
                if case .unknown = self.bytes(value, depth: depth, into: &room) { return .unknown }
            case 1, 5:
                let isLong = tag & 7 == 1
                let size = isLong ? 8 : 4
                guard end - at >= size else { return .noMessage }
                room.put(isLong ? "{\"fixed64\":" : "{\"fixed32\":")
                JSONOutput.decimal(bytes.unsigned(at: at, width: size, .little), into: &room)
                room.put("}")
                at += size
            default: return .unknown
            }
        }
        guard room.free >= slack else { return .unknown }
        room.put("}")
        return .written
    }

    /// A field's number as a member's name, after the brace or comma before it.
    @inline(__always)
    private static func key(_ number: UInt64, isFirst: Bool, into room: inout ByteRoom) {
        let before = UInt64(UInt8(ascii: isFirst ? "{" : ",")) | UInt64(UInt8(ascii: "\"")) << 8
        let after = UInt64(UInt8(ascii: "\"")) | UInt64(UInt8(ascii: ":")) << 8
        if number < 10 {
            room.put(first: 5, of: before | (0x30 | number) << 16 | after << 24)
        } else {
            room.put(first: 2, of: before)
            JSONOutput.decimal(number, into: &room)
            room.put(first: 2, of: after)
        }
    }

    /// Text, a message, or hex.
    private static func bytes(_ bytes: RawSpan, depth: Int, into room: inout ByteRoom) -> Outcome {
        guard room.free >= JSONOutput.longestEscape * bytes.byteCount + slack else { return .unknown }
        switch bytes.plainness {
        case .verbatim:
            room.put("\"")
            room.put(bytes)
            room.put("\"")
            return .written
        case .text:
            string(bytes, into: &room)
            return .written
        case .none: break
        }
        let start = room.count
        switch message(bytes, depth: depth + 1, into: &room) {
        case .written: return .written
        case .unknown: return .unknown
        case .noMessage: room.takeBack(to: start)
        }
        if bytes.isPrintable {
            string(bytes, into: &room)
        } else {
            room.put("{\"hex\":\"")
            JSONOutput.hex(bytes, into: &room)
            room.put("\"}")
        }
        return .written
    }

    private static func string(_ text: RawSpan, into room: inout ByteRoom) {
        room.put("\"")
        JSONOutput.escaped(text, into: &room)
        room.put("\"")
    }
}
