import Framing
import Streams

/// A frame as peers handle it: its head's fields and its body.
package struct PeerMessage: Hashable, Sendable {
    /// The head's fields.
    package var fields: [Field]
    /// The body, in its wire form.
    package var body: [UInt8]

    /// A frame.
    package init(fields: [Field] = [], body: [UInt8]) { (self.fields, self.body) = (fields, body) }

    /// A field as text; nil if there is none of that name, or it is neither text nor an integer.
    package subscript(name: String) -> String? {
        switch fields.first(where: { $0.name == name })?.value {
        case .text(let text): text
        case .integer(let number): String(number)
        case .unsigned(let number): String(number)
        default: nil
        }
    }
}

/// What a read of a connection amounts to.
package enum PeerInput: Hashable, Sendable {
    /// A frame.
    case message(PeerMessage)
    /// Bytes that are not a frame, in pieces; `detail` is the reason in words.
    case unframed(byteCount: Int, detail: String)
    /// Something to report to the user.
    case note(String)
    /// A published program would crash here: instead, the connection is closed.
    case crash(String)
}

/// A peer's output. Each is one write.
package enum PeerOutput: Hashable, Sendable {
    /// Frames, joined.
    case messages([PeerMessage])
    /// Bytes as they are.
    case bytes([UInt8])
    /// A part of a frame: until the last one is sent, everything else waits.
    case part([UInt8], isLast: Bool)
}

/// Converts bytes to messages and back, according to a format. Holds a partial frame.
package struct FrameCodec {
    /// What reads the other side's frames.
    package var reader: any MessageReader
    private let outgoing: DirectionFormat

    /// A codec at the start of a connection, for the side that sends `direction`'s frames.
    ///
    /// - Parameter reader: replaces `FrameReader`, such as with a published receiver and its faults.
    package init(_ format: Format, sending direction: Direction, reader: (any MessageReader)? = nil) {
        outgoing = format.directions[direction]
        self.reader = reader ?? FrameReader(format, from: direction.opposite)
    }

    /// The bytes of one write.
    package func encode(_ output: PeerOutput) throws(EncodingError) -> [UInt8] {
        switch output {
        case .bytes(let bytes), .part(let bytes, _): return bytes
        case .messages(let messages):
            var bytes: [UInt8] = []
            for message in messages { bytes += try outgoing.encode(message.fields, body: message.body) }
            return bytes
        }
    }
}

extension JSONValue {
    /// A body as JSON; nil if it is none.
    init?(body: [UInt8]) {
        do throws(JSONSyntaxError) {
            try self.init(parsing: body.span.bytes)
        } catch {
            return nil
        }
    }

    /// The bytes of an object with these members, in this order, without spaces.
    static func body(_ members: [(String, JSONValue)]) -> [UInt8] {
        var bytes: [UInt8] = []
        JSONValue.members(members).write(into: &bytes)
        return bytes
    }
}

/// Text from the network, made safe to show: escaped and truncated; `""` if it is empty.
func printable(_ text: String) -> String {
    text.isEmpty ? "\"\"" : String(FieldValue.text(text).shortDescription.dropFirst().dropLast())
}

/// Bytes from the network as text in quotes, escaped and truncated.
func quoted(_ bytes: [UInt8]) -> String { FieldValue.text(String(decoding: bytes, as: UTF8.self)).shortDescription }

/// Bytes from the network, made safe to show: as text, escaped and truncated, or their count.
func shown(_ bytes: [UInt8]) -> String {
    String(validating: bytes, as: UTF8.self).map { FieldValue.text($0).shortDescription } ?? "\(bytes.count) B"
}

extension Interval {
    /// In words, to a tenth of a second: `3.0 s`.
    package var inSeconds: String { "\((seconds * 10).rounded() / 10) s" }
}

extension Array where Element == UInt8 {
    /// The bytes in parts, split at these offsets.
    package func cut(at places: [Int]) -> [[UInt8]] {
        let inner = places.filter { $0 > 0 && $0 < count }
        return zip([0] + inner, inner + [count]).map { Array(self[$0..<$1]) }
    }

    /// The two parts before and after an offset.
    package func cut(at place: Int) -> ([UInt8], [UInt8]) { (Array(prefix(place)), Array(dropFirst(place))) }
}
