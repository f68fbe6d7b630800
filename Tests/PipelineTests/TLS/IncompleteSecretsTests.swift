import Pipeline
import Streams
import Synchronization
import TLS
import Testing

/// Key logs from which lines are missing, or to which they are still being added.
@Suite struct IncompleteSecretsTests {
    /// Early data is application data: without its secret it is missing.
    @Test func earlyDataWithoutItsSecretIsMissing() throws {
        let capture = try TLSCapture("tls13-early-accepted")
        let label = "CLIENT_EARLY_TRAFFIC_SECRET"
        let result = capture.decrypted(capture.keyLog(without: label))
        let whole = capture.plaintext(.fromClient, of: 2)
        #expect(result.bytes(of: 2, from: .fromClient) == Array(whole.dropFirst(300)))
        #expect(result.missing(of: 2, from: .fromClient) == 300)
        #expect(result.missingLabels(of: 2) == [label] && result.faults(of: 2).isEmpty)
        #expect(result.facts(of: 2).map(\.decryption) == [.keys])
        // The first connection has no early data.
        #expect(result.bytes(of: 1, from: .fromClient) == capture.plaintext(.fromClient))
    }

    /// What one side sent is missing, the other's is decrypted.
    @Test(arguments: [
        ("chat-tls13", "SERVER_", Direction.fromServer), ("chat-tls13", "CLIENT_", .fromClient),
        ("tls13-psk", "SERVER_", .fromServer), ("tls13-psk", "CLIENT_", .fromClient),
        ("tls13-psk", "CLIENT_TRAFFIC_SECRET_0", .fromClient), ("tls13-psk", "SERVER_TRAFFIC_SECRET_0", .fromServer),
    ])
    func aSideWithoutSecretsIsMissing(name: String, lines: String, direction: Direction) throws {
        let capture = try TLSCapture(name)
        let result = capture.decrypted(capture.keyLog(without: lines))
        let label = direction == .fromClient ? "CLIENT_TRAFFIC_SECRET_0" : "SERVER_TRAFFIC_SECRET_0"
        #expect(result.missingLabels(of: 1) == [label])
        #expect(result.bytes(of: 1, from: direction.opposite) == capture.plaintext(direction.opposite))
        #expect(result.bytes(of: 1, from: direction).isEmpty && result.missing(of: 1, from: direction) > 200)
        #expect(result.facts(of: 1).map(\.decryption) == [.keys])
    }

    /// Keys that opened the handshake are right: a damaged record costs only itself.
    @Test func aDamagedFirstRecordCostsItself() throws {
        var capture = try TLSCapture("tls13-psk")
        let sent = capture.events.indices.filter { place in
            if case .received(1, .fromClient, _, _, _) = capture.events[place] { true } else { false }
        }
        // ClientHello, Finished, and the first data.
        let first = try #require(sent.dropFirst(2).first)
        guard case .received(let number, let direction, var bytes, let time, let packet) = capture.events[first] else {
            return
        }
        bytes[20] ^= 1
        capture.events[first] = .received(
            connection: number, from: direction, bytes: bytes, time: time, packet: packet)
        let result = capture.decrypted(capture.keyLog())
        let lost = "hello server\n".utf8.count
        #expect(result.bytes(of: 1, from: .fromClient) == Array(capture.plaintext(.fromClient).dropFirst(lost)))
        #expect(result.missing(of: 1, from: .fromClient) == lost)
        #expect(result.bytes(of: 1, from: .fromServer) == capture.plaintext(.fromServer))
        #expect(result.faults(of: 1).count == 1 && result.facts(of: 1).map(\.decryption) == [.keys])
    }

    /// A program logs the secrets of application data after those of the handshake, perhaps later than Finished is captured.
    @Test(arguments: [0, 1]) func secretsThatAreLoggedLaterAreFound(delay: Int) throws {
        let capture = try TLSCapture("chat-tls13")
        let (handshake, traffic) = (
            capture.secrets { $0.contains("HANDSHAKE") }, capture.secrets { $0.contains("_TRAFFIC_SECRET_0") }
        )
        let log = GrowingLog([handshake] + Array(repeating: [], count: delay) + [traffic])
        let result = capture.decrypted(KeyLog()) { log.next() }
        for direction in Direction.allCases {
            #expect(result.bytes(of: 1, from: direction) == capture.plaintext(direction))
            #expect(result.missing(of: 1, from: direction) == 0)
        }
        #expect(result.missingLabels(of: 1).isEmpty)
    }
}

/// A key log that gains its parts one after the other.
private final class GrowingLog: Sendable {
    private let parts: Mutex<[[UInt8]]>

    init(_ parts: [[UInt8]]) { self.parts = Mutex(parts) }

    /// What it has gained.
    func next() -> [UInt8] { parts.withLock { $0.isEmpty ? [] : $0.removeFirst() } }
}
