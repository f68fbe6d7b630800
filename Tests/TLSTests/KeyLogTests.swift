import Streams
import TLS
import Testing

/// NSS key logs.
struct KeyLogTests {
    private let random = String(repeating: "0a", count: 32)
    private let secret32 = String(repeating: "1b", count: 32)
    private let secret48 = String(repeating: "2C", count: 48)

    private func add(_ text: String, to log: inout KeyLog) -> [KeyLog.MalformedLine] {
        log.add(Array(text.utf8).span.bytes)
    }

    private func client() throws -> ClientRandom { try #require(ClientRandom([UInt8](repeating: 10, count: 32))) }

    @Test func `secrets are found by client random`() throws {
        var log = KeyLog()
        let text = """
            # a comment\r
            CLIENT_RANDOM \(random) \(secret48)\r

            CLIENT_TRAFFIC_SECRET_0 \(random) \(secret32)
            SERVER_HANDSHAKE_TRAFFIC_SECRET \(random) \(secret48)
            EXPORTER_SECRET \(random) \(secret32)
            SOMETHING_NEW 1 2 3 4

            """
        #expect(add(text, to: &log) == [])
        #expect(log.count == 1)
        #expect(log.secret(.clientRandom, for: try client()) == [UInt8](repeating: 0x2c, count: 48))
        #expect(log.secret(.clientTrafficSecret0, for: try client()) == [UInt8](repeating: 0x1b, count: 32))
        #expect(log.secret(.serverHandshakeTrafficSecret, for: try client())?.count == 48)
        #expect(log.secret(.serverTrafficSecret0, for: try client()) == nil)
        let other = try #require(ClientRandom([UInt8](repeating: 11, count: 32)))
        #expect(!log.hasSecrets(for: other))
        #expect(log.hasSecrets(for: try client()))
    }

    @Test func `a byte order mark is no part of a line`() throws {
        var log = KeyLog()
        #expect(add("\u{feff}CLIENT_RANDOM \(random) \(secret48)\n", to: &log) == [])
        #expect(log.hasSecrets(for: try client()))
    }

    @Test func `malformed lines are numbered`() {
        var log = KeyLog()
        let lines = [
            "CLIENT_RANDOM \(random) \(secret32)", "CLIENT_TRAFFIC_SECRET_0 \(random) 1b", "CLIENT_RANDOM \(random)",
            "CLIENT_RANDOM 0a \(secret48)", "CLIENT_RANDOM \(random) \(secret48)z", "hello", "CLIENT_RANDOM",
            String(repeating: "A", count: 1_025), "RSA Session-ID:zz Master-Key:\(secret48)", "RSA 0011 2233",
        ]
        let malformed = add(lines.map { $0 + "\n" }.joined(), to: &log)
        #expect(malformed.map(\.number) == Array(1...9))
        #expect(malformed[0].reason == "the secret of CLIENT_RANDOM has 32 bytes, not 48")
        #expect(malformed[7].reason == "it is longer than 1024 bytes")
        #expect(log.count == 0)
    }

    @Test func `a growing file may be cut anywhere`() throws {
        let text = Array(
            "# x\nCLIENT_RANDOM \(random) \(secret48)\nnonsense!\nCLIENT_TRAFFIC_SECRET_0 \(random) \(secret32)".utf8)
        for cut in 0...text.count {
            var log = KeyLog()
            let malformed =
                log.add(text.span.bytes.extracting(0..<cut)) + log.add(text.span.bytes.extracting(cut..<text.count))
            #expect(malformed.map(\.number) == [3])
            #expect(log.secret(.clientRandom, for: try client()) != nil)
            #expect(log.secret(.clientTrafficSecret0, for: try client()) == nil)
            #expect(log.endText() == [])
            #expect(log.secret(.clientTrafficSecret0, for: try client()) != nil)
        }
    }

    @Test func `a line that is written is read`() throws {
        let secret: [UInt8] = Array(0..<48)
        let line = try #require(KeyLogLine(.serverTrafficSecret0, try client(), secret))
        var log = KeyLog()
        #expect(add(line.text, to: &log) == [])
        #expect(log.secret(.serverTrafficSecret0, for: try client()) == secret)
        #expect(KeyLogLine(.clientRandom, try client(), [1, 2]) == nil)
    }

    /// Old OpenSSL programs log sessions by their ID.
    @Test func `sessions by ID`() throws {
        let recording = try Recording("tls12-session-id")
        guard case .negotiated? = run(recording.connections[0], recording.keys).log.events(.fromServer).first,
            let random = run(recording.connections[0], recording.keys).log.allEvents.lazy.compactMap({ event in
                if case .clientHello(let hello) = event { hello.random } else { nil }
            }).first, let secret = recording.keys.secret(.clientRandom, for: random)
        else {
            Issue.record("no handshake")
            return
        }
        // The ServerHello's session ID comes after its random.
        let hello = recording.stream(.fromServer)
        let id = hello[44..<44 + Int(hello[43])].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let key = secret.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        var log = KeyLog()
        #expect(add("RSA Session-ID:\(id) Master-Key:\(key)\n", to: &log) == [])
        let whole = run(recording.connections[0], recording.keys).log
        #expect(run(recording.connections[0], log).log.text(.fromServer) == whole.text(.fromServer))
    }
}
