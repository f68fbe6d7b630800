import Control
import Framing
import NIOHTTP1
import Pipeline
import Streams
import Testing
import Trace

@testable import Page

/// Formats with the same name, as two versions of a file have, or one built-in format with two byte orders: the frames of
/// each connection are read by its own one.
@Suite struct SameNameTests {
    private static func format(byteOrder: String = "big", _ more: String = "") throws -> Format {
        try FormatLoader.load(
            """
            format: chat
            byteOrder: \(byteOrder)
            header: [{ id: u16 }, { length: u16 }]
            framing: { rule: length-field, field: length }
            \(more)
            """, file: "chat")
    }

    /// What a decoder puts into the page's queue: three connections with a frame each, the first and the last of one port.
    private func decode() throws -> [PageItem] {
        let queue = PageQueue(.loses)
        let sink = PageSink(queue, source: "tests", tool: "tests", hasPackets: false)
        var options = DecodingOptions(.automatic([]))
        options.byPort = [8_001: try Self.format(), 8_002: try Self.format(byteOrder: "little")]
        let decoder = Decoder(options, analyses: sink.analyses(), sinks: [sink])
        let loopback = IPAddress(v4: 0x7f00_0001)
        let frames: [(port: UInt16, bytes: [UInt8])] = [
            (8_001, [0, 7, 0, 1, 65]), (8_002, [7, 0, 1, 0, 65]), (8_001, [0, 8, 0, 1, 65]),
        ]
        for (place, frame) in frames.enumerated() {
            let time = Timestamp(nanoseconds: Int64(place))
            let connection = decoder.open(
                Opening(
                    number: place + 1, time: time, client: Endpoint(loopback, UInt16(40_000 + place)),
                    server: Endpoint(loopback, frame.port)))
            connection.received(frame.bytes.span.bytes, from: .fromClient, at: time, packet: 0)
            connection.closed(Closing(reason: .fin, by: .fromClient, time: time))
        }
        decoder.finish()
        return try #require(queue.take()).items
    }

    @Test func conditionsAndFieldsAreReadByTheConnectionsOwnFormat() async throws {
        let page = try Page(isLive: false)
        page.store.take(try decode())
        let router = PageRouter(page: page, safety: ShownTrace.safety, actions: nil, capture: nil)
        let expected = [("fields.id == 7", [1, 2]), ("fields.id == 8", [3]), ("fields.length == 1", [1, 2, 3])]
        for (condition, found) in expected {
            let rows = try await router.rows("frames", [("filter", condition)])
            #expect(rows.compactMap { $0["connection"]?.integer } == found, "\(condition)")
        }
        page.end()
    }

    @Test func connectionsOfAFormatShareIt() throws {
        let formats: [(format: SharedFormat, leg: ConnectionLeg)] = try decode().compactMap { item in
            guard case .format(let format, let leg) = item.content else { return nil }
            return (format, leg)
        }
        #expect(formats.map(\.leg) == (1...3).map { ConnectionLeg($0) })
        #expect(formats[0].format === formats[2].format && formats[0].format !== formats[1].format)
    }

    /// Rules may change what is passed on, so that it is recognized as another format.
    @Test func eachLegHasItsOwnFormat() throws {
        let store = try EventStore()
        let (sent, passedOn) = (try Self.format(), try Self.format(byteOrder: "little", "secret: [fields.id]"))
        store.take(try MadeUp.items([MadeUp.opened(1)]))
        store.take([
            PageItem(.format(SharedFormat(sent), of: ConnectionLeg(1, .in))),
            PageItem(.format(SharedFormat(passedOn), of: ConnectionLeg(1, .out))),
        ])
        #expect(store.format(of: 1)?.secrets.isEmpty == true && store.format(of: 1, .in)?.secrets.isEmpty == true)
        #expect(store.format(of: 1, .out)?.secrets.isEmpty == false && store.format(of: 2) == nil)
    }

    /// Whether packets have secrets is a matter of their connections' formats, not of another one with the same name.
    @Test func onlyPacketsOfConnectionsWithSecretsAreRefused() async throws {
        let page = try Page(isLive: false)
        let formats = [try Self.format(), try Self.format("secret: [fields.id]")]
        for (place, format) in formats.enumerated() {
            let number = place + 1
            var items = try MadeUp.items([MadeUp.opened(number), MadeUp.format(number, "chat")])
            items.append(PageItem(.format(SharedFormat(format), of: ConnectionLeg(number))))
            page.store.take(items)
        }
        let router = PageRouter(
            page: page, safety: ShownTrace.safety, actions: nil, capture: { _ in ([1], true) })
        for (query, status) in [("connection=1", 200), ("connection=2", 403), ("", 403)] {
            let response = try await router.response("/api/v1/page/save?as=capture&\(query)")
            #expect(response.status.code == UInt(status), "\(query)")
        }
        page.end()
    }
}
