import Foundation
import Interception
import NIOCore
import NIOEmbedded
import Streams
import Testing

@testable import Proxy

/// Timeouts, ends and replies to the nanosecond: the test is the clock.
@Suite struct EmbeddedRelayTests {
    private static let listen = Place.tcp(HostPort(host: "127.0.0.1", port: 1_080))
    private static let plain = Listener(
        listen: listen, server: .fixed(.tcp(HostPort(host: "192.0.2.1", port: 9_000))))
    private static let socks = Listener(listen: listen, server: .chosen(by: .socks5))
    private static let request: [UInt8] = [5, 1, 0, 5, 1, 0, 1, 192, 0, 2, 1, 35, 40]

    private func joined(_ proxy: EmbeddedProxy) throws -> (client: Wire, server: Wire) {
        let client = try proxy.accept()
        return (client, try #require(try proxy.connect()))
    }

    private func expired(_ proxy: EmbeddedProxy) -> Bool {
        proxy.recorded().contains { if case .ended(_, .timeout, _, _) = $0 { true } else { false } }
    }

    @Test func anIdleConnectionEndsWhenTheTimeIsOverAndNotBefore() throws {
        let proxy = EmbeddedProxy(Self.plain) { $0.idleTimeout = 5 }
        let (client, server) = try joined(proxy)
        proxy.loop.advanceTime(by: .nanoseconds(4_999_999_999))
        #expect(client.isOpen && server.isOpen && !expired(proxy))
        // A byte at the last moment restarts the timeout, whichever side it comes from.
        server.receive([1])
        proxy.loop.advanceTime(by: .nanoseconds(4_999_999_999))
        client.receive([1])
        proxy.loop.advanceTime(by: .nanoseconds(4_999_999_999))
        #expect(client.isOpen && server.isOpen && !expired(proxy))
        proxy.loop.advanceTime(by: .nanoseconds(1))
        #expect(!client.isOpen && !server.isOpen && expired(proxy))
    }

    /// Its client has closed both directions; the server has not been sent everything, and does not read.
    @Test func aServerThatIsLeftOverEndsWhenTheTimeIsOver() throws {
        let proxy = EmbeddedProxy(Self.plain) { $0.idleTimeout = 5 }
        let (client, server) = try joined(proxy)
        server.isStuck = true
        client.receive(Array("all of this".utf8))
        server.finish()
        // After a FIN of the proxy's own, that of the client closes the channel without an event of its own.
        client.vanish()
        #expect(!client.isOpen && server.isOpen && client.hasFIN)
        proxy.loop.advanceTime(by: .seconds(5))
        #expect(!server.isOpen)
    }

    /// The write that fails is the first that is known of the reset, and a FIN was to follow it.
    @Test func aWriteThatFailsBeforeAHalfCloseIsNoCleanEnd() throws {
        let proxy = EmbeddedProxy(Self.plain)
        let (client, server) = try joined(proxy)
        server.isStuck = true
        client.receive(Array("all of this".utf8))
        client.finish()
        server.vanish()
        proxy.loop.run()
        #expect(!client.hasFIN && !client.isOpen)
        #expect(endings(proxy) == ["fin fromClient", "reset fromServer"])
    }

    /// It is relayed in the same turn of the event loop in which it is known, before the channel reports that it is closed.
    @Test func whatAServerSaysBeforeItResetsIsRelayedBesideTLS() throws {
        let proxy = EmbeddedProxy(Self.plain) { ($0.tls.mode, $0.tls.trust) = (.intercept, .nothing) }
        let client = try proxy.accept()
        let server = try #require(try proxy.connect(early: Array("too busy".utf8)))
        server.reset()
        proxy.loop.run()
        #expect(client.sent == Array("too busy".utf8) && !client.isOpen)
        #expect(endings(proxy) == ["reset fromServer"])
    }

    /// Its channel has reported its end when TLS is put on it.
    @Test func aServerThatIsGoneIsNotWaitedForInAHandshake() throws {
        let proxy = EmbeddedProxy(Self.plain) { ($0.tls.mode, $0.tls.trust) = (.client, .nothing) }
        let client = try proxy.accept()
        _ = try #require(try proxy.connect(isGone: true))
        #expect(!client.isOpen)
        let reasons = proxy.recorded().compactMap { if case .ended(_, let reason, _, _) = $0 { reason } else { nil } }
        #expect(!reasons.contains(.timeout))
    }

    @Test(arguments: [[], [5], [5, 1, 0], request.dropLast()] as [[UInt8]])
    func aSOCKSClientThatDoesNotGoOnIsSentAwayAndNothingElseHappens(_ bytes: [UInt8]) throws {
        let proxy = EmbeddedProxy(Self.socks) { $0.connectTimeout = 3 }
        let client = try proxy.accept()
        client.receive(bytes)
        proxy.loop.advanceTime(by: .nanoseconds(2_999_999_999))
        #expect(client.isOpen)
        proxy.loop.advanceTime(by: .nanoseconds(1))
        #expect(!client.isOpen)
        let other = try proxy.accept()
        other.receive(Self.request)
        #expect(try proxy.connect() != nil)
        #expect(other.sent.starts(with: [5, 0, 5, 0]))
        other.vanish()
        proxy.loop.advanceTime(by: .seconds(20))
    }

    @Test(
        arguments: [
            (ChannelError.connectTimeout(.seconds(1)), 4), (IOError(errnoCode: ECONNREFUSED, reason: ""), 5),
            (IOError(errnoCode: ENETUNREACH, reason: ""), 3), (IOError(errnoCode: EHOSTUNREACH, reason: ""), 4),
            (IOError(errnoCode: EACCES, reason: ""), 2), (IOError(errnoCode: EMFILE, reason: ""), 1),
        ] as [(any Error, UInt8)])
    func aSOCKSClientLearnsWhyThereIsNoServer(_ error: any Error, _ code: UInt8) throws {
        let proxy = EmbeddedProxy(Self.socks)
        let client = try proxy.accept()
        client.receive(Self.request)
        proxy.fail(error)
        #expect(client.sent == [5, 0, 5, code, 0, 1, 0, 0, 0, 0, 0, 0])
        #expect(client.hasFIN)
        proxy.loop.advanceTime(by: .seconds(2))
        #expect(!client.isOpen)
    }

    // MARK: Before a client is admitted

    /// A client that has connected before it is known whether it is the proxy itself, and what makes that known.
    private func waiting(
        _ proxy: EmbeddedProxy, by managed: ManagedListener? = nil
    ) throws -> (client: Wire, admit: () -> Void) {
        let handle = proxy.context.own.begins()
        let admit = {
            proxy.context.own.begun(handle)
            proxy.loop.run()
        }
        return (try proxy.accept(by: managed), admit)
    }

    /// Once a client has ended, the system delivers all that it has sent, whether or not anything is read.
    @Test func whatAClientHadSentBeforeItWasAdmittedIsRelayed() throws {
        let proxy = EmbeddedProxy(Self.plain)
        let (client, admit) = try waiting(proxy)
        client.receive(Array("all of this".utf8))
        client.finish()
        #expect(client.isOpen && proxy.wanted == nil)
        admit()
        let server = try #require(try proxy.connect())
        #expect(server.sent == Array("all of this".utf8) && server.hasFIN)
        server.receive(Array("answer".utf8))
        server.finish()
        proxy.loop.advanceTime(by: .seconds(1))
        #expect(client.sent == Array("answer".utf8) && !client.isOpen && !server.isOpen)
        #expect(endings(proxy) == ["fin fromClient", "fin fromServer"])
    }

    @Test func aRequestFromBeforeItsClientWasAdmittedIsAnswered() throws {
        let proxy = EmbeddedProxy(Self.socks)
        let (client, admit) = try waiting(proxy)
        client.receive(Self.request + [7])
        client.finish()
        #expect(client.sent == [])
        admit()
        let server = try #require(try proxy.connect())
        #expect(client.sent.starts(with: [5, 0, 5, 0]) && server.sent == [7] && server.hasFIN)
        server.finish()
        proxy.loop.advanceTime(by: .seconds(1))
        #expect(!client.isOpen && !server.isOpen)
    }

    @Test(arguments: [[], [5], request.dropLast()] as [[UInt8]], [false, true])
    func aClientThatIsGoneBeforeItIsAdmittedLeavesNothing(_ bytes: [UInt8], isReset: Bool) throws {
        let proxy = EmbeddedProxy(Self.socks) { $0.maxConnections = 1 }
        let (client, admit) = try waiting(proxy)
        client.receive(bytes)
        if isReset { client.reset() } else { client.finish() }
        admit()
        proxy.loop.advanceTime(by: .seconds(2))
        #expect(!client.isOpen && proxy.wanted == nil)
        let refused = proxy.recorded().count { if case .refused = $0 { true } else { false } }
        #expect(refused == 1)
        // Its place is free.
        let other = try proxy.accept()
        other.receive(Self.request)
        #expect(try proxy.connect() != nil)
    }

    // MARK: Listeners that are closed

    /// It is the command that ends the connection, and no half of a transfer looks complete.
    @Test(arguments: [false, true]) func aListenerThatIsClosedResetsBothEnds(isHalfClosed: Bool) throws {
        let proxy = EmbeddedProxy(Self.plain)
        let managed = ManagedListener { _, _ in nil }
        let client = try proxy.accept(by: managed)
        let server = try #require(try proxy.connect())
        client.receive(Array("half of it".utf8))
        if isHalfClosed { server.finish() }
        #expect(client.hasFIN == isHalfClosed)
        managed.resetOpen()
        proxy.loop.run()
        #expect(!client.isOpen && !server.isOpen && !server.hasFIN)
        let ends = proxy.recorded().compactMap { event -> String? in
            switch event {
            case .finished(_, let direction, let ending, _): "\(ending) \(direction)"
            case .ended(_, let reason, _, _): reason.rawValue
            default: nil
            }
        }
        #expect(ends == (isHalfClosed ? ["fin fromServer", "rule"] : ["rule"]))
    }

    /// How connections have begun and ended that are recorded.
    private func connections(_ proxy: EmbeddedProxy) -> [String] {
        proxy.recorded().compactMap { event -> String? in
            switch event {
            case .opened: "opened"
            case .finished(_, let direction, let ending, _): "\(ending) \(direction)"
            case .ended(_, let reason, _, _): "ended: \(reason.rawValue)"
            case .refused(_, let reason, _, _): "refused: \(reason.rawValue)"
            default: nil
            }
        }
    }

    /// It is not joined with the server that is being connected to, and it is the command that ends it.
    @Test(arguments: [false, true]) func aListenerThatIsClosedResetsWhoIsStillEntering(isConnecting: Bool) throws {
        let proxy = EmbeddedProxy(isConnecting ? Self.plain : Self.socks)
        let managed = ManagedListener { _, _ in nil }
        let client = try proxy.accept(by: managed)
        if isConnecting { client.receive([1]) } else { client.receive([5]) }
        #expect((proxy.wanted != nil) == isConnecting)
        managed.resetOpen()
        proxy.loop.run()
        #expect(!client.isOpen)
        let server = try proxy.connect()
        #expect((server != nil) == isConnecting)
        #expect(server?.isOpen != true && server?.sent.isEmpty != false)
        proxy.loop.advanceTime(by: .seconds(60))
        #expect(connections(proxy) == ["refused: rule"])
    }

    /// Nor is a server connected to for a client that is not admitted yet.
    @Test func aListenerThatIsClosedAdmitsNobody() throws {
        let proxy = EmbeddedProxy(Self.plain)
        let managed = ManagedListener { _, _ in nil }
        let (client, admit) = try waiting(proxy, by: managed)
        managed.resetOpen()
        proxy.loop.run()
        #expect(!client.isOpen)
        admit()
        #expect(proxy.wanted == nil)
        #expect(connections(proxy) == ["refused: rule"])
    }

    /// A client that was accepted just before its listener was closed is not its server's.
    @Test func whoIsAcceptedTooLateIsNotRelayed() async throws {
        let managed = ManagedListener { _, _ in nil }
        try await managed.close()
        try relayNobody(by: managed)
    }

    private func relayNobody(by managed: ManagedListener) throws {
        let proxy = EmbeddedProxy(Self.plain)
        let client = try proxy.accept(by: managed)
        proxy.loop.run()
        let server = try proxy.connect()
        #expect(!client.isOpen && server?.isOpen != true)
        #expect(connections(proxy) == ["refused: rule"])
    }

    // MARK: Commands

    /// Who waits for a command waits until the stages of the open connections have it.
    @Test func aCommandIsDeliveredWhenTheStagesHaveIt() throws {
        let proxy = EmbeddedProxy(Self.plain)
        let managed = ManagedListener { connection, _ in
            StageChain([LinkStage([LineRule](), seed: 1, connection: connection)])
        }
        let client = try proxy.accept(by: managed)
        let server = try #require(try proxy.connect())
        let hole = LineRule(name: "hole", action: .blackhole(after: 0), from: nil)
        let delivery = managed.send { _ in .setLine([hole]) }
        let taken = try #require(delivery.taken.first)
        var isTaken = false
        taken.assumeIsolated().whenSuccess { _ in isTaken = true }
        #expect(delivery.taken.count == 1 && !isTaken)
        proxy.loop.run()
        #expect(isTaken)
        client.receive([1, 2, 3])
        #expect(server.sent.isEmpty)
    }

    // MARK: Ends

    @Test func aHalfCloseComesAfterWhatIsStillToBeWritten() throws {
        let proxy = EmbeddedProxy(Self.plain)
        let (client, server) = try joined(proxy)
        server.isStuck = true
        client.receive(Array("all of this".utf8))
        client.finish()
        #expect(!server.hasFIN, "the server has not been sent all of it")
        server.deliver()
        #expect(server.hasFIN && server.sent == Array("all of this".utf8))
        server.receive(Array("answer".utf8))
        #expect(client.sent == Array("answer".utf8))
        server.finish()
        proxy.loop.advanceTime(by: .seconds(1))
        #expect(!client.isOpen && !server.isOpen)
    }

    /// Over a Unix socket the other program's `close` ends both directions at once.
    @Test func aUnixSocketThatIsClosedIsNoReset() throws {
        let proxy = EmbeddedProxy(Listener(listen: .unix(path: "/x"), server: .fixed(.unix(path: "/y"))))
        let (client, server) = try joined(proxy)
        client.receive([1])
        client.finish()
        client.vanish()
        #expect(server.hasFIN && server.isOpen)
        server.finish()
        proxy.loop.advanceTime(by: .seconds(1))
        #expect(!server.isOpen)
        #expect(endings(proxy) == ["fin fromClient", "fin fromServer"])
    }

    @Test func whatIsSentToAClosedUnixSocketResetsAsOverTCP() throws {
        let proxy = EmbeddedProxy(Listener(listen: .unix(path: "/x"), server: .fixed(.unix(path: "/y"))))
        let (client, server) = try joined(proxy)
        client.finish()
        client.vanish()
        server.receive([1])
        proxy.loop.advanceTime(by: .seconds(1))
        #expect(!server.isOpen)
        #expect(endings(proxy) == ["fin fromClient", "reset fromClient"])
    }

    private func endings(_ proxy: EmbeddedProxy) -> [String] {
        proxy.recorded().compactMap { event in
            if case .finished(_, let direction, let ending, _) = event { "\(ending) \(direction)" } else { nil }
        }
    }

    @Test func aLosslessRelayWaitsForTheRecorderAndGoesOn() throws {
        let queue = RecordingQueue(limit: 10_000, isLossless: true)
        let proxy = EmbeddedProxy(Self.plain, queue: queue) { $0.idleTimeout = 5 }
        let (client, server) = try joined(proxy)
        func read(_ wire: Wire) -> Bool {
            let before = wire.reads
            wire.channel.read()
            proxy.loop.run()
            return wire.reads > before
        }
        #expect(read(client))
        for _ in 0..<4 { client.receive([UInt8](repeating: 1, count: 4_000)) }
        #expect(!read(client) && !read(server), "nobody reads while the recorder is behind")
        // That does not count as silence of the peers.
        proxy.loop.advanceTime(by: .seconds(60))
        #expect(client.isOpen && server.isOpen)
        let before = (client.reads, server.reads)
        let events = proxy.recorded()
        proxy.loop.run()
        #expect(client.reads == before.0 + 1 && server.reads == before.1 + 1, "both go on")
        let bytes = events.reduce(0) {
            if case .received(_, _, let buffer, _) = $1 { $0 + buffer.readableBytes } else { $0 }
        }
        #expect(bytes == 16_000 && server.sent.count == 16_000)
        #expect(queue.losses.dropped.bytes == 0 && queue.losses.pauses == 1)
        proxy.loop.advanceTime(by: .seconds(5))
        #expect(!client.isOpen, "then silence counts again")
    }
}
