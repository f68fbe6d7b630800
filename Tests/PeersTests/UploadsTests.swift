import Framing
import Streams
import Testing

@testable import Peers
import Platform

/// The exchange of `tlv32`, without sockets.
@Suite struct UploadsTests {
    private typealias Action = UploadServerState.Action

    private let at = SimplePeers.at
    private let hello = Upload(.text, Array("Hello".utf8))
    private let place = Upload(.location, Array("31.2,121.5".utf8))

    private func server(_ hazards: Set<String> = []) throws -> UploadServerState {
        var server = UploadServerState(
            try SimplePeers.format("tlv32"), options: SimplePeers.options(asPublished: hazards))
        for number in 1...2 { _ = server.opened(number, with: "10.0.0.\(number):5", at: at(0)) }
        return server
    }

    private func store(_ upload: Upload, _ number: Int = 1) -> Action {
        .work(UploadServerState.Work(connection: number, upload: upload))
    }

    private func deeds(_ server: inout UploadServerState, _ bytes: [UInt8], on number: Int = 1) -> [Action] {
        SimplePeers.deeds(server.received(bytes, on: number, at: at(1)))
    }

    @Test func theBytesAreThoseOfTheWriteUp() {
        #expect(hello.bytes == [0x0d, 0, 0, 0, 2, 0, 0, 0, 0x48, 0x65, 0x6c, 0x6c, 0x6f])
        #expect(UploadResponse(command: 2, isSuccess: true).bytes == [12, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0])
    }

