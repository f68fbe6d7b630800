import Framing
import Streams

// Events of what a sink receives, except frames and unframed bytes, of which there are many.

extension OpenedEvent {
    init(_ connection: TracedConnection) {
        let opening = connection.opening
        self.init(
            connection: connection.number, leg: connection.leg, time: opening.time, client: opening.client.description,
            server: opening.server.description, handshake: opening.handshake, clientGuessed: opening.clientGuessed)
    }
}

extension FormatEvent {
    /// Nil if no format was recognised.
    init?(_ connection: TracedConnection) {
        guard let format = connection.format, let choice = connection.choice else { return nil }
        self.init(
            connection: connection.number, leg: connection.leg, format: format.name, by: choice.by.rawValue,
            evidence: choice.evidence)
    }
}

extension RunEvent {
    init(_ gap: Gap, on connection: TracedConnection, reason: String = "") {
        self.init(
            connection: connection.number, leg: connection.leg, from: gap.direction, time: gap.time, offset: gap.offset,
            length: gap.byteCount, reason: reason)
    }
}

extension FindingEvent {
    init(_ finding: Finding) {
        self.init(
            connection: finding.connection, leg: finding.leg, from: finding.from, time: finding.time,
            kind: finding.kind.rawValue,
            severity: finding.severity.rawValue, message: finding.message,
            data: .fields(finding.data))
    }
}

extension ClosedEvent {
    init(_ closing: Closing, _ counts: PerDirection<ByteCounts>, on connection: TracedConnection) {
        self.init(
            connection: connection.number, leg: connection.leg, time: closing.time, reason: closing.reason.rawValue,
            by: closing.by,
            counts: counts)
    }
}
