import Interception
import NIOCore
import NIOEmbedded
import Streams
import TestSupport
import Testing

@testable import Proxy

/// Random clients and servers at every kind of listener: whatever they send, in whatever pieces, and whenever they end.
@Suite struct HostileSequenceTests {
    /// The bytes that a client sends before its own data, and whether they are valid.
    struct Opening {
        var bytes: [UInt8]
        var isRight: Bool
    }

    /// A kind of listener.
    enum Kind: CaseIterable {
        case plain, socks, transparent, unix

        var listener: Listener {
            let listen = Place.tcp(HostPort(host: "127.0.0.1", port: 1_080))
            let server = Listener.Server.fixed(.tcp(HostPort(host: "192.0.2.1", port: 9_000)))
            return switch self {
            case .plain: Listener(listen: listen, server: server)
            case .socks: Listener(listen: listen, server: .chosen(by: .socks5))
            case .transparent: Listener(listen: listen, server: .chosen(by: .transparent))
            case .unix: Listener(listen: .unix(path: "/x"), server: .fixed(.unix(path: "/y")))
            }
        }
    }

    private static func header(_ generator: inout SeededGenerator) -> [UInt8] {
        let origin = ProxyHeader.Origin.named(
            client: Endpoint(IPAddress(v4: 0xc000_0205), 1_234), server: Endpoint(IPAddress(v4: 0xc000_0206), 80))
        if Bool.random(using: &generator) { return ProxyHeader(origin: origin).bytes(.v1) }
        var bytes = ProxyHeader(origin: origin).bytes(.v2)
        let extra = [0, 7, 300].randomElement(using: &generator) ?? 0
        bytes += (0..<extra).map { UInt8(truncatingIfNeeded: $0) }
        let length = bytes.count - 16
        (bytes[14], bytes[15]) = (UInt8(length >> 8), UInt8(length & 255))
        return bytes
    }

    private static func request(_ generator: inout SeededGenerator) -> [UInt8] {
        let name = Array(String(repeating: "n", count: [1, 9, 255].randomElement(using: &generator) ?? 1).utf8)
        let addresses: [[UInt8]] = [
            [1, 192, 0, 2, 1], [4] + (0..<16).map { $0 }, [3, UInt8(name.count)] + name,
        ]
        return [5, 2, 1, 0] + [5, 1, 0] + (addresses.randomElement(using: &generator) ?? []) + [35, 40]
    }

    private static func opening(_ kind: Kind, isExpected: Bool, _ generator: inout SeededGenerator) -> Opening {
        var bytes = isExpected ? header(&generator) : []
        if kind == .socks { bytes += request(&generator) }
        guard !bytes.isEmpty, Int.random(in: 0..<4, using: &generator) == 0 else {
            return Opening(bytes: bytes, isRight: true)
        }
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        bytes[place] = UInt8.random(in: 0...255, using: &generator)
        return Opening(bytes: bytes, isRight: false)
    }

