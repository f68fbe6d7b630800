import NIOCore
import Streams
import TLS

/// Follows the handshake on a socket, to learn what TLS itself does not report: the cipher suite, and what the server requested.
final class HandshakeWatch {
    private let proxySends: Direction
    private var connection = TLSConnection()
    private let events = Events()
    private var keys = KeyLog()
    private var isOver = false
    /// Whether what is encrypted of the handshake is read as it comes: on the client's socket only a failure makes it interesting.
    private let decrypts: Bool
    private var kept: [(buffer: ByteBuffer, direction: Direction)] = []
    private var keptBytes = 0
    /// How much is kept of a handshake.
    private static let limit = 128 << 10

    /// What the server negotiated.
    var negotiation: Negotiation? { events.negotiation }
    /// Whether the server requested a certificate.
    var requestsCertificate: Bool { events.requestsCertificate }
    /// The server's own certificate, in DER.
    var certificate: [UInt8]? { events.certificate }

    /// The fatal alert that the socket's other end sent.
    var alert: Alert? { (decrypts ? events : decrypted()).alerts[proxySends.opposite] }

    /// - Parameter leg: the socket: on the client's, the proxy is the server.
    init(on leg: TLSRequest.Leg) {
        decrypts = leg == .server
        proxySends = leg == .client ? .fromServer : .fromClient
    }

    /// How many records and bytes each side has sent.
    func counts(from direction: Direction) -> TLSFacts.Handshake {
        let counts = connection.counts(from: direction)
        return TLSFacts.Handshake(records: counts.records, bytes: counts.wireBytes)
    }

    /// Secrets became known, as lines of a key log.
    func learned(_ lines: [UInt8]) { if !isOver { _ = keys.add(lines.span.bytes) } }

    /// The socket's other end sent bytes.
    func received(_ buffer: ByteBuffer) { take(buffer, from: proxySends.opposite) }

    /// The proxy sent bytes.
    func sent(_ buffer: ByteBuffer) { take(buffer, from: proxySends) }

    /// The handshake is over: nothing more is followed.
    func end() { (isOver, kept) = (true, []) }

    private func take(_ buffer: ByteBuffer, from direction: Direction) {
        guard !isOver else { return }
        let keys = decrypts ? keys : KeyLog()
        buffer.withUnsafeReadableBytes { connection.receive($0.bytes, from: direction, keys: keys, into: events) }
        keptBytes += buffer.readableBytes
        if !decrypts, keptBytes <= Self.limit { kept.append((buffer, direction)) }
    }

    /// What the handshake so far is with its secrets.
    private func decrypted() -> Events {
        let events = Events()
        var connection = TLSConnection()
        for (buffer, direction) in kept {
            buffer.withUnsafeReadableBytes { connection.receive($0.bytes, from: direction, keys: keys, into: events) }
        }
        return events
    }

    private final class Events: TLSReceiver {
        var negotiation: Negotiation?
        var requestsCertificate = false
        var certificate: [UInt8]?
        var alerts = PerDirection<Alert?>(fromClient: nil, fromServer: nil)

        func plaintext(_ bytes: RawSpan, from direction: Direction) {}
        func lost(plaintextBytes: Int, isExact: Bool, records: Int, from direction: Direction) {}

        func event(_ event: TLSEvent, from direction: Direction) {
            switch event {
            case .negotiated(let result): negotiation = result
            case .alert(let alert, _): if alert.isFatal, !alert.isCloseNotify { alerts[direction] = alert }
            case .certificateRequested: requestsCertificate = true
            case .certificate(let chain): if direction == .fromServer { certificate = chain.first }
            default: break
            }
        }
    }
}
