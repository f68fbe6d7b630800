import Framing
import Packets
import Pipeline
import Streams
import Trace

/// Writes relayed data as a pcapng capture: complete packets, one per chunk, each with a comment that names the frames that end
/// in it.
///
/// As a trace sink, it is notified of frames while a chunk is being decoded, and writes the chunk's packet after that.
package final class PacketRecorder {
    private let record: CaptureRecord
    private var connections: [Int: SyntheticConnection] = [:]
    /// Their number: handling an event of one connection must not iterate over all of them.
    private var openCount = 0
    private var comment: [String] = []
    private var framesInComment = 0
    /// How many chunks were dropped since the previous packet.
    private var dropped = 0

    /// How many frames a comment names; the others are counted.
    private static let mostFrames = 20

    /// A recorder that begins with the file's header.
    package init(to output: any RecordOutput, tool: String, start: Timestamp) {
        record = CaptureRecord(
            to: output, tool: tool, interface: CaptureRecord.Interface(name: "proxy", linkType: .raw), start: start)
        record.dropped(0)
    }

    /// The number of the next packet, from 1, as a reader of all files counts them.
    var nextPacket: Int { record.packetCount + 1 }

    /// A connection opened.
    func opened(_ opening: Opening) {
        var connection = SyntheticConnection(number: opening.number, client: opening.client, server: opening.server)
        connection.open { packet($0, $1, at: opening.time) }
        connections[opening.number] = connection
        openCount = connections.count
    }

    /// A client requested a connection, but the server could not be reached.
    func refused(_ opening: Opening, detail: String) {
        var connection = SyntheticConnection(number: opening.number, client: opening.client, server: opening.server)
        connection.connecting { packet($0, $1, at: opening.time) }
        comment = [detail]
        connection.refused { packet($0, $1, at: opening.time) }
        comment = []
    }

    /// A chunk was relayed and decoded.
    func received(_ bytes: RawSpan, on connection: Int, from direction: Direction, at time: Timestamp) {
        if framesInComment > Self.mostFrames { comment.append("and \(framesInComment - Self.mostFrames) more") }
        connections[connection]?.data(bytes, from: direction) { packet($0, $1, at: time) }
        comment = []
        framesInComment = 0
    }

    /// A direction is held because the other side does not read, so that side's window is closed; or it continues.
    func held(_ isHeld: Bool, on connection: Int, from direction: Direction, at time: Timestamp) {
        connections[connection]?.closeWindow(isHeld, of: direction.opposite) { packet($0, $1, at: time) }
    }

    /// Bytes were relayed but not recorded. The acknowledgment that shows them has the count.
    func dropped(
        _ loss: RecordingQueue.Loss, on connection: Int, from direction: Direction, at time: Timestamp
    ) {
        count(loss.chunks)
        connections[connection]?.dropped(loss.bytes, from: direction) { packet($0, $1, at: time) }
    }

    /// Connections opened and closed without being recorded: each would have had at least one packet in addition to its chunks.
    func unrecorded(_ connections: Int, _ loss: RecordingQueue.Loss) {
        count(connections + loss.chunks)
    }

    private func count(_ chunks: Int) {
        dropped += chunks
        record.dropped(chunks)
    }

    /// A direction ended.
    func finished(_ ending: Ending, on connection: Int, from direction: Direction, at time: Timestamp) {
        comment = []
        framesInComment = 0
        switch ending {
        case .fin: connections[connection]?.finish(from: direction) { packet($0, $1, at: time) }
        case .reset: connections[connection]?.reset(from: direction) { packet($0, $1, at: time) }
        }
    }

    /// The proxy closed the connection after its idle timeout: it reset both sides.
    func expired(_ connection: Int, at time: Timestamp) {
        comment = ["closed by the proxy: nothing was said for too long"]
        framesInComment = 0
        connections[connection]?.reset(from: .fromServer) { packet($0, $1, at: time) }
        comment = []
    }

    /// A connection is over.
    func closed(_ connection: Int) {
        connections[connection] = nil
        openCount = connections.count
    }

    /// Lets time pass: the next file may be due.
    func advance(to time: Timestamp) {
        record.advance(to: time, openConnections: openCount)
    }

    /// The recording ends; a reader advances to `end`.
    func finish(at end: Timestamp) {
        record.finish(at: end)
    }

    private func packet(_ kind: SyntheticPacket, _ bytes: RawSpan, at time: Timestamp) {
        let isNamed = !comment.isEmpty && (kind == .data || kind == .end)
        record.append(
            bytes, at: time, comment: isNamed ? comment.joined(separator: "\n") : nil,
            droppedPackets: dropped > 0 ? UInt64(dropped) : nil, openConnections: openCount)
        dropped = 0
    }
}

extension PacketRecorder: TraceSink {
    package var bodyLimit: Int { 0 }

    package func frame(_ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection) {
        framesInComment += 1
        guard framesInComment <= Self.mostFrames, let format = connection.format else { return }
        let name = format.directions[frame.direction].type(of: bytes, frame.shape) ?? "frame"
        var text = "\(format.name) \(frame.direction.sender) #\(frame.info.index) \(Self.plain(name)), "
        text += "\(frame.info.length) bytes at \(frame.info.offset)"
        if frame.isHeartbeat { text += ", heartbeat" }
        if frame.info.segments > 1 { text += ", split over \(frame.info.segments) segments" }
        comment.append(text)
    }

    package func flush() {
        record.flush()
    }

    package func opened(_ connection: TracedConnection) {}
    package func recognised(_ connection: TracedConnection) {}
    package func missing(_ gap: Gap, on connection: TracedConnection) {}
    package func dropped(_ gap: Gap, reason: String, on connection: TracedConnection) {}
    package func unframed(_ run: UnframedRun, from direction: Direction, on connection: TracedConnection) {}
    package func finding(_ finding: Finding) {}
    package func closed(_ closing: Closing, counts: PerDirection<ByteCounts>, on connection: TracedConnection) {}
    package func summary(_ summary: Summary) {}

    /// A name from the network, made safe for a comment.
    private static func plain(_ name: String) -> String {
        String(
            String.UnicodeScalarView(
                name.unicodeScalars.prefix(40).map { $0.properties.generalCategory == .control ? "�" : $0 }))
    }
}
