import Streams
import TestSupport
import Testing

@testable import Proxy

/// Legs are found by their numbers, however many are open, and not once they are over.
@Suite struct OpenLegsTests {
    @Test func theyAreWhatADictionarySays() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let (legs, log) = (OpenLegs(), StreamEventLog())
        let opening = Opening(
            number: 1, time: Timestamp(nanoseconds: 0), client: Endpoint(IPAddress(v4: 1), 1),
            server: Endpoint(IPAddress(v4: 2), 2))
        let receiver = log.open(opening)
        var expected: [ConnectionLeg: ObjectIdentifier] = [:]
        for _ in 0..<20_000 {
            let leg = ConnectionLeg(
                .random(in: 1...1_000, using: &generator), [.in, .out].randomElement(using: &generator) ?? .in)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0 where expected[leg] == nil:
                let opened = OpenLeg(leg, receiver: receiver)
                legs.add(opened)
                expected[leg] = ObjectIdentifier(opened)
            case 1:
                let removed = legs.remove(leg).map { ObjectIdentifier($0) }
                #expect(removed == expected.removeValue(forKey: leg), "seed \(seed)")
            default:
                #expect(legs[leg].map { ObjectIdentifier($0) } == expected[leg], "seed \(seed)")
            }
        }
        #expect(legs.legsInOrder == expected.keys.sorted(), "seed \(seed)")
    }
}
