import Streams
import TLS
import Testing

/// Bytes that no TLS program sends, and those that something damaged.
struct HostileTests {
    /// A changed bit is noticed, and costs records; no plaintext is ever other than what was sent.
    @Test(arguments: Recording.names)
    func `bit flips never give wrong plaintext`(name: String) throws {
        let recording = try Recording(name)
        let seed = UInt64.random(in: 0 ... .max)
        var random = Random(seed)
        for (number, steps) in recording.connections.enumerated() {
            let whole = run(steps, recording.keys).log
            for _ in 0..<8 {
                var steps = steps
                let at = Int.random(in: steps.indices, using: &random)
                guard case .bytes(var bytes, let direction) = steps[at] else { continue }
                let byte = Int.random(in: bytes.indices, using: &random)
                bytes[byte] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                steps[at] = .bytes(bytes, direction)
                let log = run(steps, recording.keys).log
                for direction in Direction.allCases {
                    #expect(
                        isPart(log, of: whole, direction, checksPositions: false),
                        "seed \(seed), connection \(number), step \(at), byte \(byte)")
                }
            }
        }
    }

    @Test(arguments: ["chat-tls13", "chat-tls12-gcm", "chat-tls12-ccm", "chat-tls12-cbc", "chat-tls10-cbc"])
    func `a damaged record is reported, and costs only itself`(name: String) throws {
        let recording = try Recording(name)
        let whole = run(recording.connections[0], recording.keys).log
        let offset = try #require(applicationDataOffset(whole, .fromClient))
        var stream = recording.stream(.fromClient)
        let record = try #require(records(stream).filter { $0.lowerBound > offset }.dropFirst(3).first)
        stream[record.lowerBound + 12] ^= 0x40
        let server = Step.bytes(recording.stream(.fromServer), .fromServer)
        let log = run([.bytes(stream, .fromClient), server] + Recording.ends, recording.keys).log
        #expect(log.failures.map(\.offset) == [record.lowerBound])
        #expect(log.failures.map(\.reason) == ["the record's tag or MAC is wrong"])
        // In TLS 1.0 the next record's IV is damaged only if the last block is.
        #expect(plaintexts(log, .fromClient).count >= plaintexts(whole, .fromClient).count - 1)
        #expect(log.text(.fromServer) == whole.text(.fromServer))
    }

    /// With encrypt-then-MAC no MAC covers the IV, which in TLS 1.0 is the end of the record before.
    @Test func `the end of a damaged record is no IV`() throws {
        let recording = try Recording("chat-tls10-cbc")
        let whole = plaintexts(run(recording.connections[0], recording.keys).log, .fromClient)
        let stream = recording.stream(.fromClient)
        let server = Step.bytes(recording.stream(.fromServer), .fromServer)
        for record in records(stream).dropFirst(5).dropLast(2) {
            var damaged = stream
            damaged[record.upperBound - 25] ^= 1
            let log = run([.bytes(damaged, .fromClient), server] + Recording.ends, recording.keys).log
            #expect(log.failures.map(\.offset) == [record.lowerBound])
            let rest = plaintexts(log, .fromClient)
            #expect(rest.allSatisfy { whole.contains($0) } && rest.count >= whole.count - 2)
        }
    }

    @Test(arguments: ["chat-tls13", "chat-tls12-gcm", "chat-tls12-cbc"])
    func `wrong keys are reported by client random`(name: String) throws {
        let recording = try Recording(name)
        let whole = run(recording.connections[0], recording.keys).log
        guard case .clientHello(let hello)? = whole.events(.fromClient).first else { return }
        var wrong = KeyLog()
        for label in KeyLogLabel.allCases {
            guard let secret = recording.keys.secret(label, for: hello.random) else { continue }
            try wrong.add(#require(KeyLogLine(label, hello.random, secret.map { $0 ^ 1 })))
        }
        let log = run(recording.connections[0], wrong).log
        #expect(log.text(.fromClient).isEmpty && log.text(.fromServer).isEmpty)
        #expect(log.failures.map(\.clientRandom) == [hello.random, hello.random])
        for direction in Direction.allCases { #expect(log.entries[direction].contains { $0.isLoss }) }
    }

    @Test func `random bytes do not crash, and little is kept`() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = Random(seed)
        for round in 0..<300 {
            let log = TLSLog()
            var connection = TLSConnection()
            for _ in 0..<20 {
                let direction = Bool.random(using: &random) ? Direction.fromClient : .fromServer
                var bytes = (0..<Int.random(in: 0..<300, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                // Mostly with a plausible header, else nothing gets far.
                if round % 3 > 0 {
                    let type = UInt8.random(in: 20...23, using: &random)
                    bytes = [type, 3, 3, UInt8(bytes.count >> 8), UInt8(bytes.count & 255)] + bytes
                }
                if Int.random(in: 0..<10, using: &random) == 0 {
                    connection.missing(
                        Int.random(in: 1..<5_000, using: &random), from: direction, keys: KeyLog(), into: log)
                } else {
                    connection.receive(bytes.span.bytes, from: direction, keys: KeyLog(), into: log)
                }
            }
            for direction in Direction.allCases { connection.finish(from: direction, keys: KeyLog(), into: log) }
            #expect(log.text(.fromClient).isEmpty && log.text(.fromServer).isEmpty, "seed \(seed)")
        }
    }

    /// Neither a client nor a server that runs ahead for ever can make it hold more than it says.
    @Test(arguments: [
        ("chat-tls13", Direction.fromClient), ("chat-tls12-gcm", .fromClient), ("chat-tls13", .fromServer),
    ])
    func `what is held is bounded`(name: String, direction: Direction) throws {
        let recording = try Recording(name)
        let log = TLSLog()
        var connection = TLSConnection()
        connection.receive(recording.stream(direction).span.bytes, from: direction, keys: recording.keys, into: log)
        let record: [UInt8] = [23, 3, 3, 4, 0] + [UInt8](repeating: 1, count: 1_024)
        var most = 0
        for _ in 0..<600 {
            connection.receive(record.span.bytes, from: direction, keys: recording.keys, into: log)
            most = max(most, connection.heldBytes)
        }
        #expect(most > 200 << 10 && most < 260 << 10)
        #expect(connection.heldBytes < 20 << 10)
    }

    /// A gap before every byte makes a piece of each.
    @Test func `gaps while waiting are bounded, too`() throws {
        let recording = try Recording("chat-tls13")
        let log = TLSLog()
        var connection = TLSConnection()
        connection.receive(recording.stream(.fromClient).span.bytes, from: .fromClient, keys: recording.keys, into: log)
        for _ in 0..<5_000 {
            connection.missing(1, from: .fromClient, keys: recording.keys, into: log)
            connection.receive([7].span.bytes, from: .fromClient, keys: recording.keys, into: log)
        }
        #expect(connection.heldBytes < 20 << 10)
    }

    @Test func `after a gap, little is kept of what is no TLS`() throws {
        let recording = try Recording("chat-tls13")
        let log = TLSLog()
        var connection = TLSConnection()
        for direction in Direction.allCases {
            connection.receive(recording.stream(direction).span.bytes, from: direction, keys: recording.keys, into: log)
        }
        connection.missing(10, from: .fromClient, keys: recording.keys, into: log)
        let nothing = [UInt8](repeating: 0, count: 1_000)
        for _ in 0..<200 { connection.receive(nothing.span.bytes, from: .fromClient, keys: recording.keys, into: log) }
        #expect(connection.heldBytes < 20 << 10)
    }

    /// The framing is lost after every other record: neither the stack nor what is copied grows with each of them.
    @Test(.timeLimit(.minutes(2)), arguments: [(160_000, Int.max), (30_000, 1_000)])
    func `framing that is lost again and again`(count: Int, longest: Int) throws {
        let client = try Recording("chat-tls13").stream(.fromClient)
        let record: [UInt8] = [23, 3, 3, 0, 1, 5]
        // Held until that is given up, since no server answers: then all that was held is read at once.
        var stream = Array(client[records(client)[0]]) + record
        for _ in 0..<count { stream += record + record + [0] }
        let log = TLSLog()
        var connection = TLSConnection()
        var at = 0
        while at < stream.count {
            let end = longest < stream.count - at ? at + longest : stream.count
            let piece = Array(stream[at..<end])
            connection.receive(piece.span.bytes, from: .fromClient, keys: KeyLog(), into: log)
            at = end
        }
        #expect(connection.counts(from: .fromClient).records == 2 + 2 * count)
        #expect(connection.heldBytes < 20 << 10)
    }

    @Test func `streams that are no TLS are named`() {
        let log = run([.bytes(Array("SSH-2.0-OpenSSH_9.6\r\n".utf8), .fromClient)] + Recording.ends, KeyLog()).log
        #expect(log.allEvents == [.withoutHello, .unsupported("no record begins with 5353482d32")])
    }

    @Test func `an alert is suspected where a client without keys sends only that`() throws {
        let recording = try Recording("tls13-TLS_AES_128_GCM_SHA256")
        let client = recording.stream(.fromClient)
        let hello = Array(client[records(client)[0]])
        let alert: [UInt8] = [23, 3, 3, 0, 19] + [UInt8](repeating: 5, count: 19)
        let steps: [Step] = [
            .bytes(hello, .fromClient), .bytes(recording.stream(.fromServer), .fromServer), .bytes(alert, .fromClient),
        ]
        #expect(run(steps + Recording.ends, KeyLog()).log.events(.fromClient).last == .alertSuspected)
        let more = steps + [.bytes(alert, .fromClient)] + Recording.ends
        #expect(!run(more, KeyLog()).log.events(.fromClient).contains(.alertSuspected))
    }

    @Test func `an end within a record`() throws {
        let recording = try Recording("chat-tls12-gcm")
        let client = recording.stream(.fromClient)
        let last = try #require(records(client).dropLast(2).last)
        let steps: [Step] = [
            .bytes(Array(client[..<(last.lowerBound + 30)]), .fromClient),
            .bytes(recording.stream(.fromServer), .fromServer),
        ]
        let log = run(steps + Recording.ends, recording.keys).log
        #expect(log.events(.fromClient).last == .truncated(.withinRecord(received: 30, length: last.count)))

        // Where only the capture ends, nothing is truncated.
        let other = TLSLog()
        var connection = TLSConnection()
        for case .bytes(let bytes, let direction) in steps {
            connection.receive(bytes.span.bytes, from: direction, keys: recording.keys, into: other)
        }
        connection.finish(from: .fromClient, hasEnded: false, keys: recording.keys, into: other)
        #expect(other.text(.fromClient) == log.text(.fromClient))
        #expect(!other.events(.fromClient).contains { if case .truncated = $0 { true } else { false } })
    }
}
