import Framing
import Streams
import Testing

@Suite struct HeartbeatOverrideTests {
    private func chat(_ text: String) throws -> HeartbeatContract? {
        try BuiltInFormats.format(named: "im-json")?.overridingHeartbeat(text, place: "test")?.heartbeat
    }

    @Test func whatIsNotSaidStays() throws {
        let gap = try #require(try chat("gap: 10 s"))
        #expect(gap.every == .seconds(1) && gap.gap == .seconds(10) && gap.late == .seconds(5.5))
        #expect(gap.eviction == HeartbeatContract.Eviction(after: .seconds(20), sweep: .seconds(30)))
        let slow = try #require(try chat("every: 10 s"))
        #expect(slow.gap == .seconds(30), "a gap that is shorter than the interval would be no gap")
        let sweep = try #require(try chat("eviction: { sweep: 1 s, does: forget }"))
        #expect(sweep.gap == .seconds(3) && sweep.late == .seconds(2))
        #expect(
            sweep.eviction
                == HeartbeatContract.Eviction(after: .seconds(20), sweep: .seconds(1), deed: .forget))
    }

    @Test func lateIsHalfwayBetweenTheTwoRoundedUp() throws {
        let condition = try #require(try chat("gap: 10 s")).condition
        for (every, gap, late) in [(2, 4, 3), (3, 4, 4), (2, 5, 4), (3, 5, 4), (1, 1, 1)] as [(Int64, Int64, Int64)] {
            let contract = HeartbeatContract(
                condition: condition, from: .fromClient, every: Interval(nanoseconds: every),
                gap: Interval(nanoseconds: gap))
            #expect(contract.late == Interval(nanoseconds: late), "\(every) and \(gap)")
        }
    }

    @Test func aFormatWithoutHeartbeatsTakesAWholeContract() throws {
        let line = try #require(try BuiltInFormats.format(named: "line"))
        #expect(try line.overridingHeartbeat("every: 1 s", place: "test") == nil)
        let whole = try #require(
            try line.overridingHeartbeat("every: 1 s, from: server, when: body.text == 'PING'", place: "test"))
        #expect(whole.heartbeat?.from == .fromServer && whole.heartbeat?.gap == .seconds(3))
    }

    @Test(arguments: [
        "evry: 1 s", "every: soon", "gap: 10 ms", "late: 9 s", "late: 10 ms",
        "every: 1 s, gap: 2 s, late: 3 s", "eviction: { does: sing }", "answer: { when: type == 1 }",
    ])
    func whatIsWrongIsSaid(text: String) throws {
        #expect(throws: FormatFileError.self) { _ = try chat(text) }
    }
}
