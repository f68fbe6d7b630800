import Framing
import Streams
import Testing

@testable import Systems

/// The exchange of `tlv32`, without sockets.
@Suite struct UploadsTests {
    private let hello = Upload(.text, Array("Hello".utf8))
    private let place = Upload(.location, Array("31.2,121.5".utf8))

    private let storage = MemoryStorage()

    private func server(
        _ hazards: Set<String> = [], storage: MemoryStorage? = nil
    ) throws -> PeerSession<UploadServer> {
        var server = PeerSession(
            try UploadServer(setup(Uploads.self, asPublished: hazards, storage: storage ?? self.storage)))
        for number in 1...2 { _ = server.opened(number, by: "10.0.0.\(number):5", at: at(0)) }
        return server
    }

    private func answer(_ upload: Upload, isSuccess: Bool = true, on number: Int = 1) -> PeerAction {
        .send(.bytes(UploadResponse(command: upload.command, isSuccess: isSuccess).bytes), connection: number)
    }

    /// The uploads that a read makes the server store; each is answered.
    private func stored(
        _ server: inout PeerSession<UploadServer>, _ bytes: [UInt8], on number: Int = 1
    ) -> [Upload] {
        let actions = deeds(server.received(bytes, on: number, at: at(1)))
        let uploads = storage.take()
        #expect(actions == uploads.map { answer($0, on: number) })
        return uploads
    }

    @Test func theBytesAreThoseOfTheWriteUp() {
        #expect(hello.bytes == [0x0d, 0, 0, 0, 2, 0, 0, 0, 0x48, 0x65, 0x6c, 0x6c, 0x6f])
        #expect(UploadResponse(command: 2, isSuccess: true).bytes == [12, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0])
    }

    @Test func storesAndAnswersHoweverRequestsAreCut() throws {
        for cut in 0...hello.bytes.count + place.bytes.count {
            var server = try server()
            let (first, rest) = (hello.bytes + place.bytes).cut(at: cut)
            #expect(stored(&server, first) + stored(&server, rest) == [hello, place])
        }
        var server = try server(storage: MemoryStorage(failure: "disk full"))
        let actions = server.received(hello.bytes, on: 1, at: at(1))
        #expect(deeds(actions) == [.send(.bytes([12, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]))])
        #expect(said(actions) == "#1 text, 5 B, not stored: disk full")
    }

    @Test func theServerSaysWhereUploadsGoAndRemovesThemAtItsEnd() throws {
        var server = try server()
        #expect(server.started(at: at(0)) == [.log("uploads go to memory")])
        #expect(deeds(server.end()) == [.close(connection: 1), .close(connection: 2)])
        #expect(storage.isRemoved)
    }

    @Test func whatIsNotKnownIsAnsweredWithFailure() throws {
        var server = try server()
        let odd = Upload(command: 9, payload: [1])
        #expect(deeds(server.received(odd.bytes, on: 1, at: at(1))) == [answer(odd, isSuccess: false)])
        #expect(storage.take() == [])
    }

    // MARK: Hazards

    @Test func sharedBufferMixesTwoUploads() throws {
        for (hazards, isMixed) in [([], false), (["shared-buffer"], true)] as [(Set<String>, Bool)] {
            var server = try server(hazards)
            let (first, rest) = hello.bytes.cut(at: 9)
            #expect(stored(&server, first, on: 1) == [])
            // The four bytes that are missing come from the other client.
            let expected = isMixed ? Upload(.text, Array("H".utf8) + place.bytes.prefix(4)) : place
            #expect(stored(&server, place.bytes, on: 2).first == expected)
            #expect(stored(&server, rest, on: 1) == (isMixed ? [] : [hello]))
        }
    }

    @Test func mergedFramesWedgeEveryClient() throws {
        var server = try server(["merged-frames"])
        #expect(stored(&server, hello.bytes) == [hello])
        let actions = server.received(hello.bytes + hello.bytes.prefix(6), on: 1, at: at(2))
        #expect(deeds(actions) == [])
        #expect(said(actions).contains("has 19 B and acts only at 13: wedged for every client"))
        #expect(stored(&server, hello.bytes, on: 1) == [])
        #expect(stored(&server, hello.bytes, on: 2) == [])
        _ = server.opened(3, by: "", at: at(3))
        #expect(stored(&server, hello.bytes, on: 3) == [])
    }

