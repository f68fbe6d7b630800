import Framing
import Interception
import NIOCore
import NIOEmbedded
import Streams
import TestSupport
import Testing

@testable import Proxy

/// A relay with a stage that delays: the test is the network and the clock.
@Suite struct StagedRelayTests {
    private static let listener = Listener(
        listen: .tcp(HostPort(host: "127.0.0.1", port: 1_080)),
        server: .fixed(.tcp(HostPort(host: "192.0.2.1", port: 9_000))))

    private func joined(
        _ milliseconds: Int64, limits: StageChain.Limits = StageChain.Limits()
    ) throws -> (proxy: EmbeddedProxy, client: Wire, server: Wire) {
        let proxy = EmbeddedProxy(Self.listener) { options in
            options.stages = { _, _ in StageChain([DelayStage(delay: .milliseconds(milliseconds))], limits: limits) }
        }
        let client = try proxy.accept()
        return (proxy, client, try #require(try proxy.connect()))
    }

    @Test func bytesComeAfterTheTimeAndInOrder() throws {
        let (proxy, client, server) = try joined(50)
        for byte in UInt8(0)..<10 {
            client.receive([byte])
            proxy.loop.advanceTime(by: .milliseconds(1))
        }
        proxy.loop.advanceTime(by: .milliseconds(39))
        #expect(server.sent == [])
        proxy.loop.advanceTime(by: .milliseconds(1))
        #expect(server.sent == [0])
        proxy.loop.advanceTime(by: .milliseconds(9))
        #expect(server.sent == Array(0..<10))
        server.receive([99])
        proxy.loop.advanceTime(by: .milliseconds(50))
        #expect(client.sent == [99])
    }

    @Test func aFINComesAfterWhatIsHeld() throws {
        let (proxy, client, server) = try joined(50)
        client.receive([1, 2])
        client.finish()
        proxy.loop.advanceTime(by: .milliseconds(49))
        #expect(server.sent == [] && !server.hasFIN)
        proxy.loop.advanceTime(by: .milliseconds(1))
        #expect(server.sent == [1, 2] && server.hasFIN)
        // The other direction continues.
        server.receive([3])
        server.finish()
        proxy.loop.advanceTime(by: .milliseconds(50))
        #expect(client.sent == [3])
        proxy.loop.advanceTime(by: .seconds(1))
        #expect(!client.isOpen && !server.isOpen)
    }

    @Test(arguments: [(50, true), (30_000, false)] as [(Int64, Bool)])
    func aRSTWaitsForWhatIsHeldButNotForLong(_ delay: Int64, arrives: Bool) throws {
        let (proxy, client, server) = try joined(delay)
        client.receive([1, 2])
        client.reset()
        #expect(server.isOpen && server.sent == [])
        proxy.loop.advanceTime(by: .milliseconds(min(delay, 10_000) - 1))
        #expect(server.isOpen)
        proxy.loop.advanceTime(by: .milliseconds(1))
        #expect(server.sent == (arrives ? [1, 2] : []))
        proxy.loop.advanceTime(by: .seconds(11))
        #expect(!server.isOpen)
        let endings = proxy.recorded().compactMap { event -> String? in
            guard case .finished(let connection, let direction, let ending, _) = event else { return nil }
            return "\(connection.leg?.rawValue ?? "") \(ending) \(direction)"
        }
        #expect(
            endings == ["in reset fromClient", "out reset fromClient"],
            "recorded when it was seen and when it was passed on, and once")
    }

