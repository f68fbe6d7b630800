import Analysis
import Streams

/// What happened on a connection, in order, to be told again later: the bytes of all chunks lie in one buffer.
struct HeldEvents {
    /// What happened; where bytes did, they are at a place of the buffer.
    enum Event {
        case received(Range<Int>, Direction, Timestamp, packet: Int)
        case missing(Int, Direction, Timestamp)
        case finished(Direction, Timestamp)
        case noticed(StreamNotice, NoticedPacket)
    }

    private(set) var events: [Event] = []
    /// The bytes of all chunks.
    private(set) var bytes: [UInt8] = []
    private var noticeCount = 0
    private var noticeBytes = 0

    /// How many notices are held at most; a connection with more of them is an odd one.
    private static let mostNotices = 64

    /// How much memory they take, about.
    var memory: Int {
        bytes.capacity + events.capacity * MemoryLayout<Event>.stride + noticeBytes
    }

    mutating func append(_ chunk: RawSpan, _ direction: Direction, _ time: Timestamp, packet: Int) {
        let start = bytes.count
        bytes.append(contentsOf: chunk)
        events.append(.received(start..<bytes.count, direction, time, packet: packet))
    }

    mutating func append(_ event: Event) { events.append(event) }

    /// Holds a notice, if there is room.
    mutating func append(_ notice: StreamNotice, _ packet: NoticedPacket) -> Bool {
        guard noticeCount < Self.mostNotices else { return false }
        noticeCount += 1
        switch notice {
        case .conflict(_, let kept, let other): noticeBytes += kept.count + other.count
        case .late(_, let bytes): noticeBytes += bytes.count
        default: break
        }
        events.append(.noticed(notice, packet))
        return true
    }
}
