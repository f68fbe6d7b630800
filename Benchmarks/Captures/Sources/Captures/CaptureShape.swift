/// A capture to measure with: the same bytes each time it is made.
public enum CaptureShape: Hashable, Sendable {
    /// len16-id frames of 5 + `payload` bytes, in turn on each of the connections, cut at random.
    case frames(connections: Int, count: Int, payload: Int)
    /// im-json, likewise: the 95-byte message, and one heartbeat in eleven frames.
    case chat(connections: Int, count: Int)
    /// One len16-id frame of 45 bytes on each of the connections, none of which ends.
    case open(connections: Int)
    /// A SYN and one im-json message on each of the connections, none of which ends.
    case messages(connections: Int)
    /// Text of a size that is no protocol, such as a page's, picked up mid-stream.
    case text(size: Int)
    /// One im-json frame of so many bytes in all, in segments of 1 byte.
    case bytewise(size: Int)
    /// len16-id frames of 10 bytes, each a segment: in order, or after the SYN from the last to the first.
    case segments(count: Int, reversed: Bool)

    /// The whole capture.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        write { bytes += $0 }
        return bytes
    }

    /// Makes the capture, in pieces.
    public func write(to take: @escaping ([UInt8]) -> Void) {
        var writer = CaptureWriter(take)
        switch self {
        case .frames(let connections, let count, let payload):
            writer.interleave(connections, count) { Frames.numbered($0, payload: payload, into: &$1) }
        case .chat(let connections, let count):
            let (message, heartbeat) = (Frames.message, Frames.heartbeat)
            // 11 divides no round number of connections, so that each has heartbeats.
            writer.interleave(connections, count) { $1 += $0 % 11 == 10 ? heartbeat : message }
        case .open(let connections):
            for connection in 0..<connections {
                var frame: [UInt8] = []
                Frames.numbered(connection, payload: 40, into: &frame)
                writer.segment(of: connection, sequence: 1, payload: frame[...])
            }
        case .messages(let connections):
            for connection in 0..<connections {
                writer.segment(of: connection, sequence: 0, isSYN: true)
                writer.segment(of: connection, sequence: 1, payload: Frames.message[...])
            }
        case .text(let size):
            let text = Frames.text(size)
            for place in stride(from: 0, to: size, by: 1_400) {
                writer.segment(
                    of: 0, sequence: 1 &+ UInt32(place), payload: text[place..<min(size, place + 1_400)])
            }
        case .bytewise(let size):
            let frame = Frames.sized(size)
            for place in frame.indices {
                writer.segment(of: 0, sequence: 1 &+ UInt32(place), payload: frame[place...place])
            }
        case .segments(let count, let reversed):
            writer.segment(of: 0, sequence: 0, isSYN: true)
            for step in 0..<count {
                let place = reversed ? count - 1 - step : step
                var frame: [UInt8] = []
                Frames.numbered(place, payload: 5, into: &frame)
                writer.segment(of: 0, sequence: 1 &+ UInt32(10 * place), payload: frame[...])
            }
        }
        writer.flush()
    }
}

extension CaptureWriter {
    /// Writes frames on each of the connections in turn, in segments of 40 to 1,400 bytes.
    ///
    /// - Parameter append: appends the frame of a number to its connection's bytes.
    mutating func interleave(_ connections: Int, _ count: Int, append: (Int, inout [UInt8]) -> Void) {
        let longest = 1_400
        var dice = Dice(seed: 20_261_121)
        var sequences = [UInt32](repeating: 1, count: connections)
        var waiting = [[UInt8]](repeating: [], count: connections)
        for number in 0..<count {
            let connection = number % connections
            append(number, &waiting[connection])
            var sent = 0
            var limit = 40 + dice.roll(longest)
            while waiting[connection].count - sent >= limit {
                let size = min(limit, longest)
                segment(
                    of: connection, sequence: sequences[connection], payload: waiting[connection][sent..<sent + size])
                sequences[connection] &+= UInt32(size)
                sent += size
                limit = 40 + dice.roll(longest)
            }
            if sent > 0 { waiting[connection].removeFirst(sent) }
        }
    }
}
