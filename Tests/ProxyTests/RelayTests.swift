import Foundation
import Interception
import Streams
import TestSupport
import Testing

/// Real sockets at both ends of a proxy in this process.
@Suite struct RelayTests {
    /// Plays a scenario through a proxy; returns what the ends saw and what was recorded.
    private func play(
        _ scenario: String, _ how: String = "", stages: (@Sendable (Int) -> StageChain?)? = nil
    ) async throws -> (Ends.Seen, RunningProxy.Recording) {
        let ends = try await Ends(scenario, how)
        let proxy = try await RunningProxy(to: ends.server, stages: stages)
        try ends.program.send("\(proxy.port)")
        let seen = try await ends.result()
        return (seen, try await proxy.stop())
    }

    @Test func megabytesBothWaysArriveUnchanged() async throws {
        let (seen, recording) = try await play("exchange")
        #expect(seen.arrived(from: "client", to: "server") && seen.arrived(from: "server", to: "client"), "\(seen)")
        #expect(try recording.endings().map { $0.prefix(3) } == ["fin"])
        let closed = try #require(try recording.lines().last { $0.event == "closed" })
        #expect(closed.number("bytes", of: "client") == 3 << 20 && closed.number("bytes", of: "server") == 3 << 20)
    }

    /// A stage delays everything, and holds less than is sent.
    @Test func aStageThatDelaysChangesNothingElse() async throws {
        let stages: @Sendable (Int) -> StageChain? = { _ in
            var limits = StageChain.Limits()
            limits.bytes = 256 << 10
            return StageChain(
                [DelayStage(delay: .milliseconds(3)), DelayStage(delay: .milliseconds(4))], limits: limits)
        }
        let (seen, recording) = try await play("exchange", stages: stages)
        #expect(seen.arrived(from: "client", to: "server") && seen.arrived(from: "server", to: "client"), "\(seen)")
        #expect(try recording.endings().map { $0.prefix(3) } == ["fin"])
        let (half, _) = try await play("half-close", "client", stages: stages)
        #expect(half.arrived(from: "client", to: "server") && half.arrived(from: "server", to: "client"), "\(half)")
        #expect(half["client end"] == "fin" && half["server end"] == "fin", "\(half)")
        for resetting in ["client", "server"] {
            let (reset, recording) = try await play("reset", resetting, stages: stages)
            #expect(reset["other end"] == "reset", "\(reset)")
            #expect(reset.numbers["other count"] == "before the reset".utf8.count)
            #expect(try recording.endings() == ["reset by \(resetting)"])
        }
    }

    @Test(arguments: [("client", "server"), ("server", "client")])
    func afterAHalfCloseTheOtherDirectionGoesOn(_ first: String, _ second: String) async throws {
        let (seen, recording) = try await play("half-close", first)
        #expect(seen.arrived(from: first, to: second) && seen.arrived(from: second, to: first), "\(seen)")
        #expect(seen["client end"] == "fin" && seen["server end"] == "fin", "\(seen)")
        #expect(try recording.endings() == ["fin by \(first)"])
    }

    @Test(arguments: ["client", "server"]) func aResetIsPassedOn(_ resetting: String) async throws {
        let (seen, recording) = try await play("reset", resetting)
        #expect(seen["other end"] == "reset", "\(seen)")
        #expect(seen.numbers["other count"] == "before the reset".utf8.count)
        #expect(try recording.endings() == ["reset by \(resetting)"])
    }

    @Test(arguments: ["client", "server"])
    func aResetAfterTheOtherSidesFINIsPassedOn(_ resetting: String) async throws {
        let (seen, recording) = try await play("reset-after-fin", resetting)
        #expect(seen["resetting end"] == "fin" && seen["other end"] == "reset", "\(seen)")
        #expect(try recording.endings() == ["reset by \(resetting)"])
    }

    @Test func whereNobodyListensTheClientIsResetAndTheCauseIsSaid() async throws {
        let ends = try await Ends("refused")
        let proxy = try await RunningProxy(to: ends.server)
        try ends.program.send("\(proxy.port)")
        #expect(try await ends.result()["client end"] == "reset")
        let recording = try await proxy.stop()
        #expect(try recording.endings() == ["connect-failed by server"])
        let cause = "cannot reach 127.0.0.1:\(ends.server): Connection refused"
        #expect(try recording.lines().contains { $0["message"] == cause })
        #expect(recording.text.contains("connect-failed by server: " + cause), "\(recording.text)")
    }

    @Test func aServerThatDoesNotAnswerIsGivenUp() async throws {
        let ends = try await Ends("no-answer")
        let proxy = try await RunningProxy(to: ends.server, connectTimeout: 0.2)
        try ends.program.send("\(proxy.port)")
        #expect(try await ends.result()["client end"] == "reset")
        let recording = try await proxy.stop()
        #expect(try recording.endings() == ["connect-failed by server"])
        #expect(recording.text.contains("cannot reach 127.0.0.1:\(ends.server): no answer within 200 ms"))
        let opened = try #require(try recording.lines().first { $0.event == "opened" })
        #expect(opened["server"] == "127.0.0.1:\(ends.server)")
    }

    @Test(arguments: ["fin", "reset"])
    func aClientMayBeGoneBeforeTheServerIsConnected(_ how: String) async throws {
        let ends = try await Ends("early-close", how)
        let proxy = try await RunningProxy(to: ends.server, connectTimeout: 30)
        try ends.program.send("\(proxy.port)")
        let seen = try await ends.result()
        #expect(seen["server end"] == how, "\(seen)")
        if how == "fin" { #expect(seen.numbers["server count"] == 5) }
        let recording = try await proxy.stop()
        #expect(try recording.endings() == ["\(how) by client"])
        let opened = try #require(try recording.lines().first { $0.event == "opened" })
        #expect(opened["client"]?.hasPrefix("127.0.0.1:") == true && opened["client"] != "127.0.0.1:0")
    }
}
