import Packets
import Streams
import Trace

/// A capture that is being written as pcapng, in one file or in several, one after another.
///
/// Each file is readable on its own: it begins with section and interface, and ends with statistics that say until when it
/// was recorded (`isb_endtime`). Only whole blocks are written.
package final class CaptureRecord {
    /// What the packets were seen on.
    package struct Interface {
        /// What it is called.
        package var name: String
        /// What its packets begin with.
        package var linkType: LinkType
        /// How many bytes of a packet are kept at most; 0: all.
        package var snapLength = 0
        /// Which packets are, in libpcap's language.
        package var filter: String?

        /// An interface of which everything is recorded.
        package init(name: String, linkType: LinkType, snapLength: Int = 0, filter: String? = nil) {
            (self.name, self.linkType, self.snapLength, self.filter) = (name, linkType, snapLength, filter)
        }
    }

    /// What the system counted since the start, where it does: packets that came, and those it lost.
    package var counts: (received: Int, dropped: Int)?

    /// What of `counts` the files before have.
    private var counted = (received: 0, dropped: 0)
    /// How many packets of this file its source itself left out; nil where it does not count them.
    private var omitted: UInt64?
    private let output: any RecordOutput
    private let tool: String
    private let interface: Interface
    private var writer = PcapngWriter()
    private var buffer: [UInt8] = []
    /// When this file began, and the time of its last packet.
    private var start: Timestamp
    private var last: Timestamp
    /// The packets of this file.
    private var packets: UInt64 = 0
    private var files = 1
    /// The packets of all files.
    package private(set) var packetCount = 0

    /// How much is written at once, at most, but for a longer packet.
    private static let bufferLimit = 256 << 10
    /// What statistics take, about, and a packet beside its bytes.
    private static let overhead = (statistics: 128, packet: 64)

    /// A capture that begins with its header.
    package init(to output: any RecordOutput, tool: String, interface: Interface, start: Timestamp) {
        (self.output, self.tool, self.interface, self.start, last) = (output, tool, interface, start, start)
        begin(comment: nil)
    }

    /// A packet was seen.
    ///
    /// - Parameters:
    ///   - bytes: what there is of it.
    ///   - originalLength: how long it was; nil: as long as `bytes`.
    ///   - droppedPackets: how many were lost since the one before.
    ///   - openConnections: how many connections go on, should this packet begin another file.
    package func append(
        _ bytes: RawSpan, originalLength: Int? = nil, at time: Timestamp, comment: String? = nil,
        droppedPackets: UInt64? = nil, openConnections: Int? = nil
    ) {
        goOn(adding: bytes.byteCount + (comment?.utf8.count ?? 0) + Self.overhead.packet, at: time, openConnections)
        packets += 1
        packetCount += 1
        last = max(last, time)
        writer.appendPacket(
            bytes, originalLength: originalLength, at: time, comment: comment, droppedPackets: droppedPackets,
            to: &buffer)
        if buffer.count > Self.bufferLimit { flush() }
    }

    /// The source of the packets left some out for want of room. Once this was called, with 0 as well, statistics have their
    /// number (`isb_ifdrop`).
    package func dropped(_ packets: Int) {
        omitted = (omitted ?? 0) + UInt64(max(0, packets))
    }

    /// Lets time pass: what has no packets for the next file may still be due for it.
    package func advance(to time: Timestamp, openConnections: Int? = nil) {
        goOn(adding: 0, at: time, openConnections)
    }

    /// Hands over what was recorded so far.
    package func flush() {
        guard !buffer.isEmpty else { return }
        output.write(buffer)
        buffer.empty(keeping: 4 * Self.bufferLimit)
    }

    /// The recording ends; a reader advances to `end`.
    package func finish(at end: Timestamp) {
        appendStatistics(at: max(end, last), to: &buffer)
        flush()
    }

    /// Goes on with another file where it is time for one; one without packets is not full.
    private func goOn(adding byteCount: Int, at time: Timestamp, _ openConnections: Int?) {
        let size = buffer.count + byteCount + Self.overhead.statistics
        guard output.isAskedForNext || packets > 0 && output.isFull(adding: size, at: time) else { return }
        let time = max(time, last)
        flush()
        var ending: [UInt8] = []
        appendStatistics(at: time, to: &ending)
        guard output.next(ending: ending, at: time) else { return }
        files += 1
        (start, last, packets) = (time, time, 0)
        counted = counts ?? (0, 0)
        if omitted != nil { omitted = 0 }
        let open = openConnections.map { ", in which \($0) connections were open" } ?? ""
        begin(comment: "file \(files) of a recording\(open)")
    }

    private func begin(comment: String?) {
        writer.appendSectionHeader(application: tool, comment: comment, to: &buffer)
        _ = writer.appendInterface(
            name: interface.name, linkType: interface.linkType.rawValue, snapLength: interface.snapLength,
            filter: interface.filter, to: &buffer)
    }

    private func appendStatistics(at end: Timestamp, to buffer: inout [UInt8]) {
        writer.appendStatistics(
            start: start, end: end,
            received: counts.map { UInt64(max(0, $0.received - counted.received)) } ?? packets + (omitted ?? 0),
            interfaceDropped: omitted, dropped: counts.map { UInt64(max(0, $0.dropped - counted.dropped)) },
            delivered: packets, to: &buffer)
    }
}
