import Streams
import TLS
import Testing

/// A key log that is still being written: secrets of the handshake come after the records that need them.
struct LateSecretsTests {
    /// Reports to a log, and has the key log as it is by now.
    private final class Follower: TLSReceiver {
        let log = TLSLog()
        var keys = KeyLog()

        func plaintext(_ bytes: RawSpan, from direction: Direction) { log.plaintext(bytes, from: direction) }

        func lost(plaintextBytes: Int, isExact: Bool, records: Int, from direction: Direction) {
            log.lost(plaintextBytes: plaintextBytes, isExact: isExact, records: records, from: direction)
        }

        func event(_ event: TLSEvent, from direction: Direction) { log.event(event, from: direction) }

        func moreKeys() -> KeyLog? { keys }
    }

    private func feed(_ steps: some Sequence<Step>, _ connection: inout TLSConnection, _ follower: Follower) {
        for step in steps {
            switch step {
            case .bytes(let bytes, let direction):
                connection.receive(bytes.span.bytes, from: direction, keys: KeyLog(), into: follower)
            case .missing(let count, let direction):
                connection.missing(count, from: direction, keys: KeyLog(), into: follower)
            case .finish(let direction): connection.finish(from: direction, keys: KeyLog(), into: follower)
            }
        }
    }

    /// Where a direction's first bytes are among the steps from `start` on.
    private func first(_ direction: Direction, in steps: [Step], from start: Int = 0) throws -> Int {
        let place = steps[start...].firstIndex { if case .bytes(_, direction) = $0 { true } else { false } }
        return try #require(place)
    }

    /// Where the server's flight begins, and where the client answers it.
    private func flight(_ steps: [Step]) throws -> Range<Int> {
        let start = try first(.fromServer, in: steps)
        let end = try first(.fromClient, in: steps, from: start)
        return start..<end
    }

    /// The server's secrets of a recording.
    private func serverKeys(_ recording: Recording) throws -> KeyLog {
        let events = run(recording.connections[0], recording.keys).log.events(.fromClient)
        guard case .clientHello(let hello)? = events.first else { return KeyLog() }
        var keys = KeyLog()
        for label in [KeyLogLabel.serverHandshakeTrafficSecret, .serverTrafficSecret0] {
            let secret = try #require(recording.keys.secret(label, for: hello.random))
            try keys.add(#require(KeyLogLine(label, hello.random, secret)))
        }
        return keys
    }

    /// A client logs them once it has read the ServerHello: the server's flight may have been captured by then.
    @Test(arguments: ["chat-tls13", "tls13-clientcert", "tls13-psk"])
    func `secrets that are there when the client answers`(name: String) throws {
        let recording = try Recording(name)
        let steps = recording.connections[0]
        let whole = run(steps, recording.keys).log
        let answer = try flight(steps).upperBound
        let follower = Follower()
        var connection = TLSConnection()
        feed(steps[..<answer], &connection, follower)
        #expect(connection.isHolding(from: .fromServer) && follower.log.entries.fromServer.isEmpty)
        follower.keys = recording.keys
        feed(steps[answer...], &connection, follower)
        #expect(follower.log.entries == whole.entries)
        #expect(connection.heldBytes == 0)
    }

    /// The ServerHello alone needs none; the last byte of the flight is enough to look again.
    @Test(arguments: [true, false]) func `secrets that come within the flight`(isAfterHello: Bool) throws {
        let recording = try Recording("chat-tls13")
        let steps = recording.connections[0]
        let whole = run(steps, recording.keys).log
        let start = try flight(steps).lowerBound
        guard case .bytes(let bytes, .fromServer) = steps[start] else { return }
        let follower = Follower()
        var connection = TLSConnection()
        let cut = isAfterHello ? records(bytes)[0].upperBound : bytes.count - 1
        feed(steps[..<start], &connection, follower)
        feed([Step.bytes(Array(bytes[..<cut]), .fromServer)], &connection, follower)
        #expect(connection.isHolding(from: .fromServer) == !isAfterHello)
        follower.keys = recording.keys
        feed([Step.bytes(Array(bytes[cut...]), .fromServer)], &connection, follower)
        #expect(!connection.isHolding(from: .fromServer))
        feed(steps[(start + 1)...], &connection, follower)
        #expect(follower.log.entries == whole.entries)
    }

    /// The client's Finished waits in the same way, until the server goes on.
    @Test func `the client's secrets`() throws {
        let recording = try Recording("chat-tls13")
        let steps = recording.connections[0]
        let whole = run(steps, recording.keys).log
        let answer = try flight(steps).upperBound
        let next = try first(.fromServer, in: steps, from: answer)
        let follower = Follower()
        var connection = TLSConnection()
        follower.keys = try serverKeys(recording)
        feed(steps[..<next], &connection, follower)
        #expect(connection.isHolding(from: .fromClient) && !connection.isHolding(from: .fromServer))
        follower.keys = recording.keys
        feed(steps[next...], &connection, follower)
        #expect(follower.log.entries == whole.entries)
    }

    /// What is not logged by then is missing, and reported as it is without a key log that grows.
    @Test(arguments: ["chat-tls13", "tls13-psk", "tls13-early-accepted"])
    func `secrets that never come`(name: String) throws {
        for steps in try Recording(name).connections {
            let answer = try flight(steps).upperBound
            let follower = Follower()
            var connection = TLSConnection()
            feed(steps[...answer], &connection, follower)
            #expect(!connection.isHolding(from: .fromServer))
            #expect(follower.log.allEvents.contains { if case .keysMissing = $0 { true } else { false } })
            feed(steps[(answer + 1)...], &connection, follower)
            #expect(follower.log.entries == run(steps, KeyLog()).log.entries)
            #expect(connection.heldBytes == 0)
        }
    }

    /// A server that goes on alone does not make it hold more than it says.
    @Test func `what is held for a secret is bounded`() throws {
        let steps = try Recording("chat-tls13").connections[0]
        let follower = Follower()
        var connection = TLSConnection()
        let answer = try flight(steps).upperBound
        feed(steps[..<answer], &connection, follower)
        let record: [UInt8] = [23, 3, 3, 4, 0] + [UInt8](repeating: 1, count: 1_024)
        var most = 0
        for _ in 0..<600 {
            feed([Step.bytes(record, .fromServer)], &connection, follower)
            most = max(most, connection.heldBytes)
        }
        #expect(most > 200 << 10 && most < 260 << 10)
        #expect(!connection.isHolding(from: .fromServer) && connection.heldBytes < 20 << 10)
        #expect(follower.log.events(.fromServer).contains { if case .keysMissing = $0 { true } else { false } })
    }
}
