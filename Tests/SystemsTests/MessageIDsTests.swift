import Framing
import Streams
import Testing

@testable import Systems

/// The exchange of `len16-id`, without sockets and with artificial times.
@Suite struct MessageIDsTests {
    private let format: Format

    init() throws {
        format = try wireFormat("len16-id")
    }

    private func bytes(_ message: UserMessage, from direction: Direction = .fromClient) throws -> [UInt8] {
        try FrameCodec(format, sending: direction).encode(.messages([message.frame]))
    }

    private func chat(_ text: String, from sender: String, to target: String) -> UserMessage {
        .chat(from: sender, to: target, text: text, sentAt: 1_800_000_000_000)
    }

    /// The message of an input.
    private func message(_ input: PeerInput) -> UserMessage? {
        if case .message(let frame) = input { UserMessage(frame) } else { nil }
    }

    @Test func loginIsAsTheProtoFileSays() throws {
        #expect(
            try bytes(.login(userID: "ann", session: "s3")) == [0, 12, 0, 1, 0, 0x0a, 3] + Array("ann".utf8) + [
                0x12, 2,
            ]
                + Array("s3".utf8))
        #expect(try bytes(.loginResult(.userLoginSucceeded, reason: ""), from: .fromServer) == [0, 5, 0, 2, 0, 8, 1])
        #expect(try bytes(.heartbeat(sequence: 300), from: .fromServer) == [0, 6, 0, 100, 0, 8, 0xac, 2])
        #expect(!"\(UserMessage.login(userID: "ann", session: "s3"))".contains("s3"))
    }

    @Test func messagesComeBackHoweverTheyAreCut() throws {
        let messages: [UserMessage] = [
            .login(userID: "ann", session: "s"), chat("你好", from: "ann", to: "ben"),
            .loginResult(.actorLoginFailed, reason: "no session"), .heartbeat(sequence: .max),
            .chat(from: "", to: "", text: "", sentAt: .max),
        ]
        let all = try messages.flatMap { try bytes($0) }
        for cut in 0...all.count {
            let (first, rest) = all.cut(at: cut)
            let inputs = read([first, rest], with: FrameReader(format, from: .fromClient))
            #expect(inputs.map(message) == messages)
        }
    }

    @Test func badProtobufIsRefused() {
        for bytes in [[0x08], [0x08, 0x80], [0x0a, 5, 1], [0x00, 1], [0x0b], [0x09, 1, 2]] as [[UInt8]] {
            #expect(Protobuf(bytes) == nil, "\(bytes)")
        }
        #expect(Protobuf([0x08] + [UInt8](repeating: 0xff, count: 10) + [1]) == nil, "11 bytes")
        #expect(Protobuf([0x08] + [UInt8](repeating: 0xff, count: 9) + [1])?.number(1) == .max)
        #expect(Protobuf([0x0d, 1, 2, 3, 4, 0x10, 7])?.number(2) == 7, "other wire types are passed over")
        #expect(UserMessage(PeerMessage(fields: [Field("id", .integer(9))], body: [])) == nil)
    }

    // MARK: The server

    private func server(_ hazards: Set<String> = []) throws -> PeerSession<MessageServer> {
        var server = PeerSession(MessageServer(try setup(MessageIDs.self, asPublished: hazards)))
        for (number, name) in [(1, "ann"), (2, "ben")] {
            #expect(
                deeds(server.opened(number, by: "", at: at(0)))
                    == [.wake(PeerTimer("heartbeat", number), after: .seconds(5))])
            #expect(
                deeds(server.received(try bytes(.login(userID: name, session: "s")), on: number, at: at(0)))
                    == [.send(.bytes([0, 5, 0, 2, 0, 8, 1]), connection: number)])
        }
        return server
    }

    @Test func loginsWithoutSessionFail() throws {
        var server = try server()
        let actions = server.received(try bytes(.login(userID: "actor7", session: "")), on: 1, at: at(1))
        #expect(
            deeds(actions) == [
                .send(
                    .bytes(try bytes(.loginResult(.actorLoginFailed, reason: "no session"), from: .fromServer)))
            ])
    }

    @Test func chatIsForwardedInTheNameOfWhoLoggedIn() throws {
        var server = try server()
        let actions = server.received(try bytes(chat("Hi", from: "zoe", to: "ben")), on: 1, at: at(1))
        #expect(
            deeds(actions) == [
                .send(.bytes(try bytes(chat("Hi", from: "ann", to: "ben"), from: .fromServer)), connection: 2)
            ])
        let lost = server.received(try bytes(chat("Hi", from: "ann", to: "cid")), on: 1, at: at(1))
        #expect(deeds(lost) == [])
        _ = server.closed(2, error: nil, at: at(2))
        #expect(
            deeds(server.received(try bytes(chat("Hi", from: "ann", to: "ben")), on: 1, at: at(3))) == [])
    }

    @Test func heartbeatsGoOutUntilTheyAreToBeLeftOut() throws {
        var server = try server()
        let alarm = PeerTimer("heartbeat", 1)
        let again = PeerAction.wake(alarm, after: .seconds(5))
        #expect(server.due(alarm, at: at(5)) == [.send(.bytes([0, 5, 0, 100, 0, 8, 1]), connection: 1), again])
        let ask = try bytes(chat("leave out 3 heartbeats", from: "ann", to: "server"))
        _ = server.received(ask, on: 1, at: at(6))
        for _ in 0..<3 { #expect(deeds(server.due(alarm, at: at(10))) == [again]) }
        #expect(server.due(alarm, at: at(25)) == [.send(.bytes([0, 5, 0, 100, 0, 8, 2]), connection: 1), again])
        _ = server.closed(1, error: nil, at: at(26))
        #expect(server.due(alarm, at: at(30)) == [])
    }

    // MARK: The client

    @Test func theClientLogsInAgainWhenNoHeartbeatHasComeSinceTheLastCheck() throws {
        var client = PeerSession(MessageClient(try setup(MessageIDs.self), name: "ann", session: "s"))
        let login = PeerAction.send(.bytes(try bytes(.login(userID: "ann", session: "s"))))
        let check = PeerAction.wake("check", after: .seconds(30))
        #expect(deeds(client.opened(1, by: "server", at: at(0))) == [login, check])
        _ = client.received(try bytes(.heartbeat(sequence: 1), from: .fromServer), on: 1, at: at(5))
        #expect(deeds(client.due("check", at: at(30))) == [check])
        #expect(deeds(client.due("check", at: at(60))) == [.close(connection: 1)])
        #expect(deeds(client.closed(1, error: nil, at: at(60))) == [.connect(after: .seconds(0.25))])
        #expect(deeds(client.opened(1, by: "server", at: at(60.25))) == [login, check])
    }

    // MARK: Hazards

    private func published(_ hazard: String, _ reads: [[UInt8]]) -> [PeerInput] {
        read(reads, with: PublishedLengthReceiver([hazard]))
    }

    @Test(
        arguments: [
            (0x7fff, nil), (0x8000, "waits for ever for a length of -32768"),
            (0xfffd, "waits for ever for a length of -3"),
            (0xfffe, "loops for ever at a length of -2"), (0xffff, "consumes a length of -1"),
        ] as [(UInt16, String?)])
    func negativeLengthReadsTheLengthWithSign(_ length: UInt16, _ failure: String?) throws {
        let heartbeat = try bytes(.heartbeat(sequence: 1), from: .fromServer)
        var text = [UInt8](repeating: 0x61, count: Int(length) - 3)
        // A chat whose text fills the frame.
        let head = Protobuf([3: .bytes(text)]).bytes.count - text.count
        text.removeLast(head)
        let frame = try bytes(.chat(from: "", to: "", text: String(decoding: text, as: UTF8.self), sentAt: 0))
        try #require(Array(frame.prefix(2)) == [UInt8(length >> 8), UInt8(length & 255)])

        let inputs = published("negative-length", [frame, heartbeat])
        guard let failure else {
            #expect(inputs.count == 2)
            #expect(inputs.last.flatMap(message) == .heartbeat(sequence: 1))
            return
        }
        #expect("\(inputs.first.map { "\($0)" } ?? "")".contains(failure))
        #expect(!inputs.map(message).contains(.heartbeat(sequence: 1)), "lost, or out of step")
        // Read as unsigned, the same bytes are two messages.
        #expect(published("double-append", [frame, heartbeat]).count == 2)
    }

    @Test func doubleAppendLosesItsPlaceAtAFrameCutAfterItsHead() throws {
        let frame = try bytes(chat("Hello", from: "ann", to: "ben"))
        let hello = chat("Hello", from: "ann", to: "ben")
        for cut in 1..<frame.count {
            let (first, rest) = frame.cut(at: cut)
            let inputs = published("double-append", [first, rest, frame])
            if cut < 5 {
                #expect(inputs.map(message) == [hello, hello], "cut at \(cut)")
            } else {
                guard case .unframed(_, let note)? = inputs.first else {
                    Issue.record("cut at \(cut): \(inputs)")
                    continue
                }
                #expect(note.contains("appends \(rest.count) B twice"))
                #expect(inputs.count { message($0) == hello } < 2, "cut at \(cut)")
            }
            #expect(published("negative-length", [first, rest, frame]).map(message) == [hello, hello])
        }
    }
}
