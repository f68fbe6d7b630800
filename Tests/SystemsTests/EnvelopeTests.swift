import Framing
import Streams
import Testing

@testable import Systems

@Suite struct EnvelopeTests {
    @Test func theFirstPhoneNumberIsTheWriteUps() {
        #expect(
            String(decoding: Envelope.phoneNumber(0).bytes, as: UTF8.self)
                == "{\"head\":\"phoneNum\",\"body\":13133334444,\"end\":11}")
    }

    @Test func eachEnvelopeIsAnsweredAndAnythingElseSaid() throws {
        var server = EnvelopeServer(try setup(Envelopes.self))
        let answer = Envelope(head: "received", body: 13_133_334_445)
        let sent = frame(String(decoding: Envelope.phoneNumber(1).bytes, as: UTF8.self))
        #expect(deeds(server.take(sent, on: 1, at: at(0))) == [.send(.bytes(answer.bytes), connection: 1)])
        #expect(server.take(frame("{\"head\":1}"), on: 1, at: at(0)) == [.log("#1 no envelope: \"{\"head\":1}\"")])
        #expect(server.take(frame("[]"), on: 1, at: at(0)).count == 1)
    }

    @Test func answersAreCollected() throws {
        var client = EnvelopeClient(try setup(Envelopes.self))
        let answer = Envelope(head: "received", body: 7)
        _ = client.take(frame(String(decoding: answer.bytes, as: UTF8.self)), on: 1, at: at(0))
        _ = client.take(frame(String(decoding: Envelope.phoneNumber(0).bytes, as: UTF8.self)), on: 1, at: at(0))
        #expect(client.answered == [7])
    }
}
