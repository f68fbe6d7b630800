import NIOCore
import TestSupport
import Testing

@testable import Proxy

/// The negotiation with SOCKS clients, byte for byte.
@Suite struct SOCKSNegotiationTests {
    private typealias Action = EntryAction

    /// The result for bytes that arrive in pieces of this size; the rest belongs to no message.
    private func play(_ bytes: [UInt8], by size: Int = 1) -> (actions: [Action], rest: [UInt8], isOver: Bool) {
        var negotiation = SOCKSNegotiation()
        var (buffer, actions) = (ByteBuffer(), [] as [Action])
        for start in stride(from: 0, to: bytes.count, by: size) {
            buffer.writeBytes(bytes[start..<min(bytes.count, start + size)])
            actions += negotiation.take(&buffer)
        }
        return (actions, Array(buffer.readableBytesView), negotiation.isOver)
    }

    private static let cases: [(bytes: [UInt8], host: String)] = [
        ([1, 192, 0, 2, 7], "192.0.2.7"),
        ([4, 0x20, 1, 0xd, 0xb8] + [UInt8](repeating: 0, count: 11) + [9], "2001:db8::9"),
        ([3, 11] + Array("chat.exampl".utf8), "chat.exampl"),
        ([3, 255] + [UInt8](repeating: 0x61, count: 255), String(repeating: "a", count: 255)),
        ([3, 5] + Array("[::1]".utf8), "::1"), ([3, 5] + Array("[::g]".utf8), "[::g]"),
    ]

    @Test(arguments: [1, 2, 3, 7, 600]) func aRequestIsTakenHoweverItIsCut(_ size: Int) {
        for (address, host) in Self.cases {
            let bytes: [UInt8] = [5, 2, 2, 0, 5, 1, 0] + address + [0x1f, 0x98]
            let (actions, rest, isOver) = play(bytes + Array("early".utf8), by: size)
            #expect(actions == [.sendToClient([5, 0]), .connect(.tcp(HostPort(host: host, port: 8_088)))])
            #expect(rest == Array("early".utf8) && isOver)
            // Before its last byte there is nothing to do.
            for length in 4..<bytes.count { #expect(play(Array(bytes[..<length])).actions == [.sendToClient([5, 0])]) }
        }
    }

    @Test(
        arguments: [
            ([4], nil, "the client speaks SOCKS 4, not 5"),
            ([5, 1, 2], [5, 0xff], "the SOCKS client insists on authentication, and there is none here"),
            ([5, 0], [5, 0xff], "the SOCKS client insists on authentication, and there is none here"),
            (
                Array("CONNECT a:1 HTTP/1.1".utf8.prefix(1)), nil,
                "the client speaks HTTP, not SOCKS 5: set its proxy as socks5h://, not as http://"
            ),
            ([0x16], nil, "the client speaks TLS, not SOCKS 5"),
            ([0x67], nil, "the client does not speak SOCKS 5: its first byte is 103"),
            ([5, 1, 0, 71], nil, "the client does not speak SOCKS 5: its request begins with 71, not 5"),
            (
                [5, 1, 0, 5, 1, 0, 9], [5, 8, 0, 1, 0, 0, 0, 0, 0, 0], "the SOCKS client asked for an address of type 9"
            ),
            (
                [5, 1, 0, 5, 2, 0, 1, 1, 2, 3, 4, 0, 80], [5, 7, 0, 1, 0, 0, 0, 0, 0, 0],
                "the SOCKS client asked for command 2, not for CONNECT"
            ),
            (
                [5, 1, 0, 5, 1, 7], [5, 1, 0, 1, 0, 0, 0, 0, 0, 0],
                "the client does not speak SOCKS 5: the reserved byte is 7, not 0"
            ),
            (
                [5, 1, 0, 5, 1, 0, 3, 3, 0x61, 0, 0x62, 0, 80], [5, 4, 0, 1, 0, 0, 0, 0, 0, 0],
                "the SOCKS client asked for a host name that is none"
            ),
            (
                [5, 1, 0, 5, 1, 0, 3, 0, 0, 80], [5, 4, 0, 1, 0, 0, 0, 0, 0, 0],
                "the SOCKS client asked for a host name that is none"
            ),
        ] as [([UInt8], [UInt8]?, String)])
    func whatIsWrongIsAnsweredAndNamed(_ bytes: [UInt8], _ reply: [UInt8]?, _ reason: String) {
        let (actions, rest, isOver) = play(bytes + [1, 2])
        #expect(actions.last == .close(EntryFault(reason), isOrderly: true) && isOver && rest == [1, 2], "\(actions)")
        if let reply { #expect(actions.dropLast().last == .sendToClient(reply), "\(actions)") }
    }

    @Test func anyBytesEndSomehow() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<5_000 {
            let bytes = [5, 1, 0].prefix(.random(in: 0...3, using: &generator)) + generator.bytes(530)
            let size = Int.random(in: 1...40, using: &generator)
            let (whole, cut) = (play(Array(bytes), by: 600), play(Array(bytes), by: size))
            #expect(whole == cut, "seed \(seed)")
            #expect(whole.isOver, "seed \(seed): messages have at most 257 and 262 bytes")
        }
    }
}