    @Test func mergedFramesDoNoHarmOneByOneOrSplit() throws {
        var server = try server(["merged-frames"])
        let (first, rest) = hello.bytes.cut(at: 9)
        #expect(stored(&server, first) + stored(&server, rest) == [hello])
        #expect(stored(&server, place.bytes) == [place])
    }

    @Test func shortFirstReadIsARangeException() throws {
        var server = try server(["short-first-read"])
        #expect(stored(&server, Array(hello.bytes.prefix(8))) == [], "8 are enough")
        #expect(stored(&server, Array(hello.bytes.suffix(5))) == [hello])
        let actions = server.received(Array(hello.bytes.prefix(7)), on: 1, at: at(2))
        #expect(deeds(actions) == [.close()])
        #expect(said(actions).contains("crashes: 7 B are no head, yet it reads 8: range exception"))
        #expect(stored(&server, hello.bytes, on: 2) == [hello])
    }

    @Test func keptBufferWedgesAfterLocationsAndVoices() throws {
        for kind in [Upload.Command.location, .voice] {
            var server = try server(["kept-buffer"])
            let upload = Upload(kind, [1, 2, 3])
            #expect(stored(&server, hello.bytes + upload.bytes) == [hello, upload])
            let actions = server.received(hello.bytes, on: 1, at: at(2))
            #expect(said(actions).contains("still has the last upload in its buffer: wedged"))
            #expect(deeds(actions) == [])
            #expect(stored(&server, hello.bytes) == [])
        }
    }

    @Test func alwaysFailureSaysSoOfWhatWasStored() throws {
        var server = try server(["always-failure"])
        let image = Upload(.image, Picture.png(side: 2))
        #expect(deeds(server.received(image.bytes, on: 1, at: at(1))) == [answer(image, isSuccess: false)])
        #expect(storage.take() == [image])
    }

    private func client(_ hazards: Set<String> = []) throws -> PeerSession<UploadClient> {
        var client = PeerSession(UploadClient(try setup(Uploads.self, asPublished: hazards)))
        _ = client.opened(1, by: "server", at: at(0))
        let uploads = [hello, place]
        _ = client.change { $0.expect(uploads) }
        return client
    }

    private var responses: [UInt8] {
        UploadResponse(command: 2, isSuccess: true).bytes + UploadResponse(command: 3, isSuccess: true).bytes
    }

    @Test func theClientPairsResponsesInOrder() throws {
        for cut in 0...responses.count {
            var client = try client()
            let (first, rest) = responses.cut(at: cut)
            _ = client.received(first, on: 1, at: at(1)) + client.received(rest, on: 1, at: at(1))
            #expect(client.machine.unanswered == [])
            #expect(client.machine.stored == 2)
            #expect(client.machine.failure == nil)
        }
        var client = try client()
        _ = client.received(Array(responses.suffix(12)), on: 1, at: at(1))
        #expect(client.machine.failure == "a response to command 3, expected text, 5 B")
    }

    @Test func shortResponseThrowsAtAReadUnder12Bytes() throws {
        var client = try client(["short-response"])
        _ = client.received(responses, on: 1, at: at(1))
        #expect(client.machine.stored == 2, "whole, they are understood")
        let actions = client.received(Array(responses.prefix(11)), on: 1, at: at(1))
        #expect(deeds(actions) == [.close()])
        #expect(said(actions).contains("crashes: 11 B are no response"))
    }

    @Test func mergedResponsesLoseTheSecond() throws {
        var client = try client(["merged-responses"])
        let actions = client.received(responses, on: 1, at: at(1))
        #expect(client.machine.unanswered == [place])
        #expect(said(actions).contains("drops 12 B after a response"))
        _ = client.received(Array(responses.suffix(12)), on: 1, at: at(2))
        #expect(client.machine.unanswered == [], "alone, it is taken")
    }
}
