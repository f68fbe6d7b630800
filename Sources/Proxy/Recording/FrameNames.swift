import Framing
import Streams
import Trace

/// Names the frames that end in a chunk, for the comment of its packet: a sink that collects them while the chunk is decoded.
package final class FrameNames: TraceSink {
    private var names: [String] = []
    private var count = 0

    /// How many frames a comment names; the others are counted.
    private static let most = 20

    /// Bodies are not named.
    package let bodyLimit = 0
    package var takesBothLegs: Bool { true }

    init() {}

    /// The names since this was last called, a line each; nil if there were no frames.
    func take() -> String? {
        guard count > 0 else { return nil }
        if count > Self.most { names.append("and \(count - Self.most) more") }
        defer { (names, count) = ([], 0) }
        return names.joined(separator: "\n")
    }

    package func frame(_ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection) {
        count += 1
        guard count <= Self.most, let format = connection.format else { return }
        let name = format.directions[frame.direction].type(of: bytes, frame.shape) ?? "frame"
        var text = "\(format.name) \(frame.direction.sender) #\(frame.info.index) \(Self.plain(name)), "
        text += "\(frame.info.length) bytes at \(frame.info.offset)"
        if frame.isHeartbeat { text += ", heartbeat" }
        if frame.info.segments > 1 { text += ", split over \(frame.info.segments) segments" }
        names.append(text)
    }

    /// A name from the network, made safe for a comment.
    private static func plain(_ name: String) -> String {
        String(
            String.UnicodeScalarView(
                name.unicodeScalars.prefix(40).map { $0.properties.generalCategory == .control ? "�" : $0 }))
    }
}