    /// What passes as it is waits for its flush; what is cut after it is not written together with it.
    @Test func whatPassesAndWhatIsCutAreSeparateWrites() throws {
        let format = try #require(try BuiltInFormats.format(named: "line"))
        let rule = try RuleFile.rule("segment: every-byte; when: body.text == \"b\"", number: 1, format: format)
        let proxy = EmbeddedProxy(Self.listener) { options in
            options.stages = { connection, _ in RuleSet([rule], seed: 1).stages(of: connection, format: format) }
        }
        let client = try proxy.accept()
        let server = try #require(try proxy.connect())
        // Two reads before the socket has nothing more.
        for text in ["a\n", "b\n"] { client.channel.pipeline.fireChannelRead(ByteBuffer(string: text)) }
        client.channel.pipeline.fireChannelReadComplete()
        proxy.loop.advanceTime(by: .seconds(1))
        #expect(server.flushed == [Array("a\n".utf8), Array("b".utf8), Array("\n".utf8)])
    }

    // MARK: Cuts

    private func everyByte() throws -> (rules: RuleSet, format: Format) {
        let format = try #require(try BuiltInFormats.format(named: "line"))
        return (RuleSet([try RuleFile.rule("segment: every-byte", number: 1, format: format)], seed: 1), format)
    }

