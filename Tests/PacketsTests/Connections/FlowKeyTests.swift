import Streams
import Testing

@testable import Packets

/// Hashes of connections, whose ends are chosen by who sends the packets.
@Suite struct FlowKeyTests {
    /// Addresses of which one part is a constant of a hash, and those that could cancel each other.
    @Test(arguments: 0..<6) func noCaptureMakesHashesCollide(_ kind: Int) {
        let seed = UInt64.random(in: .min ... .max)
        var hashes: Set<UInt64> = []
        let count = UInt64(20_000)
        for index in 1...count {
            let (one, other) =
                switch kind {
                case 0: (IPAddress(v6: 1, index), IPAddress(v6: 2, 0x9e37_79b9_7f4a_7c15))
                case 1: (IPAddress(v6: index, 1), IPAddress(v6: 0xe703_7ed1_a0b4_28db, 2))
                case 2: (IPAddress(v6: 0xe703_7ed1_a0b4_28db, 1), IPAddress(v6: index, 2))
                case 3: (IPAddress(v6: index, index << 20), IPAddress(v6: index << 20, index))
                case 4: (IPAddress(v6: index, index), IPAddress(v6: index, index))
                default: (IPAddress(v4: UInt32(index)), IPAddress(v4: UInt32(count - index)))
                }
            hashes.insert(FlowKey.of(Endpoint(one, 1), Endpoint(other, 2), nil).key.hash(seed) >> 32)
        }
        // Of 20,000 random ones, 0.05 are expected to collide.
        #expect(hashes.count > Int(count) - 10, "seed \(seed)")
    }
}
