import Streams

/// The events of a connection whose format is not yet known, to be passed on later: an event buffer with a limit on notices.
struct HeldEvents {
    private(set) var content = StreamEventBuffer()
    private var noticeBytes = 0

    /// The maximum number of notices held; a connection with more of them is unusual.
    private static let mostNotices = 64

    /// The events, in order.
    var events: [StreamEventBuffer.Event] { content.events }
    /// The bytes of all chunks.
    var bytes: [UInt8] { content.bytes }

    /// Approximately how much memory they take.
    var memory: Int {
        content.bytes.accountedCapacity + content.events.accountedCapacity
            * MemoryLayout<StreamEventBuffer.Event>.stride
            + noticeBytes
    }

    mutating func append(_ chunk: RawSpan, _ direction: Direction, _ time: Timestamp, packet: Int) {
        let event = content.receive(chunk, direction, 0, time, packet: packet)
        content.events.append(event)
    }

    mutating func append(_ event: StreamEventBuffer.Event) { content.events.append(event) }

    /// Packs chunks, if there is nothing else, or unpacks them.
    mutating func passChunks(through numbers: inout PackedNumbers) {
        let known = content
        var count = known.events.count
        numbers.pass(&count)
        content = StreamEventBuffer()
        for index in 0..<count {
            let event = index < known.events.count ? known.events[index] : nil
            var isFromClient = event?.direction == .fromClient
            var bytes = event.map { Array(known.bytes[$0.place..<$0.place + $0.count]) } ?? []
            var (time, packet) = (event?.time ?? Timestamp(nanoseconds: 0), event?.packet ?? 0)
            numbers.pass(&isFromClient)
            numbers.pass(&bytes)
            numbers.pass(&time)
            numbers.pass(&packet)
            append(bytes.span.bytes, isFromClient ? .fromClient : .fromServer, time, packet: packet)
        }
    }

    /// Holds a notice, if there is room.
    mutating func append(_ notice: StreamNotice, _ direction: Direction, _ time: Timestamp, packet: Int) -> Bool {
        guard content.notices.count < Self.mostNotices else { return false }
        switch notice {
        case .conflict(_, let kept, let other): noticeBytes += kept.count + other.count
        case .late(_, let bytes): noticeBytes += bytes.count
        default: break
        }
        let event = content.notice(notice, direction, 0, time, packet: packet)
        content.events.append(event)
        return true
    }
}
