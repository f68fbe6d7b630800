import Foundation
import Streams
import TLS
import Testing

/// Bytes that were not captured cost their records; everything else is delivered where it belongs.
struct GapTests {
    private static let chats = ["chat-tls13", "chat-tls12-gcm", "chat-tls12-ccm", "chat-tls12-cbc", "chat-tls10-cbc"]

    /// Random segments are dropped: what is delivered is plaintext of the right place, and what is lost is counted.
    @Test(arguments: Recording.names)
    func `dropped segments never give wrong plaintext`(name: String) throws {
        let recording = try Recording(name)
        let seed = UInt64.random(in: 0 ... .max)
        var random = Random(seed)
        for (number, steps) in recording.connections.enumerated() {
            let whole = run(steps, recording.keys).log
            for _ in 0..<8 {
                let recut = recut(steps, &random, longest: 400)
                let dropped = recut.map { step -> Step in
                    guard case .bytes(let bytes, let direction) = step, Int.random(in: 0..<20, using: &random) == 0
                    else { return step }
                    return .missing(bytes.count, direction)
                }
                let log = run(dropped, recording.keys).log
                for direction in Direction.allCases {
                    // Early data is delivered if the answer to it is lost; a renegotiation that is lost counts as data.
                    let isAmbiguous = name.contains("refused") || name.contains("renego") || name.contains("rehand")
                    #expect(
                        isPart(log, of: whole, direction, checksPositions: !isAmbiguous),
                        "seed \(seed), connection \(number), \(direction)")
                }
            }
        }
    }

    /// With AEAD and no padding it is known how much is lost: plaintext and losses add up to the whole.
    @Test(arguments: ["chat-tls13", "chat-tls12-gcm", "chat-tls12-ccm"])
    func `exact losses add up`(name: String) throws {
        let recording = try Recording(name)
        let seed = UInt64.random(in: 0 ... .max)
        var random = Random(seed)
        let whole = run(recording.connections[0], recording.keys).log
        for direction in Direction.allCases {
            // Before its first application data a server sends tickets: then losses are estimates.
            let offset = try #require(applicationDataOffset(whole, direction))
            let stream = recording.stream(direction)
            let first = try #require(records(stream).first { $0.lowerBound > offset }?.lowerBound)
            for _ in 0..<40 {
                let length = recording.stream(direction).count
                // The last record is close_notify: it has to be there.
                let start = Int.random(in: first..<length - 200, using: &random)
                let end = Int.random(in: start + 1...min(start + 700, length - 60), using: &random)
                let log = run(gap(recording, direction, start..<end), recording.keys).log
                #expect(
                    filled(log, direction) == whole.text(direction).count,
                    "seed \(seed), \(direction) \(start)..<\(end)")
                let losses = log.entries[direction].compactMap { entry -> Bool? in
                    if case .lost(_, let isExact, _) = entry { isExact } else { nil }
                }
                #expect(losses == [true])
                #expect(log.failures.isEmpty)
            }
        }
    }

    /// Without the secrets of one direction, or its last one, what it sent is lost, and the other one is decrypted.
    @Test(arguments: Direction.allCases, ["", "TRAFFIC_SECRET_0"])
    func `a direction without its secret is lost`(direction: Direction, secret: String) throws {
        let recording = try Recording("chat-tls13")
        let whole = run(recording.connections[0], recording.keys).log
        let label = (direction == .fromClient ? "CLIENT_" : "SERVER_") + secret
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "fixtures/tls/chat-tls13.keys")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        let text = Array(lines.filter { !$0.hasPrefix(label) }.joined(separator: "\n").utf8)
        var keys = KeyLog()
        #expect(keys.add(text.span.bytes).isEmpty && keys.endText().isEmpty)
        let log = run(recording.connections[0], keys).log
        #expect(log.text(direction.opposite) == whole.text(direction.opposite))
        let sent = whole.text(direction).count
        // Alerts and session tickets look like data; without any secret, so does the handshake.
        let most = secret.isEmpty ? recording.stream(direction).count : sent + 1_000
        #expect(log.text(direction).isEmpty && (sent * 9 / 10...most).contains(filled(log, direction)))
        let missing = log.events(direction).filter { if case .keysMissing = $0 { true } else { false } }
        #expect(missing.count == 1)
    }

    /// What the handshake loses is no plaintext, and costs none, in either direction.
    @Test(arguments: ["chat-tls13", "tls13-clientcert"])
    func `a gap in the handshake of TLS 1.3`(name: String) throws {
        let recording = try Recording(name)
        let whole = run(recording.connections[0], recording.keys).log
        let client = recording.stream(.fromClient)
        let finished = try #require(applicationDataOffset(whole, .fromClient))
        // The server's flight ends where the client speaks again.
        var (flight, isAnswering) = (0, false)
        for case .bytes(let bytes, let direction) in recording.connections[0] {
            if direction == .fromServer { (flight, isAnswering) = (flight + bytes.count, true) }
            if direction == .fromClient, isAnswering { break }
        }
        let seed = UInt64.random(in: 0 ... .max)
        var random = Random(seed)
        for (direction, range) in [
            (Direction.fromServer, 0..<flight), (Direction.fromClient, records(client)[0].upperBound..<finished),
        ] {
            for _ in 0..<40 {
                let start = Int.random(in: range, using: &random)
                let missing = start..<Int.random(in: start + 1...range.upperBound, using: &random)
                let log = run(gap(recording, direction, missing), recording.keys).log
                for side in Direction.allCases {
                    #expect(log.text(side) == whole.text(side), "seed \(seed), \(direction) \(missing)")
                    #expect(
                        filled(log, side) == whole.text(side).count, "seed \(seed), \(direction) \(missing), \(side)")
                }
            }
        }
    }

    /// Short records: more than 64 of them may be lost at once.
    @Test func `a gap of 100 records`() throws {
        let conversation = try SealedConversation(records: 160, length: 40)
        let log = run(conversation.steps(missing: 20..<120), conversation.keys).log
        #expect(plaintexts(log, .fromClient).count == 60)
        #expect(log.entries.fromClient.contains(.lost(4_000, isExact: true, records: 100)))
        #expect(log.failures.isEmpty)
    }

    /// Long ones: the bytes that are missing tell how many they are at least.
    @Test func `a gap of a megabyte`() throws {
        let conversation = try SealedConversation(records: 80, length: 16_384)
        let log = run(conversation.steps(missing: 5..<75), conversation.keys).log
        #expect(plaintexts(log, .fromClient).count == 10)
        #expect(log.entries.fromClient.contains(.lost(70 * 16_384, isExact: true, records: 70)))
    }

    /// One missing byte costs one record, wherever in the record it is.
    @Test(arguments: chats)
    func `one byte costs at most the records it is part of`(name: String) throws {
        let recording = try Recording(name)
        let whole = run(recording.connections[0], recording.keys).log
        for direction in Direction.allCases {
            let chunks = plaintexts(whole, direction)
            let first = try #require(applicationDataOffset(whole, direction))
            for at in stride(from: first, to: recording.stream(direction).count - 100, by: 61) {
                let log = run(gap(recording, direction, at..<at + 1), recording.keys).log
                // A byte of a header hides where the next record begins, and TLS 1.0 needs the block before it.
                let count = plaintexts(log, direction).count
                #expect(count >= chunks.count - 2, "\(direction) \(at)")
                #expect(log.failures.isEmpty)
            }
        }
    }

    /// In TLS 1.0 with encrypt-then-MAC the next record is not decrypted either, but tells its number.
    @Test(arguments: chats)
    func `a whole record costs at most itself and the next one`(name: String) throws {
        let recording = try Recording(name)
        let whole = run(recording.connections[0], recording.keys).log
        for direction in Direction.allCases {
            let count = plaintexts(whole, direction).count
            let first = try #require(applicationDataOffset(whole, direction))
            for record in records(recording.stream(direction)) where record.lowerBound >= first {
                let log = run(gap(recording, direction, record), recording.keys).log
                #expect(plaintexts(log, direction).count >= count - 2, "\(direction) \(record)")
                #expect(log.failures.isEmpty, "\(direction) \(record)")
            }
        }
    }

    /// The KeyUpdate itself is lost: the next generation of keys is tried.
    @Test func `a lost KeyUpdate is made up for`() throws {
        let recording = try Recording("tls13-keyupdate-both")
        let whole = run(recording.connections[0], recording.keys).log
        for direction in Direction.allCases {
            for record in records(recording.stream(direction)) where record.count == 5 + 5 + 17 {
                // A KeyUpdate has five bytes: so long are its records.
                for range in [record, record.lowerBound + 7..<record.lowerBound + 8] {
                    let log = run(gap(recording, direction, range), recording.keys).log
                    #expect(plaintexts(log, direction).count >= plaintexts(whole, direction).count - 1)
                    #expect(log.text(direction.opposite) == whole.text(direction.opposite))
                    #expect(log.failures.isEmpty)
                }
            }
        }
    }

    /// In TLS 1.3 the offered suites are tried.
    @Test(arguments: [
        "chat-tls13", "tls13-TLS_CHACHA20_POLY1305_SHA256", "tls13-TLS_AES_128_CCM_8_SHA256", "tls13-hrr", "tls13-psk",
    ])
    func `a lost ServerHello of TLS 1.3`(name: String) throws {
        let recording = try Recording(name)
        let whole = run(recording.connections[0], recording.keys).log
        for range in [0..<90, 3..<100] {
            let log = run(gap(recording, .fromServer, range), recording.keys).log
            #expect(log.text(.fromClient) == whole.text(.fromClient))
            #expect(log.text(.fromServer) == whole.text(.fromServer))
            #expect(log.negotiations.map(\.cipherSuite) == whole.negotiations.map(\.cipherSuite))
        }
    }

    @Test func `a lost ServerHello of TLS 1.2 is said`() throws {
        let recording = try Recording("chat-tls12-gcm")
        let log = run(gap(recording, .fromServer, 20..<40), recording.keys).log
        #expect(log.text(.fromClient).isEmpty && log.text(.fromServer).isEmpty)
        #expect(log.allEvents.contains(.unsupported("without its ServerHello nothing is decrypted")))
    }

    /// Certificates in clear are long: what comes after them is decrypted all the same.
    @Test func `a gap in the handshake of TLS 1.2`() throws {
        let recording = try Recording("chat-tls12-gcm")
        let whole = run(recording.connections[0], recording.keys).log
        for range in [300..<301, 100..<700] {
            let log = run(gap(recording, .fromServer, range), recording.keys).log
            #expect(log.text(.fromClient) == whole.text(.fromClient))
            #expect(log.text(.fromServer) == whole.text(.fromServer))
        }
    }

    @Test func `without a ClientHello nothing is decrypted`() throws {
        for name in ["chat-tls13", "chat-tls12-gcm"] {
            let recording = try Recording(name)
            for range in [0..<1, 0..<50, 100..<120] {
                let log = run(gap(recording, .fromClient, range), recording.keys).log
                #expect(log.text(.fromClient).isEmpty && log.text(.fromServer).isEmpty)
                #expect(log.events(.fromClient).filter { $0 == .withoutHello }.count == 1)
            }
        }
    }

    @Test func `a connection picked up in the middle`() throws {
        let recording = try Recording("chat-tls13")
        let steps: [Step] = Direction.allCases.map { direction in
            let start = records(recording.stream(direction)).last { $0.lowerBound < 2_000 }?.lowerBound ?? 0
            return .bytes(Array(recording.stream(direction)[start...]), direction)
        }
        let log = run(steps + Recording.ends, recording.keys).log
        #expect(log.allEvents == [.withoutHello])
    }
}
