import Framing
import Streams
import Testing

@testable import Systems

/// The exchange of `im-magic`, without sockets and with artificial times.
@Suite struct MagicChatTests {
    private let format: Format
    private let plain: PeerSetup

    init() throws {
        plain = try setup(MagicChat.self)
        format = plain.format
    }

    private func input(_ message: MagicMessage, from direction: Direction = .fromClient) -> PeerMessage {
        message.frame(from: direction, plain)
    }

    private func sent(_ message: MagicMessage, on number: Int) -> PeerAction {
        .send(.messages([message.frame(from: .fromServer, plain)]), connection: number)
    }

    private func loggedIn(_ users: String...) -> MagicServer {
        var server = MagicServer(plain)
        for (index, user) in users.enumerated() {
            _ = server.take(input(.login(user, serialNo: "x")), on: index + 1, at: at(0))
        }
        return server
    }

    @Test func loginIsAnsweredAndSoIsPing() {
        var server = MagicServer(plain)
        let accepted = MagicMessage(.login, body: Array("{\"code\":0}".utf8))
        #expect(
            deeds(server.take(input(.login("1001", serialNo: "x")), on: 1, at: at(0))) == [sent(accepted, on: 1)])
        #expect(
            server.take(input(MagicMessage(.ping, from: "1001")), on: 1, at: at(0)) == [sent(.init(.ping), on: 1)])
        let refused = MagicMessage(.login, body: Array("{\"code\":1}".utf8))
        #expect(deeds(server.take(input(MagicMessage(.login)), on: 1, at: at(0))) == [sent(refused, on: 1)])
    }

    @Test func chatGoesToWhoeverLoggedInWithThatID() {
        var server = loggedIn("1001", "1002")
        let chat = MagicMessage.chat("Hello", from: "1001", to: "1002")
        #expect(deeds(server.take(input(chat), on: 1, at: at(1))) == [sent(.init(.chat, body: chat.body), on: 2)])
        #expect(deeds(server.take(input(.chat("x", from: "1001", to: "1003")), on: 1, at: at(1))) == [])
        #expect(deeds(server.take(input(chat), on: 3, at: at(1))) == [], "not before login")
    }

    @Test func aSecondLoginKicksTheFirst() {
        var server = loggedIn("1001")
        #expect(
            deeds(server.take(input(.login("1001", serialNo: "y")), on: 2, at: at(1))).prefix(2) == [
                sent(.init(.kick, body: []), on: 1), .close(connection: 1),
            ])
        #expect(server.closed(1, at: at(1)) == [], "the kick has been said")
        #expect(
            deeds(server.take(input(.chat("x", from: "1001", to: "1001")), on: 2, at: at(2))).count == 1,
            "only the new one is there")
    }

    @Test func theClientLogsInAndPingsWithoutWaiting() {
        var client = MagicClient(plain, name: "1001")
        let actions = client.opened(1, at: at(0))
        #expect(actions.count == 4)
        #expect(actions[1] == .send(client.output([MagicMessage(.ping, from: "1001")])))
        #expect(actions[2...] == [.wake("ping", after: .seconds(30)), .wake("login", after: .seconds(10))])
        #expect(client.phase == .loggingIn)
        #expect(deeds(client.due("login", at: at(10))) == [.close()])
        let accepted = MagicMessage(.login, body: Array("{\"code\":0}".utf8))
        _ = client.take(input(accepted, from: .fromServer), on: 1, at: at(1))
        #expect(client.phase == .loggedIn)
        #expect(client.due("login", at: at(10)) == [])
        #expect(deeds(client.take(input(.init(.kick, body: []), from: .fromServer), on: 1, at: at(2))) == [.close()])
        _ = client.closed(1, at: at(2))
        #expect(client.phase == .kicked)
    }

    @Test func headersHave62And11Bytes() throws {
        let login = MagicMessage.login("1001", serialNo: "x")
        let client = FrameCodec(format, sending: .fromClient)
        let bytes = try client.encode(.messages([login.frame(from: .fromClient, plain)]))
        #expect(bytes.count == 62 + login.body.count)
        #expect(bytes[..<7] == [0x20, 0x17, 0x08, 0x17, 1, 1, 1])
        #expect(bytes[57] == 1)
        #expect(bytes == login.publishedFrame(plain), "for ids of ASCII the published client does the same")
        let server = FrameCodec(format, sending: .fromServer)
        let kick = MagicMessage(.kick, body: []).frame(from: .fromServer, plain)
        #expect(try server.encode(.messages([kick])) == [0x20, 0x17, 0x08, 0x17, 1, 1, 9, 0, 0, 0, 0])
    }

    @Test func withAKeyBodiesAreEncrypted() throws {
        let key = Array("0123456789abcdef".utf8)
        let sealed = try setup(MagicChat.self, key: key)
        let chat = MagicMessage.chat("Hello", from: "1001", to: "1002")
        let frame = chat.frame(from: .fromClient, sealed)
        #expect(frame.body != chat.body && frame.body.count.isMultiple(of: 16))
        #expect(MagicMessage(frame, from: .fromClient, sealed).body == chat.body)
        #expect(MagicMessage(.kick, body: []).frame(from: .fromServer, sealed).body == [])
        #expect(throws: PeerError.self) { try setup(MagicChat.self, key: [1, 2, 3]) }
    }

    // MARK: Hazards

    private func server(_ message: MagicMessage) throws -> [UInt8] {
        try FrameCodec(format, sending: .fromServer).encode(
            .messages([message.frame(from: .fromServer, plain)]))
    }

    private func published(_ hazards: String...) -> PublishedMagicReader {
        PublishedMagicReader(of: .fromServer, hazards: Set(hazards))
    }

    private func commands(_ inputs: [PeerInput]) -> [String] {
        inputs.map { if case .message(let message) = $0 { message["command"] ?? "-" } else { "unframed" } }
    }

    @Test func withoutHazardsItReadsWhatTheFormatReads() throws {
        let bytes = try server(.init(.ping)) + server(.init(.kick, body: [])) + [1, 2] + server(.init(.chat))
        for cut in 0...bytes.count {
            let reads = [Array(bytes[..<cut]), Array(bytes[cut...])]
            #expect(commands(read(reads, with: published())).filter { $0 != "unframed" } == ["2", "9", "3"])
        }
    }

    @Test func aFrameWithoutBodyWaitsForOtherBytes() throws {
        let kick = try server(.init(.kick, body: []))
        #expect(commands(read([kick], with: published())) == ["9"])
        #expect(commands(read([kick], with: published("empty-body"))) == [])
        let ping = try server(.init(.ping))
        #expect(commands(read([kick, ping], with: published("empty-body"))) == ["9", "2"])
    }

    @Test func aLostByteIsNeverNoticed() throws {
        let chat = try server(.init(.chat, body: Array("{\"text\":\"x\"}".utf8)))
        let stream = chat + chat.dropFirst() + chat + chat
        #expect(commands(read([stream], with: published())) == ["3", "unframed", "3", "3"])
        let wrong = commands(read([stream], with: published("no-magic-check", "no-length-limit")))
        #expect(wrong == ["3"], "out of step, it waits for a body of three gigabytes: \(wrong)")
    }

    @Test func aLargeLengthWaitsForEver() throws {
        let large: [UInt8] = [0x20, 0x17, 0x08, 0x17, 1, 1, 3, 0x7f, 0xff, 0xff, 0xff]
        let stream = try large + server(.init(.ping))
        #expect(commands(read([stream], with: published())) == ["unframed", "2"])
        #expect(commands(read([stream], with: published("no-length-limit"))) == [])
    }

    @Test func anIDThatIsNotASCIIMakesTheHeaderLonger() throws {
        let login = MagicMessage.login("用户1001", serialNo: "x")
        let right = try FrameCodec(format, sending: .fromClient)
            .encode(.messages([login.frame(from: .fromClient, plain)]))
        let wide = login.publishedFrame(plain)
        #expect(wide.count == right.count + 4)
        var reader = FrameReader(format, from: .fromClient)
        #expect(commands(reader.receive(right.span.bytes, at: at(0)) + reader.finish()) == ["1"])
        reader = FrameReader(format, from: .fromClient)
        #expect(commands(reader.receive((wide + right).span.bytes, at: at(0)) + reader.finish()).contains("unframed"))
    }
}
