import Framing
import Streams
import Testing

@testable import Pipeline

/// Formats that the first byte rules out have no trial.
@Suite struct FirstByteTests {
    @Test(arguments: [true, false]) func aTrialWouldHaveRuledThemOutAsWell(aligned: Bool) throws {
        var ruledOut = 0
        for format in try BuiltInFormats.all() + ExampleFormats.recognised() {
            guard let plan = TrialPlan(format) else { continue }
            for direction in Direction.allCases {
                for byte in UInt8.min...UInt8.max where plan.isOut(afterFirst: byte, from: direction, aligned: aligned)
                {
                    let candidate = Candidate(plan, aligned: aligned)
                    candidate.receive([byte].span.bytes, from: direction)
                    #expect(candidate.isOut, "\(format.name), \(byte) \(direction)")
                    ruledOut += 1
                }
            }
        }
        #expect(ruledOut > (aligned ? 1_000 : 100))
    }

    /// The table remembers what it was asked.
    @Test func theSecondAnswerIsTheFirst() throws {
        let format = try #require(try BuiltInFormats.format(named: "json-envelope"))
        let plan = try #require(TrialPlan(format))
        for _ in 0..<2 {
            #expect(plan.isOut(afterFirst: UInt8(ascii: "a"), from: .fromClient, aligned: true))
            #expect(!plan.isOut(afterFirst: UInt8(ascii: "{"), from: .fromClient, aligned: true))
            #expect(!plan.isOut(afterFirst: UInt8(ascii: "a"), from: .fromClient, aligned: false))
        }
    }
}
