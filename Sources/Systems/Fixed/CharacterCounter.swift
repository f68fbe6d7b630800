import Streams

/// The published receiver of `fixed` (hazard `counts-characters`): a frame is four *characters* of a
/// string, which are four bytes only as long as all of them are ASCII.
///
/// Characters are counted as `NSString` does, in UTF-16 units.
package struct CharacterCounter: MessageReader {
    private var held: [UInt8] = []

    /// A reader at the start of a stream.
    package init() {}

    package mutating func receive(_ bytes: RawSpan, at time: Timestamp) -> [PeerInput] {
        held += bytes.copied()
        var inputs: [PeerInput] = []
        while let count = byteCountOfFourCharacters {
            inputs.append(.message(PeerMessage(body: Array(held[..<count]))))
            held.removeFirst(count)
        }
        return inputs
    }

    package mutating func finish() -> [PeerInput] {
        held.isEmpty ? [] : [.unframed(byteCount: held.count, detail: "fewer than four characters")]
    }

    private var byteCountOfFourCharacters: Int? {
        var (bytes, units) = (0, 0)
        // A character split at the end decodes to U+FFFD: it has to wait.
        var parser = Unicode.UTF8.ForwardParser()
        var iterator = held.makeIterator()
        while units < 4 {
            guard case .valid(let scalar) = parser.parseScalar(from: &iterator) else { return nil }
            bytes += scalar.count
            units += scalar.count == 4 ? 2 : 1
        }
        return bytes
    }
}
