import Framing
import Streams
import Trace

/// Reports TLS that breaks, that ends without saying so, or that cannot be decrypted.
package final class TLSFaults: Analysis {
    /// Nothing is waited for.
    package let nextDeadline: Timestamp? = nil

    /// Reports nothing yet.
    package init() {}

    /// Reports what was noticed.
    package func noticed(
        _ notice: StreamNotice, _ packet: NoticedPacket, on connection: TracedConnection, into findings: inout [Finding]
    ) {
        let sender = packet.direction.sender
        let (kind, severity, message, data): (Finding.Kind, Finding.Severity, String, [Field])
        switch notice {
        case .tlsTruncated:
            (kind, severity, data) = (.tlsTruncated, .info, [])
            message = "the \(sender)'s TLS ended without a close_notify: its data may be truncated"
        case .tlsFault(let text): (kind, severity, message, data) = (.tlsFailed, .error, text, [])
        case .tlsKeysMissing(nil, _):
            (kind, severity, data) = (.tlsKeysMissing, .info, [])
            message = "no keys can be chosen for this TLS connection: its ClientHello was not captured"
        case .tlsKeysMissing(let random?, nil):
            (kind, severity) = (.tlsKeysMissing, .info)
            message = "no keys for this TLS connection; its client random is \(random) (--key-log)"
            data = [Field("clientRandom", .text(random))]
        case .tlsKeysMissing(let random?, let label?):
            (kind, severity) = (.tlsKeysMissing, .warning)
            let what = label.contains("EARLY") ? "the \(sender)'s early data" : "what the \(sender) sent"
            message = "no \(label): \(what) is not decrypted; the client random is \(random) (--key-log)"
            data = [Field("clientRandom", .text(random)), Field("label", .text(label))]
        default: return
        }
        findings.append(
            Finding(
                kind: kind, severity: severity, connection: connection.number, format: connection.known?.format.name,
                from: packet.direction, time: packet.time, message: message, data: data))
    }
}
