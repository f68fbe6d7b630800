import Testing

@testable import Framing

/// Numbers that go on, at the ends of their ranges.
@Suite struct SequenceRuleTests {
    private func rule(step: Int64, modulus: Int64? = nil) -> SequenceRule {
        SequenceRule(place: .field("n"), from: nil, step: step, modulus: modulus)
    }

    @Test(
        arguments: [
            (1, nil, 1, 5, 4), (1, nil, 5, 1, nil), (-1, nil, 5, 1, 4), (1, 256, 255, 1, 2), (1, 256, 10, 9, nil),
            (-1, nil, 0, .min, nil), (-1, nil, .min, .max, nil), (1, .max, .max - 1, 3, 4),
        ] as [(Int64, Int64?, Int64, Int64, Int64?)])
    func missing(step: Int64, modulus: Int64?, expected: Int64, found: Int64, count: Int64?) {
        #expect(rule(step: step, modulus: modulus).missing(from: expected, to: found) == count)
    }

    @Test(
        arguments: [
            (1, nil, 1, 2), (1, 256, 255, 0), (-1, 256, 0, 255), (1, .max, .max - 1, 0), (-1, .max, 0, .max - 1),
            (1_000_000, .max, .max - 2, 0), (1, nil, .max, 0),
        ] as [(Int64, Int64?, Int64, Int64)])
    func next(step: Int64, modulus: Int64?, number: Int64, following: Int64) {
        #expect(rule(step: step, modulus: modulus).next(after: number) == following)
    }
}