    @Test func storesAndAnswersHoweverRequestsAreCut() throws {
        for cut in 0...hello.bytes.count + place.bytes.count {
            var server = try server()
            let (first, rest) = (hello.bytes + place.bytes).cut(at: cut)
            #expect(deeds(&server, first) + deeds(&server, rest) == [store(hello), store(place)])
        }
        var server = try server()
        let work = UploadServerState.Work(connection: 1, upload: hello)
        let answer = [12, 0, 0, 0, 2, 0, 0, 0] as [UInt8]
        #expect(
            SimplePeers.deeds(server.done(work, error: nil, at: at(1)))
                == [.write(answer + [1, 0, 0, 0], connection: 1)])
        #expect(
            SimplePeers.deeds(server.done(work, error: "disk full", at: at(1)))
                == [.write(answer + [0, 0, 0, 0], connection: 1)])
    }

    @Test func whatIsNotKnownIsAnsweredWithFailure() throws {
        var server = try server()
        let odd = Upload(command: 9, payload: [1])
        #expect(
            deeds(&server, odd.bytes)
                == [.write(UploadResponse(command: 9, isSuccess: false).bytes, connection: 1)])
    }

    // MARK: Hazards

    @Test func sharedBufferMixesTwoUploads() throws {
        for (hazards, isMixed) in [([], false), (["shared-buffer"], true)] as [(Set<String>, Bool)] {
            var server = try server(hazards)
            let (first, rest) = hello.bytes.cut(at: 9)
            #expect(deeds(&server, first, on: 1) == [])
            // The four bytes that are missing come from the other client.
            let expected =
                isMixed ? [store(Upload(.text, Array("H".utf8) + place.bytes.prefix(4)), 2)] : [store(place, 2)]
            #expect(deeds(&server, place.bytes, on: 2).first == expected.first)
            #expect(deeds(&server, rest, on: 1) == (isMixed ? [] : [store(hello, 1)]))
        }
    }

    @Test func mergedFramesWedgeEveryClient() throws {
        var server = try server(["merged-frames"])
        #expect(deeds(&server, hello.bytes) == [store(hello)])
        let actions = server.received(hello.bytes + hello.bytes.prefix(6), on: 1, at: at(2))
        #expect(SimplePeers.deeds(actions) == [])
        #expect(SimplePeers.said(actions).contains("has 19 B and acts only at 13: wedged for every client"))
        #expect(deeds(&server, hello.bytes, on: 1) == [])
        #expect(deeds(&server, hello.bytes, on: 2) == [])
        _ = server.opened(3, with: "", at: at(3))
        #expect(deeds(&server, hello.bytes, on: 3) == [])
    }

    @Test func mergedFramesDoNoHarmOneByOneOrSplit() throws {
        var server = try server(["merged-frames"])
        let (first, rest) = hello.bytes.cut(at: 9)
        #expect(deeds(&server, first) + deeds(&server, rest) == [store(hello)])
        #expect(deeds(&server, place.bytes) == [store(place)])
    }

    @Test func shortFirstReadIsARangeException() throws {
        var server = try server(["short-first-read"])
        #expect(deeds(&server, Array(hello.bytes.prefix(8))) == [], "8 are enough")
        #expect(deeds(&server, Array(hello.bytes.suffix(5))) == [store(hello)])
        let actions = server.received(Array(hello.bytes.prefix(7)), on: 1, at: at(2))
        #expect(SimplePeers.deeds(actions) == [.close(connection: 1)])
        #expect(SimplePeers.said(actions).contains("crashes: 7 B are no head, yet it reads 8: range exception"))
        #expect(deeds(&server, hello.bytes, on: 2) == [store(hello, 2)])
    }

    @Test func keptBufferWedgesBehindLocationsAndVoices() throws {
        for kind in [Upload.Command.location, .voice] {
            var server = try server(["kept-buffer"])
            let upload = Upload(kind, [1, 2, 3])
            #expect(deeds(&server, hello.bytes + upload.bytes) == [store(hello), store(upload)])
            let actions = server.received(hello.bytes, on: 1, at: at(2))
            #expect(SimplePeers.said(actions).contains("still has the last upload in its buffer: wedged"))
            #expect(SimplePeers.deeds(actions) == [])
            #expect(deeds(&server, hello.bytes) == [])
        }
    }

    @Test func alwaysFailureSaysSoOfWhatWasStored() throws {
        var server = try server(["always-failure"])
        let image = Upload(.image, Picture.png(side: 2))
        #expect(deeds(&server, image.bytes) == [store(image)])
        let work = UploadServerState.Work(connection: 1, upload: image)
        #expect(
            SimplePeers.deeds(server.done(work, error: nil, at: at(1)))
                == [.write(UploadResponse(command: 1, isSuccess: false).bytes, connection: 1)])
    }

    private func client(_ hazards: Set<String> = []) throws -> UploadClientState {
        var client = UploadClientState(
            try SimplePeers.format("tlv32"), options: SimplePeers.options(asPublished: hazards))
        _ = client.opened(1, with: "server", at: at(0))
        _ = client.expect([hello, place])
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
            #expect(client.unanswered == [])
            #expect(client.stored == 2)
            #expect(client.complaint == nil)
        }
        var client = try client()
        _ = client.received(Array(responses.suffix(12)), on: 1, at: at(1))
        #expect(client.complaint == "a response to command 3, expected text, 5 B")
    }

    @Test func shortResponseThrowsAtAReadUnder12Bytes() throws {
        var client = try client(["short-response"])
        _ = client.received(responses, on: 1, at: at(1))
        #expect(client.stored == 2, "whole, they are understood")
        let actions = client.received(Array(responses.prefix(11)), on: 1, at: at(1))
        #expect(SimplePeers.deeds(actions) == [.close(connection: 1)])
        #expect(SimplePeers.said(actions).contains("crashes: 11 B are no response"))
    }

    @Test func mergedResponsesLoseTheSecond() throws {
        var client = try client(["merged-responses"])
        let actions = client.received(responses, on: 1, at: at(1))
        #expect(client.unanswered == [place])
        #expect(SimplePeers.said(actions).contains("drops 12 B behind a response"))
        _ = client.received(Array(responses.suffix(12)), on: 1, at: at(2))
        #expect(client.unanswered == [], "alone, it is taken")
    }

    // MARK: Files

    @Test func theFolderKeepsEachUploadUnderItsOwnNameAndGoes() throws {
        let folder = try UploadFolder(at: nil)
        try folder.store(hello)
        try folder.store(hello)
        try folder.store(Upload(.image, []))
        for name in ["0001-text.txt", "0002-text.txt", "0003-image.png"] {
            #expect(access("\(folder.path)/\(name)", R_OK) == 0)
        }
        // Another server in the same folder leaves alone what is there.
        let other = try UploadFolder(at: folder.path)
        try other.store(place)
        #expect(access("\(folder.path)/0001-location.txt", R_OK) == 0)
        other.remove()
        #expect(unlink("\(folder.path)/0001-location.txt") == 0, "a folder that was given stays")
        folder.remove()
        #expect(access(folder.path, F_OK) != 0)
        #expect(throws: PeerError.self) { try folder.store(hello) }
        #expect(throws: PeerError.self) { try UploadFolder(at: folder.path) }
    }
}
