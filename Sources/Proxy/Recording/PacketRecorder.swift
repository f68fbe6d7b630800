import Packets
import Trace
import Pipeline
import Streams

/// Writes relayed data as a pcapng capture: complete packets, one per chunk, each with a comment that names the frames that end
/// in it.
///
/// The `Recorder` feeds it, each chunk after it was decoded; `frames` collects the names meanwhile.
package final class PacketRecorder {
    private let record: CaptureRecord?
    private let journal: PacketJournal?
    private var connections: [ConnectionLeg: SyntheticConnection] = [:]
    /// Their ends in the capture.
    private var ends = DistinctEnds()
    /// Their number: handling an event of one connection must not iterate over all of them.
    private var openCount = 0
    /// The frames of the chunk that is being decoded: among the decoder's sinks.
    package let frames = FrameNames()
    /// What is known about the TLS of connections, for the comment of their next packet.
    private var annotations: [ConnectionLeg: String] = [:]
    /// The secrets of open connections, as lines of a key log.
    private var secrets: [ConnectionLeg: [UInt8]] = [:]
    /// How many chunks were dropped since the previous packet.
    private var dropped = 0

    /// A recorder that begins with the file's header.
    ///
    /// - Parameters:
    ///   - output: the file; nil: there is none.
    ///   - journal: what keeps the last packets; nil: nothing does.
    package init(to output: (any RecordOutput)?, tool: String, start: Timestamp, journal: PacketJournal? = nil) {
        record = output.map {
            CaptureRecord(
                to: $0, tool: tool, interface: CaptureRecord.Interface(name: "proxy", linkType: .raw), start: start)
        }
        record?.dropped(0)
        self.journal = journal
        // A file may be read without those before it.
        record?.openSecrets = { [weak self] in self?.openSecrets ?? [] }
    }

    private var openSecrets: [UInt8] { secrets.keys.sorted().flatMap { secrets[$0] ?? [] } }

    /// The number of the next packet, from 1, as a reader of all files counts them; 0 if there is no file.
    var nextPacket: Int { record.map { $0.packetCount + 1 } ?? 0 }

    /// A connection opened.
    func opened(_ opening: Opening) {
        var connection = begin(opening)
        connection.open { packet($0, $1, of: opening.connectionLeg, at: opening.time) }
        connections[opening.connectionLeg] = connection
        openCount = connections.count
    }

    /// A client requested a connection, but it was not relayed.
    func refused(_ opening: Opening, _ reason: CloseReason, by side: Direction, detail: String) {
        var connection = begin(opening)
        // A reader would take it for a server that could not be reached.
        let mark = reason == .connectFailed ? "" : Self.mark(ClosedAnnotation(reason: reason, by: side).text) + "\n"
        connection.refused { packet($0, $1, of: opening.connectionLeg, at: opening.time, comment: mark + detail) }
        ends.closed(opening.number)
    }

    /// The first packet of a connection. It says if the client is not shown as it is.
    private func begin(_ opening: Opening) -> SyntheticConnection {
        let client = ends.client(of: opening)
        let note =
            client == opening.client
            ? nil
            : "the client is \(opening.client): an open connection has the same ends, so this one has another port"
        var connection = SyntheticConnection(number: opening.number, client: client, server: opening.server)
        connection.connecting {
            packet($0, $1, of: opening.connectionLeg, at: opening.time, comment: note, isFirst: true)
        }
        return connection
    }

    /// A chunk was relayed and decoded.
    func received(_ bytes: RawSpan, on connection: ConnectionLeg, from direction: Direction, at time: Timestamp) {
        var names = frames.take()
        if let annotation = annotations.removeValue(forKey: connection) {
            names = annotation + (names.map { "\n" + $0 } ?? "")
        }
        connections[connection]?.data(bytes, from: direction) {
            packet($0, $1, of: connection, at: time, comment: names)
        }
    }

    /// A direction is held because the other side does not read, so that side's window is closed; or it continues.
    func held(_ isHeld: Bool, on connection: ConnectionLeg, from direction: Direction, at time: Timestamp) {
        connections[connection]?.closeWindow(isHeld, of: direction.opposite) {
            packet($0, $1, of: connection, at: time)
        }
    }

    /// Bytes were relayed but not recorded. The acknowledgment that shows them has the count.
    func dropped(
        _ loss: RecordingQueue.Loss, on connection: ConnectionLeg, from direction: Direction, at time: Timestamp
    ) {
        count(loss.chunks)
        connections[connection]?.dropped(loss.bytes, from: direction) {
            packet($0, $1, of: connection, at: time)
        }
    }

    /// Connections opened and closed without being recorded: each would have had at least one packet in addition to its chunks.
    func unrecorded(_ connections: Int, _ loss: RecordingQueue.Loss) {
        count(connections + loss.chunks)
    }

    private func count(_ chunks: Int) {
        dropped += chunks
        record?.dropped(chunks)
    }

    /// A direction ended.
    func finished(_ ending: Ending, on connection: ConnectionLeg, from direction: Direction, at time: Timestamp) {
        // Frames that end with the stream are named by no packet.
        _ = frames.take()
        switch ending {
        case .fin:
            connections[connection]?.finish(from: direction) {
                packet($0, $1, of: connection, at: time)
            }
        case .reset:
            connections[connection]?.reset(from: direction) {
                packet($0, $1, of: connection, at: time)
            }
        }
    }

    /// The proxy ended the connection: it reset both sides.
    func ended(_ connection: ConnectionLeg, _ reason: CloseReason, by side: Direction?, at time: Timestamp) {
        _ = frames.take()
        let text = Self.mark(ClosedAnnotation(reason: reason, by: side).text) + "\nclosed by the proxy: " + reason.cause
        connections[connection]?.reset(from: .fromServer) {
            packet($0, $1, of: connection, at: time, comment: text)
        }
    }

    /// A connection is over.
    func closed(_ connection: ConnectionLeg) {
        if connections.removeValue(forKey: connection) != nil { ends.closed(connection.number) }
        annotations[connection] = nil
        secrets[connection] = nil
        openCount = connections.count
    }

    /// A connection's TLS is known: its next packet says so.
    func learned(_ facts: TLSFacts, on connection: ConnectionLeg, at time: Timestamp) {
        annotations[connection] = Self.mark("tls " + facts.annotation(at: time))
    }

    /// A rule did something: an acknowledgment says so.
    func acted(_ report: ActionReport, on connection: ConnectionLeg) {
        connections[connection]?.acknowledge(from: report.direction.opposite) { _, bytes in
            append(bytes, of: connection, at: report.time, comment: Self.mark("action " + report.annotation))
        }
    }

    /// Secrets of a TLS connection became known.
    ///
    /// - Parameter connection: nil if it is not recorded.
    func learned(_ lines: [UInt8], of connection: ConnectionLeg?) {
        record?.append(secrets: lines.span.bytes)
        guard let connection, connections[connection] != nil else { return }
        secrets[connection, default: []] += lines
    }

    /// Lets time pass: the next file may be due.
    func advance(to time: Timestamp) {
        record?.advance(to: time, openConnections: openCount)
    }

    /// What was written so far becomes visible.
    func flush() { record?.flush() }

    /// The recording ends; a reader advances to `end`.
    func finish(at end: Timestamp) {
        record?.finish(at: end)
    }

    /// A comment for the recording's reader.
    private static func mark(_ text: String) -> String {
        String(decoding: PacketInfo.annotationMark, as: UTF8.self) + text
    }

    private func append(
        _ bytes: RawSpan, of connection: ConnectionLeg, at time: Timestamp, comment: String?,
        droppedPackets: UInt64? = nil, isFirst: Bool = false
    ) {
        record?.append(
            bytes, of: connection.leg, at: time, comment: comment, droppedPackets: droppedPackets,
            openConnections: openCount)
        journal?.take(bytes, of: connection, at: time, comment: comment, isFirst: isFirst)
    }

    private func packet(
        _ kind: SyntheticPacket, _ bytes: RawSpan, of connection: ConnectionLeg, at time: Timestamp,
        comment: String? = nil, isFirst: Bool = false
    ) {
        append(
            bytes, of: connection, at: time, comment: kind == .acknowledgment ? nil : comment,
            droppedPackets: dropped > 0 ? UInt64(dropped) : nil, isFirst: isFirst)
        dropped = 0
    }
}

extension CloseReason {
    /// Why the proxy ended a connection, in words.
    fileprivate var cause: String {
        switch self {
        case .timeout: "no data was sent for too long"
        case .rule: "a rule or a command did it"
        case .tlsFailed: "its TLS could not begin, or broke"
        case .fin, .reset, .evicted, .endOfInput, .connectFailed, .refusedByLimit: rawValue
        }
    }
}