    /// A relay that writes each byte by itself.
    private func segmented(deliveryTimeout: Double) throws -> (proxy: EmbeddedProxy, client: Wire, server: Wire) {
        let (rules, format) = try everyByte()
        let proxy = EmbeddedProxy(Self.listener) { options in
            options.deliveryTimeout = deliveryTimeout
            options.stages = { connection, _ in rules.stages(of: connection, format: format) }
        }
        let client = try proxy.accept()
        return (proxy, client, try #require(try proxy.connect()))
    }

    private func reports(_ proxy: EmbeddedProxy) -> [ActionReport] {
        proxy.recorded().compactMap { if case .noticed(_, _, .action(let report), _) = $0 { report } else { nil } }
    }

    /// Two seconds would pass until all of it is written.
    @Test func aRSTDoesNotWaitForCutsForLong() throws {
        let (proxy, client, server) = try segmented(deliveryTimeout: 0.5)
        client.receive([UInt8](repeating: 120, count: 2_000) + [10])
        client.reset()
        proxy.loop.advanceTime(by: .milliseconds(499))
        #expect(server.isOpen)
        proxy.loop.advanceTime(by: .milliseconds(1))
        #expect(!server.isOpen && (400...600).contains(server.sent.count), "\(server.sent.count)")
        let reports = reports(proxy)
        let lost = reports.filter { $0.action == "discard" }
        #expect(lost.map(\.length) == [2_001 - server.sent.count] && lost.first?.rule == ActionReport.limits)
        // What the rule did to the frame is reported, too, and only once.
        #expect(reports.map(\.action) == ["segment", "discard"] && reports.first?.isProven == false)
        proxy.loop.advanceTime(by: .seconds(3))
        #expect(self.reports(proxy).isEmpty)
    }

    /// All of a frame was written, and its receiver has not read the last piece: that is reported before the end.
    @Test func whatRulesDidIsReportedBeforeARST() throws {
        var asked = 0
        let (proxy, driver, server) = try driven(deliveryTimeout: 0.5) { _ in
            asked += 1
            return asked <= 2
        }
        driver.take(ByteBuffer(string: "a\n"), from: .fromClient, isRecorded: false)
        driver.take(.end(.reset, .fromClient))
        #expect(server.sent == Array("a\n".utf8) && server.isOpen)
        proxy.loop.advanceTime(by: .milliseconds(499))
        #expect(reports(proxy).isEmpty)
        proxy.loop.advanceTime(by: .milliseconds(1))
        #expect(reports(proxy).map(\.isProven) == [false])
        proxy.loop.advanceTime(by: .seconds(3))
        #expect(reports(proxy).isEmpty && !server.isOpen)
        withExtendedLifetime(driver) {}
    }

    /// Many short writes take more memory than their bytes.
    @Test func manyCutsPauseReading() throws {
        let (proxy, client, server) = try segmented(deliveryTimeout: 10)
        client.receive([UInt8](repeating: 120, count: 2_000) + [10])
        let before = client.reads
        client.channel.read()
        proxy.loop.run()
        #expect(client.reads == before)
        proxy.loop.advanceTime(by: .seconds(3))
        #expect(client.reads == before + 1 && server.sent.count == 2_001)
    }

    /// Whichever side sends, and although its receiver is waited for, or it is slowed down.
    @Test(
        arguments: ["segment: every-byte", "latency: 100 ms", "rate: 1 KiB/s", "stall: 1 s; bytes: 5"], [false, true])
    func aResetByARuleComesAfterTheBytes(other: String, isFromServer: Bool) throws {
        let format = try #require(try BuiltInFormats.format(named: "line"))
        let rules = RuleSet(
            try ["reset: 40", other].enumerated().map { try RuleFile.rule($1, number: $0 + 1, format: format) }, seed: 1
        )
        let proxy = EmbeddedProxy(Self.listener) { options in
            options.stages = { connection, _ in rules.stages(of: connection, format: format) }
        }
        let client = try proxy.accept()
        let server = try #require(try proxy.connect())
        let (sender, receiver) = isFromServer ? (server, client) : (client, server)
        let sent = Array(String(repeating: "abcdefg\n", count: 8).utf8)
        sender.receive(sent)
        proxy.loop.advanceTime(by: .seconds(3))
        #expect(receiver.sent == Array(sent.prefix(40)) && !sender.isOpen && !receiver.isOpen)
    }

    /// What writes each byte by itself, where the test says whether the receiver has read everything.
    private func driven(
        deliveryTimeout: Double, proof: @escaping (RelayHandler) -> Bool?
    ) throws -> (proxy: EmbeddedProxy, driver: StageDriver, server: Wire) {
        let (rules, format) = try everyByte()
        let chain = try #require(rules.stages(of: 1, format: format))
        let proxy = EmbeddedProxy(Self.listener)
        let client = try proxy.accept()
        let server = try #require(try proxy.connect())
        let ends = try [client, server].map { wire in
            try wire.channel.pipeline.syncOperations.handler(type: RelayHandler.self)
        }
        let address = Endpoint(Wire.address(9_000))
        let recording = QueuedRecording(
            proxy.queue, connection: proxy.queue.open(client: address, server: address), passedOn: nil, on: proxy.loop)
        let driver = StageDriver(
            chain, on: proxy.loop, from: ends[0], to: ends[1], recording, deliveryTimeout: deliveryTimeout,
            proof: proof)
        driver.take(.began)
        return (proxy, driver, server)
    }

    /// A receiver that does not read is waited for once in a frame, and not at each of its cuts.
    @Test func whoDoesNotReadIsWaitedForOnceInAFrame() throws {
        let (proxy, driver, server) = try driven(deliveryTimeout: 10) { _ in false }
        driver.take(ByteBuffer(string: "abcdef\nxy\n"), from: .fromClient, isRecorded: false)
        // What was written before the frame is waited for, too.
        proxy.loop.advanceTime(by: .milliseconds(999))
        #expect(server.sent == [])
        proxy.loop.advanceTime(by: .milliseconds(101))
        #expect(server.sent == Array("abcdef\n".utf8))
        proxy.loop.advanceTime(by: .milliseconds(1_100))
        #expect(server.sent == Array("abcdef\nxy\n".utf8))
        #expect(reports(proxy).map(\.isProven) == [false, false])
        withExtendedLifetime(driver) {}
    }

    /// However many cuts wait, and however soon their receipt is proven, the stack stays as small.
    @Test func manyCutsAreProvenAtOnce() throws {
        var isFirst = true
        let (proxy, driver, server) = try driven(deliveryTimeout: 10) { _ in
            defer { isFirst = false }
            return !isFirst
        }
        let line = [UInt8](repeating: 0x78, count: 12_000) + [0x0a]
        driver.take(ByteBuffer(bytes: line), from: .fromClient, isRecorded: false)
        #expect(server.sent.isEmpty)
        proxy.loop.advanceTime(by: .milliseconds(1))
        #expect(server.sent == line)
        #expect(reports(proxy).map(\.isProven) == [true])
        withExtendedLifetime(driver) {}
    }

    @Test(arguments: [false, true]) func aRSTAfterAFINReachesTheOtherEnd(stage: Bool) throws {
        let proxy = EmbeddedProxy(Self.listener) { options in
            if stage { options.stages = { _, _ in StageChain([DelayStage(delay: .milliseconds(5))]) } }
        }
        let client = try proxy.accept()
        let server = try #require(try proxy.connect())
        client.finish()
        proxy.loop.advanceTime(by: .milliseconds(50))
        #expect(server.hasFIN && server.isOpen)
        client.reset()
        proxy.loop.advanceTime(by: .seconds(1))
        #expect(!server.isOpen)
    }

    @Test func readingPausesAboveTheLimit() throws {
        var limits = StageChain.Limits()
        limits.bytes = 1_000
        let (proxy, client, server) = try joined(50, limits: limits)
        func reads(_ wire: Wire) -> Bool {
            let before = wire.reads
            wire.channel.read()
            proxy.loop.run()
            return wire.reads > before
        }
        client.receive([UInt8](repeating: 1, count: 1_000))
        #expect(reads(client))
        client.receive([2])
        #expect(!reads(client), "more than the limit is held")
        #expect(reads(server), "the other direction goes on")
        let before = client.reads
        proxy.loop.advanceTime(by: .milliseconds(50))
        #expect(server.sent.count == 1_001 && client.reads == before + 1, "what was asked for is read now")
    }

    @Test func whatIsHeldForTooLongIsReleased() throws {
        let (proxy, client, server) = try joined(600_000)
        client.receive([1, 2])
        proxy.loop.advanceTime(by: .nanoseconds(59_999_999_999))
        #expect(server.sent == [])
        proxy.loop.advanceTime(by: .nanoseconds(1))
        #expect(server.sent == [1, 2])
    }

    /// The recording contains the data as it was read, with the times of reading.
    @Test func theRecordIsOfWhatWasRead() throws {
        let (proxy, client, _) = try joined(50)
        client.receive([1, 2])
        let bytes = proxy.recorded().compactMap { event in
            if case .received(_, .fromClient, let buffer, _) = event { Array(buffer.readableBytesView) } else { nil }
        }
        #expect(bytes == [[1, 2]])
    }

    /// Whatever both ends do, the process continues, and nothing is kept when they are gone.
    @Test func anyEndIsAnEnd() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<400 {
            let (proxy, client, server) = try joined(.random(in: 0...80, using: &generator))
            var (sent, answers) = ([UInt8](), [UInt8]())
            for _ in 0..<Int.random(in: 1...25, using: &generator) {
                switch Int.random(in: 0..<12, using: &generator) {
                case 0...3:
                    guard client.isOpen else { continue }
                    let bytes = generator.bytes(Int.random(in: 1...9, using: &generator))
                    client.receive(bytes)
                    sent += bytes
                case 4...6:
                    guard server.isOpen else { continue }
                    let bytes = generator.bytes(Int.random(in: 1...9, using: &generator))
                    server.receive(bytes)
                    answers += bytes
                case 7: client.finish()
                case 8: server.finish()
                case 9: if Int.random(in: 0..<6, using: &generator) == 0 { client.reset() }
                case 10: if Int.random(in: 0..<6, using: &generator) == 0 { server.vanish() }
                default: proxy.loop.advanceTime(by: .milliseconds(.random(in: 0...60, using: &generator)))
                }
                #expect(sent.starts(with: server.sent) && answers.starts(with: client.sent), "seed \(seed)")
            }
            client.vanish()
            server.vanish()
            proxy.loop.advanceTime(by: .seconds(120))
            #expect(!client.isOpen && !server.isOpen, "seed \(seed)")
        }
    }
}
