import Framing
import Streams
import Trace

/// Rebuilds the bytes of recorded frames.
package struct FrameBuilder: Sendable {
    private let format: Format
    /// The bytes of frames that a capture had, by connection.
    private let originals: [Int: [FrameOrdinal: [UInt8]]]

    /// A builder of a recording's frames.
    package init(_ format: Format, _ recording: Recording) {
        self.format = format
        originals = Dictionary(recording.connections.map { ($0.number, $0.originals) }) { $1 }
    }

    /// The bytes of a recorded message as they were sent, if they are known and no value was filled in; otherwise rebuilt.
    ///
    /// - Parameter filled: the message with values filled in.
    /// - Throws: `ReplayError`, if the trace does not contain all of it.
    package func bytes(of item: RecordedItem, filled: RecordedItem) throws(ReplayError) -> [UInt8] {
        if case .frame(let frame) = item, item == filled,
            let original = originals[frame.connection]?[FrameOrdinal(frame.from, frame.index)]
        {
            return original
        }
        return try bytes(of: filled)
    }

    private func bytes(of item: RecordedItem) throws(ReplayError) -> [UInt8] {
        switch item {
        case .frame(let frame): return try bytes(of: frame)
        case .unframed(let run):
            guard let bytes = JSONValue.text(run.hex).rawBytes else {
                throw ReplayError("unframed bytes at \(run.offset) are not in hex")
            }
            guard bytes.count >= run.length else {
                throw ReplayError(
                    "\(run.length) unframed bytes of the \(run.from.sender) at \(run.offset) are not in the trace, "
                        + "which hides them")
            }
            return bytes
        case .missing(let run):
            throw ReplayError("\(run.length) bytes of the \(run.from.sender) at \(run.offset) were not seen")
        }
    }

    private func bytes(of frame: FrameEvent) throws(ReplayError) -> [UInt8] {
        let line = JSONValue.object([
            .init("type", frame.type.map(JSONValue.text) ?? .null), .init("fields", frame.fields),
            .init("body", frame.body),
        ]).compactText
        do throws(EncodingError) {
            guard let parsed = try FrameLine(parsing: Array(line.utf8).span.bytes) else { return [] }
            return try format.encode(parsed, from: frame.from)
        } catch {
            let name = frame.type.map { " (\($0))" } ?? ""
            let reason = format.secrets.isEmpty ? error.description : error.withoutValues
            throw ReplayError(
                "connection \(frame.connection), frame \(frame.index) of the \(frame.from.sender)\(name): \(reason)")
        }
    }
}

extension JSONValue {
    /// The bytes that hex digits represent.
    fileprivate var rawBytes: [UInt8]? {
        guard case .text(let digits) = self else { return nil }
        return try? Base16.decode(Array(digits.utf8).span.bytes)
    }
}
