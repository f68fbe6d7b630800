import Framing
import Streams

/// Reads the messages from the bytes that arrive on one connection. Does no I/O.
package protocol MessageReader {
    /// The messages that the next bytes complete. `time` never decreases.
    mutating func receive(_ bytes: RawSpan, at time: Timestamp) -> [PeerInput]

    /// When it stops waiting for the rest of a message; nil if it waits forever.
    var deadline: Timestamp? { get }

    /// The messages that are complete because nothing more arrived until `time`.
    mutating func pause(until time: Timestamp) -> [PeerInput]

    /// The remainder when the stream ends.
    mutating func finish() -> [PeerInput]
}

extension MessageReader {
    package var deadline: Timestamp? { nil }
    package mutating func pause(until time: Timestamp) -> [PeerInput] { [] }
    package mutating func finish() -> [PeerInput] { [] }
}

/// The correct reader: segments frames as the format specifies.
package struct FrameReader: MessageReader {
    private var framer: Framer
    private let format: DirectionFormat
    private let isWhole: (@Sendable (RawSpan) -> Bool)?
    private let scratch = FramingScratch()

    /// A reader at the start of a stream.
    ///
    /// - Parameter isWhole: whether bytes that start a frame are all of it, if otherwise only the next frame or a pause would
    ///   show that. A peer that knows the possible messages need not wait for either.
    package init(_ format: Format, from direction: Direction, isWhole: (@Sendable (RawSpan) -> Bool)? = nil) {
        self.format = format.directions[direction]
        self.isWhole = isWhole
        framer = Framer(rule: self.format.rule, direction: direction, aligned: true)
    }

    package mutating func receive(_ bytes: RawSpan, at time: Timestamp) -> [PeerInput] {
        let inputs = Inputs(format)
        framer.receive(bytes, at: time, packet: 0, scratch: scratch, into: inputs)
        if let isWhole { framer.endFrame(where: isWhole, scratch: scratch, into: inputs) }
        return inputs.list
    }

    package var deadline: Timestamp? { framer.idleDeadline }

    package mutating func pause(until time: Timestamp) -> [PeerInput] {
        let inputs = Inputs(format)
        framer.pause(until: time, scratch: scratch, into: inputs)
        return inputs.list
    }

    package mutating func finish() -> [PeerInput] {
        let inputs = Inputs(format)
        framer.finish(scratch: scratch, into: inputs)
        return inputs.list
    }

    /// Collects a framer's results during one call.
    private final class Inputs: FrameReceiver {
        private let format: DirectionFormat
        var list: [PeerInput] = []

        init(_ format: DirectionFormat) {
            self.format = format
        }

        func framed(_ frame: FrameInfo, bytes: RawSpan, from direction: Direction) {
            format.withContent(of: bytes, frame.shape) { content, shape in
                let body = content.copied(shape.head..<shape.head + shape.body)
                list.append(.message(PeerMessage(fields: format.fields(of: content, shape), body: body)))
            }
        }

        func unframed(_ run: UnframedRun, from direction: Direction) {
            list.append(
                .unframed(byteCount: run.bytes.count, detail: "\(run.reason.rawValue) at \(run.offset): \(run.detail)"))
        }

        func missing(offset: Int, byteCount: Int, from direction: Direction, at time: Timestamp) {}
    }
}
