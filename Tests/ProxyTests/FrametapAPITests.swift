import Framing
import Interception
import NIOHTTP1
import Streams
import Synchronization
import Testing
import Trace

@testable import Control
@testable import Proxy

/// frametap's own API, with what a journal has of the connections of its listeners.
@Suite struct FrametapAPITests {
    /// Rules of the command line that do nothing.
    private struct NoRules: ListenerRules {
        let texts: [String] = []
        let seed: UInt64 = 0
        let format: Format? = nil

        func set(_ texts: [String]) {}

        func stages(of connection: Int, to server: Endpoint, breakpoints: [String]) -> StageChain? { nil }
    }

    /// A proxy that does not listen.
    private static func proxy() -> ProxyServer { ProxyServer(ProxyOptions([]), queue: RecordingQueue()) }

    private static func api(_ proxy: ProxyServer, _ journal: EventJournal) -> FrametapAPI {
        FrametapAPI(proxy, journal, PacketJournal(), seed: 0, limits: StageChain.Limits(), tool: "tests") { name in
            throw HTTPFault(.badRequest, "there is no format \(name)")
        }
    }

    /// The response to a request.
    ///
    /// - Parameter listeners: the connections of each listener, by its name.
    private func response(
        to target: String, _ journal: EventJournal, listeners: [String: [Int]] = ["a": [1]]
    ) async throws -> HTTPResponse {
        let proxy = Self.proxy()
        let api = Self.api(proxy, journal)
        let server = Endpoint(IPAddress(v4: 0x7f00_0001), 2)
        for (name, connections) in listeners {
            let managed = ProxyServer.managing { _, _ in nil }
            let listener = ControlledListener(
                name, managed, listen: "127.0.0.1:1", to: "\(server)", NoRules(), formatOf: { _ in nil })
            await api.adopt(listener)
            for connection in connections { _ = managed.stages(of: connection, to: server) }
        }
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: target)
        let request = try #require(HTTPRequest(head, body: []))
        let response = await api.answer(request, request.path)
        try await proxy.close()
        return response
    }

    /// The lines of a response that goes on until the journal is over.
    private func followed(_ journal: EventJournal) async throws -> [JSONValue] {
        let response = try await response(to: "/listeners/a/events?follow=true", journal)
        let follow = try #require(response.follow)
        let written = Mutex<[UInt8]>([])
        try await follow { bytes in written.withLock { $0 += bytes } }
        return try lines(written.withLock { $0 })
    }

    private func lines(_ bytes: [UInt8]) throws -> [JSONValue] {
        try bytes.split(separator: UInt8(ascii: "\n")).map { try JSONValue(parsing: Array($0).span.bytes) }
    }

    private func frame(_ index: Int, on connection: Int = 1) -> TraceEvent {
        let time = Timestamp(nanoseconds: 0)
        return .frame(
            FrameEvent(
                connection: connection, from: .fromClient, index: index, time: time, started: time, offset: 0,
                length: 1, segments: 1, merged: false, type: "line", isHeartbeat: false, fields: .object([]),
                body: .object([.init("length", .number("0"))])))
    }

    /// A journal of so many frames, after which nothing follows.
    private func journal(_ count: Int, most: Int = 100_000) -> EventJournal {
        let journal = EventJournal(most: most)
        for index in 0..<count { journal.take(frame(index)) }
        journal.finish()
        return journal
    }

    @Test func aTraceHasTheConnectionsOfItsListener() async throws {
        let journal = EventJournal()
        for connection in 1...4 { journal.take(frame(0, on: connection)) }
        journal.publish()
        let listeners = ["a": [1, 3], "b": [2]]
        for (name, connections) in listeners {
            let response = try await response(to: "/listeners/\(name)/trace", journal, listeners: listeners)
            let lines = try lines(response.body)
            #expect(lines.compactMap { $0["connection"]?.integer } == connections, "\(name): \(lines)")
        }
    }

    /// More than is written at once may be left when the last event was recorded.
    @Test func followersGetAllThatIsLeft() async throws {
        let lines = try await followed(journal(2_500))
        #expect(lines.compactMap { $0["index"]?.integer } == Array(0..<2_500))
    }

    @Test func followersLearnWhatTheyMissed() async throws {
        let lines = try await followed(journal(20, most: 10))
        #expect(lines.first?["missed"]?.integer == 10, "\(lines.first?.compactText ?? "nothing")")
        #expect(lines.compactMap { $0["index"]?.integer } == Array(10..<20))
        // Who goes on from there gets them, too.
        #expect(lines.compactMap { $0["cursor"]?.integer } == Array(10...20))
    }

    /// A time that no clock has would end the proxy.
    @Test func waitsAreBounded() async throws {
        let journal = journal(1)
        for time in ["301", "1e300", "inf", "nan", "-1"] {
            let refused = try await response(to: "/listeners/a/wait?when=index+>+7&timeout=\(time)", journal)
            // Where one is taken that is too long, the next one is not tried.
            try #require(refused.status == .badRequest, "\(time): \(refused.status)")
        }
        for time in ["300", "0", "0.5"] {
            let answered = try await response(to: "/listeners/a/wait?when=index+==+0&timeout=\(time)", journal)
            #expect(answered.status == .ok, "\(time): \(answered.status)")
        }
    }

    @Test func onlyTheWholeTokenOpensIt() async throws {
        let proxy = Self.proxy()
        let token = "0123456789abcdef0123456789abcdef"
        let control = ControlAPI(
            proxy, Self.api(proxy, EventJournal()), seed: 0, limits: StageChain.Limits(), token: token)
        let server = try await control.serve(at: HostPort(host: "127.0.0.1", port: 0))
        defer { server.close() }
        let place = HostPort(host: server.host, port: server.port)
        _ = try await ControlClient(place, token: token).get(["listeners"])
        for wrong in [String(token.dropLast()), String(token.prefix(1)), token + "x", "1\(token.dropFirst())"] {
            let failure = await #expect(throws: ControlClient.Failure.self, "\(wrong)") {
                _ = try await ControlClient(place, token: wrong).get(["listeners"])
            }
            #expect(failure?.status == 401, "\(wrong)")
        }
        try await proxy.close()
    }

    /// The last ones of a listener are known, however many it has had.
    @Test func theNumbersOfConnectionsAreBounded() {
        let most = ConnectionNumbers.most
        var numbers = ConnectionNumbers()
        for number in 1...5 * most { numbers.insert(number) }
        #expect(numbers.all.count < 2 * most && numbers.all.isSuperset(of: 4 * most + 1...5 * most))
    }
}
