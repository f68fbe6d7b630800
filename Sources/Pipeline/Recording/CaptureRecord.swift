import Packets
import Streams
import Trace

/// A capture that is being written as pcapng, to one file or to a series of files.
///
/// Each file is readable on its own: it begins with a section header and an interface description, and ends with statistics that
/// give the end of the recording (`isb_endtime`). Only whole blocks are written.
package final class CaptureRecord {
    /// The interface on which the packets were seen.
    package struct Interface {
        /// Its name.
        package var name: String
        /// The header type that its packets begin with.
        package var linkType: LinkType
        /// The maximum number of bytes kept of each packet; 0: all.
        package var snapLength = 0
        /// Which packets are kept, in libpcap's filter language.
        package var filter: String?

        /// An interface of which everything is recorded.
        package init(name: String, linkType: LinkType, snapLength: Int = 0, filter: String? = nil) {
            (self.name, self.linkType, self.snapLength, self.filter) = (name, linkType, snapLength, filter)
        }
    }

    /// The system's counters since the start, if it has them: packets received, and packets lost.
    package var counts: (received: Int, dropped: Int)?

    /// The secrets of TLS connections that are open, as lines of an NSS key log: a file that continues a capture has them again.
    package var openSecrets: () -> [UInt8] = { [] }

    /// The part of `counts` that earlier files already report.
    private var counted = (received: 0, dropped: 0)
    /// The interfaces of this file that a leg's packets are on, each with its number and its packets.
    private var legs: [(leg: Leg, number: Int, packets: UInt64)] = []
    /// How many packets of this file the source itself omitted; nil if it does not count them.
    private var omitted: UInt64?
    /// How many packets the output had discarded by the beginning of this file, and how many of them its next packet reports.
    private var discarded = 0
    private var unreported: UInt64 = 0
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

    /// The maximum number of bytes written at once, except for a longer packet.
    private static let bufferLimit = 256 << 10
    /// The approximate size of statistics, and of a packet in addition to its bytes.
    private static let overhead = (statistics: 128, packet: 64)

    /// A capture; it begins with its header.
    package init(to output: any RecordOutput, tool: String, interface: Interface, start: Timestamp) {
        (self.output, self.tool, self.interface, self.start, last) = (output, tool, interface, start, start)
        begin(comment: nil)
    }

    /// A packet was seen.
    ///
    /// - Parameters:
    ///   - bytes: the captured bytes.
    ///   - originalLength: its original length; nil: that of `bytes`.
    ///   - leg: the leg of its connection, which has an interface of its own; nil: the connection has only one.
    ///   - droppedPackets: how many were lost since the previous packet.
    ///   - openConnections: how many connections are still open, in case this packet begins another file.
    package func append(
        _ bytes: RawSpan, originalLength: Int? = nil, of leg: Leg? = nil, at time: Timestamp, comment: String? = nil,
        droppedPackets: UInt64? = nil, openConnections: Int? = nil
    ) {
        goOn(adding: bytes.byteCount + (comment?.utf8.count ?? 0) + Self.overhead.packet, at: time, openConnections)
        packets += 1
        packetCount += 1
        last = max(last, time)
        writer.appendPacket(
            bytes, originalLength: originalLength, at: time, interface: leg.map { number(ofInterfaceFor: $0) } ?? 0,
            comment: comment, droppedPackets: unreported > 0 ? (droppedPackets ?? 0) + unreported : droppedPackets,
            to: &buffer)
        unreported = 0
        if buffer.count > Self.bufferLimit { flush() }
    }

    /// Secrets of TLS connections became known, as lines of an NSS key log. Packets that need them must follow.
    package func append(secrets: RawSpan) {
        writer.appendSecrets(keyLog: secrets, to: &buffer)
    }

    /// The source of the packets omitted some for lack of room. Once this has been called, even with 0, statistics report their
    /// number (`isb_ifdrop`).
    package func dropped(_ packets: Int) {
        omitted = (omitted ?? 0) + UInt64(max(0, packets))
    }

    /// Lets time pass: the next file may be due even if there are no packets for it.
    package func advance(to time: Timestamp, openConnections: Int? = nil) {
        goOn(adding: 0, at: time, openConnections)
    }

    /// Hands over what has been recorded so far.
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

    /// Continues in another file if one is due; a file without packets is not full.
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
        let lost = output.discarded - discarded
        discarded += lost
        if lost > 0 {
            // The statistics of the previous file were not written either: those of this file include them.
            unreported += UInt64(lost)
            omitted = (omitted ?? 0) + UInt64(lost)
        } else {
            counted = counts ?? (0, 0)
            if omitted != nil { omitted = 0 }
        }
        let open = openConnections.map { ", in which \($0) connections were open" } ?? ""
        begin(comment: "file \(files) of a recording\(open)")
        let secrets = openSecrets()
        if !secrets.isEmpty { append(secrets: secrets.span.bytes) }
    }

    private func begin(comment: String?) {
        writer.appendSectionHeader(application: tool, comment: comment, to: &buffer)
        _ = writer.appendInterface(
            name: interface.name, linkType: interface.linkType.rawValue, snapLength: interface.snapLength,
            filter: interface.filter, to: &buffer)
        legs = []
    }

    /// The number of the interface of a leg that gets another packet; it is described when it gets its first.
    private func number(ofInterfaceFor leg: Leg) -> Int {
        if let place = legs.firstIndex(where: { $0.leg == leg }) {
            legs[place].packets += 1
            return legs[place].number
        }
        let number = writer.appendInterface(
            name: leg.interfaceName, linkType: interface.linkType.rawValue, to: &buffer)
        legs.append((leg, number, 1))
        return number
    }

    private func appendStatistics(at end: Timestamp, to buffer: inout [UInt8]) {
        let own = legs.reduce(packets) { $0 - $1.packets }
        writer.appendStatistics(
            start: start, end: end,
            received: counts.map { UInt64(max(0, $0.received - counted.received)) } ?? own + (omitted ?? 0),
            interfaceDropped: omitted, dropped: counts.map { UInt64(max(0, $0.dropped - counted.dropped)) },
            delivered: own, to: &buffer)
        for leg in legs {
            writer.appendStatistics(
                interface: leg.number, start: start, end: end, received: leg.packets, delivered: leg.packets,
                to: &buffer)
        }
    }
}
