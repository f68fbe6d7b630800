import Streams
import TLS
import Testing

/// Keys of TLS 1.2 that are logged after the change to them, as the client's Finished comes.
struct LateKeysAfterLossTests {
    /// What is reported if its keys are known from Finished on, or from the record after it if Finished is lost.
    private func log(_ recording: Recording, losesFinished: Bool) throws -> TLSLog {
        let (client, server) = (recording.stream(.fromClient), recording.stream(.fromServer))
        let all = records(client)
        let change = try #require(all.firstIndex { client[$0.lowerBound] == 20 })
        let finished = try #require(all.dropFirst(change + 1).first)
        let answer = try #require(records(server).first { server[$0.lowerBound] == 20 }).lowerBound
        let log = TLSLog()
        var connection = TLSConnection()
        for (bytes, direction) in [
            (client[all[0]], Direction.fromClient), (server[..<answer], .fromServer),
            (client[all[0].upperBound..<finished.lowerBound], .fromClient),
        ] {
            connection.receive(Array(bytes).span.bytes, from: direction, keys: KeyLog(), into: log)
        }
        if losesFinished {
            connection.missing(finished.count, from: .fromClient, keys: recording.keys, into: log)
        }
        let rest = Array(client[(losesFinished ? finished.upperBound : finished.lowerBound)...])
        connection.receive(rest.span.bytes, from: .fromClient, keys: recording.keys, into: log)
        return log
    }

    @Test(arguments: ["chat-tls12-gcm", "chat-tls12-ccm", "chat-tls12-cbc"])
    func `are used from the first record on`(name: String) throws {
        let recording = try Recording(name)
        let whole = run(recording.connections[0], recording.keys).log
        let log = try log(recording, losesFinished: false)
        #expect(!log.text(.fromClient).isEmpty && log.text(.fromClient) == whole.text(.fromClient))
        #expect(log.failures.isEmpty)
    }

    /// The number of the next record is not known then: that it cannot be opened is no fault of the sender.
    @Test(arguments: ["chat-tls12-gcm", "chat-tls12-ccm", "chat-tls12-cbc"])
    func `are not used for other records than the first`(name: String) throws {
        let recording = try Recording(name)
        let log = try log(recording, losesFinished: true)
        #expect(log.failures.isEmpty)
        #expect(log.events(.fromClient).contains { if case .keysMissing = $0 { true } else { false } })
    }
}
