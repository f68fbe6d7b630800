import Streams
import TLS
import Testing

/// The last record of a direction is lost but for its header, which tells its length.
struct LossAtTheEndTests {
    /// What it had in TLS 1.3 is hidden: padding, or something else than application data (RFC 8446 section 5.4).
    @Test func `in TLS 1.3 the number of lost bytes is an estimate`() throws {
        let conversation = try SealedConversation(records: 2, length: 100)
        var steps = conversation.steps(missing: 1..<1)
        guard case .bytes(let record, .fromClient)? = steps.popLast() else {
            Issue.record("no record")
            return
        }
        steps += [
            .bytes(Array(record.prefix(20)), .fromClient), .missing(record.count - 20, .fromClient),
            .finish(.fromClient),
        ]
        let log = run(steps, conversation.keys).log
        #expect(plaintexts(log, .fromClient).count == 1)
        #expect(log.entries.fromClient.filter(\.isLoss) == [.lost(100, isExact: false, records: 1)])
    }

    @Test(arguments: ["chat-tls12-gcm", "chat-tls12-ccm"])
    func `in TLS 1.2 it is exact`(name: String) throws {
        let recording = try Recording(name)
        let whole = run(recording.connections[0], recording.keys).log
        let offset = try #require(applicationDataOffset(whole, .fromClient))
        let count = try #require(plaintexts(whole, .fromClient).first).count
        let client = recording.stream(.fromClient)
        let record = try #require(records(client).first { $0.lowerBound == offset })
        let log = run(
            [
                .bytes(Array(client[..<(offset + 20)]), .fromClient),
                .bytes(recording.stream(.fromServer), .fromServer), .missing(record.count - 20, .fromClient),
                .finish(.fromClient),
            ], recording.keys
        ).log
        #expect(log.text(.fromClient).isEmpty)
        #expect(log.entries.fromClient.filter(\.isLoss) == [.lost(count, isExact: true, records: 1)])
    }
}