    /// 8 × 2,500 sequences, other ones in each run.
    @Test(arguments: Kind.allCases, [false, true])
    func nothingAnybodyDoesEndsTheProxy(_ kind: Kind, isHeaderExpected: Bool) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let count = 2_500
        var joined = 0
        for part in 0..<count / 100 {
            let isTimed = part % 2 == 0
            let rules = Self.rules[part % Self.rules.count]
            let parsed = RuleSet(try rules.map { try RuleFile.rule($0, number: 1, format: nil) }, seed: seed)
            let proxy = EmbeddedProxy(kind.listener, queue: RecordingQueue(limit: 100_000)) { options in
                options.connectTimeout = 10
                options.idleTimeout = isTimed ? 5 : nil
                options.proxyProtocol.isExpected = isHeaderExpected
                options.proxyProtocol.sent = part % 3 == 0 ? .v1 : nil
                if !rules.isEmpty { options.stages = { connection, _ in parsed.stages(of: connection, format: nil) } }
            }
            for number in 0..<100 {
                joined += try play(
                    proxy, kind, isHeaderExpected, "seed \(seed), part \(part), sequence \(number)", &generator)
            }
            if rules.isEmpty { try relays(proxy, kind, isHeaderExpected, "seed \(seed), part \(part)", &generator) }
        }
        #expect(joined > count / 20, "seed \(seed): \(joined) of \(count) got through")
    }

    /// Rules that add no bytes and change none; every second part has none.
    private static let rules: [[String]] = [
        [], ["latency: 5 ms"], [], ["limit: 20"], [], ["blackhole: 10"], [], ["reset: 15"], [], ["half-close: 12"], [],
        ["{latency: 1 s, jitter: 2 s}", "rate: 20 B/s"], [], ["{limit: 9, end: reset}", "latency: 4 s"],
    ]

    /// One client at random; returns 1 if it was joined with a server.
    private func play(
        _ proxy: EmbeddedProxy, _ kind: Kind, _ isHeaderExpected: Bool, _ seed: Comment,
        _ generator: inout SeededGenerator
    ) throws -> Int {
        let opening = Self.opening(kind, isExpected: isHeaderExpected, &generator)
        let payload = (0..<Int.random(in: 0..<60, using: &generator)).map { UInt8($0) }
        let answer = (0..<Int.random(in: 0..<60, using: &generator)).map { UInt8(255 - $0) }
        var (rest, answers) = ((opening.bytes + payload)[...], answer[...])
        let client = try proxy.accept()
        var server: Wire?
        let mostBytes = [1, 5, 400].randomElement(using: &generator) ?? 1
        for _ in 0..<Int.random(in: 1..<24, using: &generator) {
            switch Int.random(in: 0..<32, using: &generator) {
            case 0...11:
                let count = min(rest.count, Int.random(in: 1...mostBytes, using: &generator))
                client.receive(rest.prefix(count))
                rest = rest.dropFirst(count)
            case 12...15: if server == nil { server = try proxy.connect() }
            case 16: proxy.fail(IOError(errnoCode: 111, reason: "refused"))
            case 17: proxy.fail(ChannelError.connectTimeout(.seconds(10)))
            case 18...20:
                let count = min(answers.count, Int.random(in: 1...20, using: &generator))
                guard let server, server.isOpen else { continue }
                server.receive(answers.prefix(count))
                answers = answers.dropFirst(count)
            case 21: client.finish()
            case 22: server?.finish()
            case 23: client.reset()
            case 24: server?.reset()
            case 25: client.vanish()
            case 26: server?.vanish()
            case 27:
                let nanoseconds: [Int64] = [
                    1, 4_999_999_999, 5_000_000_000, 9_999_999_999, 10_000_000_000, 2_000_000_000,
                ]
                proxy.loop.advanceTime(by: .nanoseconds(nanoseconds.randomElement(using: &generator) ?? 1))
            case 28: client.setWritable(Bool.random(using: &generator))
            case 29: server?.setWritable(Bool.random(using: &generator))
            case 30:
                client.isStuck = Bool.random(using: &generator)
                server?.isStuck = true
            default:
                client.deliver()
                server?.deliver()
            }
        }
        // Nothing more happens: clients that were not joined by then are rejected.
        proxy.fail(ChannelError.connectTimeout(.seconds(10)))
        proxy.loop.advanceTime(by: .seconds(30))
        #expect(server != nil || !client.isOpen, "\(seed): a client that is not served is still there")
        if opening.isRight, let server {
            #expect(Self.isPrefix(server.sent, of: payload, afterLine: true), "\(seed): \(server.sent)")
        }
        if opening.isRight {
            let reply = kind == .socks ? 12 : 0
            #expect(client.sent.count <= reply || answer.starts(with: client.sent.dropFirst(reply)), "\(seed)")
        }
        client.vanish()
        server?.vanish()
        proxy.loop.advanceTime(by: .seconds(30))
        #expect(!client.isOpen && server?.isOpen != true, seed)
        check(proxy.recorded(), seed)
        return server == nil ? 0 : 1
    }

    /// Whether bytes are a prefix of others, after a PROXY line if there is one.
    private static func isPrefix(_ bytes: [UInt8], of others: [UInt8], afterLine: Bool) -> Bool {
        var bytes = bytes[...]
        if bytes.starts(with: Array("PROXY ".utf8)), let end = bytes.firstIndex(of: 10) { bytes = bytes[(end + 1)...] }
        return others.starts(with: bytes)
    }

    /// The events recorded for connections are consistent: each is opened once, and nothing follows its end.
    private func check(_ events: [RecordingQueue.Event], _ seed: Comment) {
        var (open, finished): (Set<ConnectionLeg>, [ConnectionLeg: Set<Direction>]) = ([], [:])
        for event in events {
            switch event {
            case .opened(let opening): #expect(open.insert(opening.connectionLeg).inserted, seed)
            case .received(let number, let direction, _, _):
                #expect(open.contains(number) && finished[number]?.contains(direction) != true, seed)
            case .finished(let number, let direction, .fin, _):
                #expect(open.contains(number), seed)
                #expect(finished[number, default: []].insert(direction).inserted, seed)
                if finished[number]?.count == 2 { open.remove(number) }
            case .finished(let number, _, .reset, _), .ended(let number, _, _, _):
                #expect(open.remove(number) != nil, seed)
            case .refused, .copied, .dropped, .held, .noticed, .learned, .unrecorded: continue
            }
        }
        #expect(open.isEmpty, "\(seed): a connection that is over has no end")
    }

    /// The next client is served normally.
    private func relays(
        _ proxy: EmbeddedProxy, _ kind: Kind, _ isHeaderExpected: Bool, _ seed: Comment,
        _ generator: inout SeededGenerator
    ) throws {
        let client = try proxy.accept()
        if isHeaderExpected { client.receive(Self.header(&generator)) }
        if kind == .socks { client.receive(Self.request(&generator)) }
        let server = try #require(try proxy.connect(), seed)
        client.receive(Array("ping".utf8))
        server.receive(Array("pong".utf8))
        #expect(server.sent.suffix(4) == Array("ping".utf8) && client.sent.suffix(4) == Array("pong".utf8), seed)
        client.finish()
        server.finish()
        proxy.loop.advanceTime(by: .seconds(1))
        #expect(!client.isOpen && !server.isOpen, seed)
        _ = proxy.recorded()
    }
}
