import Foundation
import Framing
import Pipeline
import TestSupport
import Testing

/// A server that does not read.
@Suite(.serialized) struct BackPressureTests {
    @Test func aSlowReaderSlowsTheSenderAndTheProxyStaysSmall() async throws {
        let ends = try await Ends("slow-reader")
        let proxy = try await ProxyProgram(to: ends.server, ["--as", "none"])
        let before = try proxy.residentBytes()
        try ends.program.send("\(proxy.port)")
        _ = try await ends.program.match(/(stuck)/)
        let after = try proxy.residentBytes()
        try ends.program.send("go on")
        let seen = try await ends.result()
        // Two socket pairs buffer a few megabytes each; the rest stays with the client.
        let accepted = try #require(seen.numbers["accepted while stuck"])
        #expect(accepted < 32 << 20, "\(seen)")
        #expect(after - before < 24 << 20, "grew from \(before) to \(after)")
        #expect(seen.numbers["server count"] == 64 << 20, "and then everything arrives")
        #expect(seen.text.contains("\"server right\": true"))
        proxy.program.signal(SIGTERM)
        #expect(try await proxy.program.exitStatus() == 0)
    }

    /// What the server's socket does not accept waits in the proxy, and nothing overtakes it.
    @Test func bytesThatWaitStayInOrder() async throws {
        let ends = try await Ends("trickle")
        let proxy = try await RunningProxy(to: ends.server)
        try ends.program.send("\(proxy.port)")
        let seen = try await ends.result()
        #expect(seen.arrived(from: "client", to: "server"), "\(seen)")
        let closed = try #require(try await proxy.stop().lines().last { $0.event == "closed" })
        #expect(closed.number("bytes", of: "client") == 12 << 20)
    }

    /// Data that had to wait for the receiver is attributed to the receiver, live and in the capture.
    @Test func aStalledReceiverIsBlamedForTheGap() async throws {
        let format = try FormatLoader.load(
            """
            format: beats
            framing: { rule: delimiter, end: "\\n" }
            body: text
            heartbeat: { when: body.text == "beat", from: client, every: 200 ms, gap: 1 s }
            """, file: "beats.yaml")
        let options = DecodingOptions(.fixed(format))
        let ends = try await Ends("stalled")
        let proxy = try await RunningProxy(to: ends.server, options: options)
        try ends.program.send("\(proxy.port)")
        _ = try await ends.result()
        let recording = try await proxy.stop()
        let lines = try recording.lines()
        let resumed = try #require(
            lines.first { $0["kind"] == "heartbeat-resumed" }, "\(lines.map { $0.text.prefix(99) })")
        #expect(resumed.text(of: "data", "blame") == "receiver", "\(resumed.text)")
        #expect(resumed.number("packet", of: "data") ?? 0 > resumed.number("lastPacket", of: "data") ?? 0)
        let offline = try DecodedCapture(recording.capture, options: options).lines()
        #expect(ComparableTrace(lines).differences(to: ComparableTrace(offline)) == [])
    }
}
