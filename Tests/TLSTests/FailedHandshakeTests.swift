import Streams
import TLS
import Testing

/// Handshakes that end with a fatal alert.
struct FailedHandshakeTests {
    /// Nobody answers it with close_notify (RFC 8446 section 6.2): that nothing follows is no attack.
    @Test func `a fatal alert ends both directions`() throws {
        let recording = try Recording("tls12-unknown-ca")
        let steps = recording.connections[0]
        let log = run(steps, recording.keys).log
        #expect(log.events(.fromClient).contains(.alert(Alert(level: 2, code: 48), isEncrypted: false)))
        #expect(!log.allEvents.contains { if case .truncated = $0 { true } else { false } })
        // Without the alert it may be one.
        let silent = steps.filter { $0 != .bytes([21, 3, 3, 0, 2, 2, 48], .fromClient) }
        #expect(silent.count == steps.count - 1)
        #expect(run(silent, recording.keys).log.events(.fromServer).contains(.truncated(.withoutCloseNotify)))
    }
}
