import Streams
import TLS
import Testing

/// Conversations of real programs, decrypted: the same bytes as tshark's.
struct RecordingTests {
    @Test(arguments: Recording.names)
    func `decrypts as tshark does`(name: String) throws {
        let recording = try Recording(name)
        let expected = try Recording.expected(name)
        #expect(recording.connections.count == expected.count)
        for (steps, expected) in zip(recording.connections, expected) {
            let log = run(steps, recording.keys).log
            #expect(log.text(.fromClient) == expected.fromClient)
            #expect(log.text(.fromServer) == expected.fromServer)
            #expect(log.failures.isEmpty)
            #expect(
                log.entries.fromClient.allSatisfy { !$0.isLoss } && log.entries.fromServer.allSatisfy { !$0.isLoss })
        }
    }

    @Test(arguments: Recording.names)
    func `segmentation changes nothing`(name: String) throws {
        let recording = try Recording(name)
        let seed = UInt64.random(in: 0 ... .max)
        var random = Random(seed)
        for steps in recording.connections {
            let whole = run(steps, recording.keys).log.calls
            for longest in [1, 7, 300] {
                let cut = run(recut(steps, &random, longest: longest), recording.keys).log.calls
                #expect(cut == whole, "seed \(seed), pieces of up to \(longest)")
            }
        }
    }

    /// Captures may have one side's packets before the other's that came first.
    @Test(arguments: Recording.names)
    func `either direction may run ahead`(name: String) throws {
        let recording = try Recording(name)
        for (number, steps) in recording.connections.enumerated() {
            let interleaved = run(steps, recording.keys).log
            let client = Step.bytes(recording.stream(.fromClient, of: number), .fromClient)
            let server = Step.bytes(recording.stream(.fromServer, of: number), .fromServer)
            let seed = UInt64.random(in: 0 ... .max)
            var random = Random(seed)
            let shuffled = (0..<5).map { _ in shuffle(steps, &random) }
            for order in [[client, server], [server, client]] + shuffled {
                let (log, connection) = run(order + Recording.ends, recording.keys)
                #expect(log.text(.fromClient) == interleaved.text(.fromClient), "seed \(seed)")
                #expect(log.text(.fromServer) == interleaved.text(.fromServer), "seed \(seed)")
                #expect(log.negotiations == interleaved.negotiations, "seed \(seed)")
                #expect(log.failures.isEmpty, "seed \(seed)")
                #expect(connection.heldBytes == 0)
            }
        }
    }

    @Test(arguments: Recording.names)
    func `without keys nothing is decrypted, and that is said once`(name: String) throws {
        let recording = try Recording(name)
        for steps in recording.connections {
            let log = run(steps, KeyLog()).log
            #expect(log.text(.fromClient).isEmpty && log.text(.fromServer).isEmpty)
            #expect(log.failures.isEmpty)
            let missing = log.allEvents.filter { if case .keysMissing = $0 { true } else { false } }
            #expect(missing.count <= 1)
        }
    }

    @Test(arguments: Recording.names)
    func `counts cover the streams`(name: String) throws {
        let recording = try Recording(name)
        for (number, steps) in recording.connections.enumerated() {
            let (log, connection) = run(steps, recording.keys)
            for direction in Direction.allCases {
                let counts = connection.counts(from: direction)
                #expect(counts.wireBytes == recording.stream(direction, of: number).count)
                #expect(counts.plaintextBytes == log.text(direction).count)
            }
        }
    }
}

extension TLSLog.Entry {
    var isLoss: Bool { if case .lost = self { true } else { false } }
}
