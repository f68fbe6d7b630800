import Analysis
import Framing
import Streams
import Trace

/// Events other than bytes.
extension ConnectionDecoder {
    func noticed(_ notice: StreamNotice, from direction: Direction, at time: Timestamp, packet: Int) {
        if !output.packetAnalyses.isEmpty, !notice.isSegment {
            let packet = NoticedPacket(from: direction, time: time, number: packet)
            output.notifyPacketAnalyses { $0.noticed(notice, packet, on: connection, into: &$1) }
        }
        switch notice {
        case .unrecorded(let offset, let byteCount):
            let gap = Gap(direction: direction, offset: offset, byteCount: byteCount, time: time)
            output.dropped(gap, reason: "recorder too slow", on: connection)
        case .idle:
            // Detection holds a lot of memory, and an idle connection rarely resumes.
            if !isFraming { giveUpDetection() }
        case .conflict, .late, .afterEnd, .stray, .memoryLimit:
            let packet = NoticedPacket(from: direction, time: time, number: packet)
            if detection?.notice(notice, packet) == true { hold(at: time) } else { report(notice, packet) }
        case .overtaken(let since):
            connection.traffic[direction].disturb { $0.overtaken = (time, since) }
        case .unseen:
            connection.traffic[direction].disturb { $0.missing = time }
        case .waiting(let since):
            connection.traffic[direction].disturb { $0.waitingSince = since }
        case .windowClosed(let isClosed):
            // A closed window keeps the other side from sending.
            connection.traffic[direction.opposite].disturb { $0.close(isClosed, at: time) }
        case .held(let isHeld):
            connection.traffic[direction].disturb { $0.close(isHeld, at: time) }
        case .retransmitted:
            connection.traffic[direction].disturb { $0.retransmitted = time }
        case .segment(let segment):
            for witness in connection.witnesses { witness.saw(segment, from: direction, at: time) }
        case .tls(let facts): take(facts, at: time)
        case .annotated(let text):
            if text.hasPrefix("tls "), let (facts, time) = TLSFacts.read(annotation: String(text.dropFirst(4))) {
                take(facts, at: time)
            } else if text.hasPrefix("action "), let report = ActionReport.read(annotation: String(text.dropFirst(7))) {
                take(report)
            } else if let closed = ClosedAnnotation(annotation: text) {
                annotatedEnd = closed
            }
        case .action(let report): take(report)
        case .tlsTruncated, .tlsFault, .tlsKeysMissing:
            report(notice, NoticedPacket(from: direction, time: time, number: packet))
        case .synchronised, .acknowledged:
            break
        }
    }

    private func take(_ report: ActionReport) {
        if connection.known?.format.secrets.isEmpty != true { changed?.take(report) }
        for sink in output.sinks { sink.action(report, on: connection) }
    }

    private func take(_ facts: TLSFacts, at time: Timestamp) {
        if facts.decryption == .intercepted { (upgrade, isIntercepted) = (nil, true) }
        for sink in output.sinks { sink.tls(facts, at: time, on: connection) }
    }

    func report(_ notice: StreamNotice, _ packet: NoticedPacket) {
        output.analyse { $0.noticed(notice, packet, on: connection, into: &$1) }
    }
}
