import Framing
import Streams
import Testing

@testable import Systems

/// The exchange of `marker`, without sockets and with artificial times.
@Suite struct BroadcastTests {
    /// A server with three devices at second 0, and its actions when it knew the third.
    private func withThree(_ hazards: Set<String> = []) throws -> (server: BroadcastServer, last: [PeerAction]) {
        var server = BroadcastServer(try setup(Broadcasts.self, asPublished: hazards))
        var last: [PeerAction] = []
        for number in 1...3 {
            _ = server.opened(number, at: at(0))
            last = server.take(frame("Link-设备:iPhone\(number)-x:00:00:00.000"), on: number, at: at(0))
        }
        return (server, last)
    }

    private func receipt(_ number: Int) -> PeerMessage { frame("time-设备:iPhone\(number)-客户端收到数据:00:00:01.000") }

    private func targets(_ actions: [PeerAction]) -> [Int] {
        actions.compactMap { if case .send(_, let number) = $0 { number } else { nil } }
    }

    @Test func theRoundsBeginWithTheThirdDevice() throws {
        var (server, last) = try withThree()
        #expect(deeds(last) == [.wake("broadcast", after: .seconds(1))])
        #expect(deeds(server.take(frame("Link-设备:iPhone3-again"), on: 3, at: at(0))) == [], "once")
        #expect(targets(server.due("broadcast", at: at(1))) == [1, 2, 3])
    }

    @Test func theNextRoundComesWhenAllReceiptsAreIn() throws {
        var (server, _) = try withThree()
        _ = server.due("broadcast", at: at(1))
        #expect(deeds(server.take(receipt(1), on: 1, at: at(1))) == [])
        #expect(deeds(server.take(receipt(1), on: 1, at: at(1))) == [], "one device's receipt counts once")
        #expect(deeds(server.take(receipt(2), on: 2, at: at(1))) == [])
        #expect(deeds(server.take(receipt(3), on: 3, at: at(1))) == [.wake("broadcast", after: .seconds(2))])
        #expect(BroadcastServer.waits.allSatisfy { (1...5).contains($0) && $0 == $0.rounded() })
    }

    @Test func aLostReceiptIsGivenUp() throws {
        var (server, _) = try withThree()
        #expect(server.due("broadcast", at: at(1)).last == .wake("receipts", after: .seconds(3)))
        for number in 1...2 { _ = server.take(receipt(number), on: number, at: at(1)) }
        let given = server.due("receipts", at: at(4))
        #expect(given.first == .log("#3 (iPhone3) did not confirm round 1"))
        #expect(deeds(given) == [.wake("broadcast", after: .seconds(2))])
    }

    @Test func asPublishedALostReceiptEndsTheRun() throws {
        var (server, _) = try withThree(["lost-receipt"])
        #expect(server.due("broadcast", at: at(1)).allSatisfy { if case .wake = $0 { false } else { true } })
        for number in 1...2 { #expect(deeds(server.take(receipt(number), on: number, at: at(1))) == []) }
        #expect(deeds(server.closed(3, at: at(2))) == [], "nor does it help that its sender leaves")
        #expect(deeds(server.due("receipts", at: at(9))).isEmpty == false, "no timer is set that would")
    }

    @Test func whoLeavesIsNotWaitedFor() throws {
        var (server, _) = try withThree()
        _ = server.due("broadcast", at: at(1))
        for number in 1...2 { _ = server.take(receipt(number), on: number, at: at(1)) }
        #expect(deeds(server.closed(3, at: at(2))) == [.wake("broadcast", after: .seconds(2))])
    }

    @Test func theSilentAreForgottenUntilTheyAreHeardAgain() throws {
        var (server, _) = try withThree()
        #expect(server.started(at: at(0)) == [.wake("sweep", after: .seconds(2))])
        for number in 1...2 { _ = server.take(frame("iPhone\(number)"), on: number, at: at(1)) }
        _ = server.take(receipt(3), on: 3, at: at(1.5))
        #expect(
            deeds(server.due("sweep", at: at(2))) == [.wake("sweep", after: .seconds(2))], "2 s are not more than 2 s")
        #expect(
            server.due("sweep", at: at(2.5)).first == .log("#3 (iPhone3) forgotten: silent for 2.5 s"),
            "a receipt is no heartbeat")
        #expect(targets(server.due("broadcast", at: at(2.6))) == [1, 2])
        #expect(server.take(frame("iPhone3"), on: 3, at: at(3)) == [.log("#3 (iPhone3) is back: iPhone3")])
        #expect(targets(server.due("broadcast", at: at(3.1))) == [1, 2, 3])
    }

    @Test func aDeviceIntroducesItselfSixTimesAndConfirmsWhatItGets() throws {
        var device = BroadcastDevice(try setup(Broadcasts.self), name: "iPhone1")
        let link = PeerMessage(body: Array("Link-设备:iPhone1-客户端发送数据:01:00:00.000".utf8))
        #expect(
            device.opened(1, at: at(3_600))
                == [PeerAction](repeating: .send(.messages([link])), count: 6) + [
                    .wake("heartbeat", after: .seconds(1))
                ])
        let receipt = PeerMessage(body: Array("time-设备:iPhone1-客户端收到数据:01:00:02.345".utf8))
        #expect(
            deeds(device.take(frame(BroadcastText.broadcast), on: 1, at: at(3_602.345))) == [
                .send(.messages([receipt]))
            ])
        device.heartbeatsToSkip = 1
        #expect(deeds(device.due("heartbeat", at: at(1))) == [.wake("heartbeat", after: .seconds(1))])
        let heartbeat = PeerMessage(body: Array("iPhone1".utf8))
        #expect(
            device.due("heartbeat", at: at(2)) == [
                .send(.messages([heartbeat])), .wake("heartbeat", after: .seconds(1)),
            ])
    }

    @Test func whatIsWholeNeedNotWait() throws {
        var reader = FrameReader(try wireFormat("marker"), from: .fromClient, isWhole: BroadcastText.isWhole)
        let receipt = Array("abtime-设备:iPhone1-客户端收到数据:01:00:02.345".utf8)
        #expect(texts(reader.receive(receipt.span.bytes, at: at(0))).count == 1)
        // A heartbeat has no end of its own.
        #expect(reader.receive(Array("abiPhone1".utf8).span.bytes, at: at(1)) == [])
        #expect(reader.deadline == at(1.2))
        #expect(texts(reader.pause(until: at(1.3))) == ["iPhone1"])
        #expect(texts(reader.receive((receipt + receipt).span.bytes, at: at(2))).count == 2)
    }

    @Test func asPublishedTheTailOfACutFrameIsDropped() throws {
        let bytes = Array("ab13133334444ab1313".utf8)
        let right = FrameReader(try wireFormat("marker"), from: .fromServer)
        for cut in [[Array(bytes[..<6]), Array(bytes[6...])]] {
            #expect(texts(read(cut, with: right)) == ["13133334444"])
            let published = read(cut, with: PerReadSplitter())
            #expect(texts(published) == ["1313", "1313"])
            #expect(published[1] == .unframed(byteCount: 7, detail: "dropped: no marker before it in this read"))
        }
        // Reads that end where frames end are handled correctly.
        #expect(texts(read([Array("ab1ab2".utf8), Array("ab3".utf8)], with: PerReadSplitter())) == ["1", "2", "3"])
    }
}
