import Framing
import Streams
import TestSupport
import Testing

@testable import Analysis

/// Contents have the same identity if their bytes are the same, however long they are.
@Suite struct ContentIdentityTests {
    private func identity(_ bytes: [UInt8]) -> ContentIdentity { ContentIdentity(bytes.span.bytes) }

    @Test func differentBytesDiffer() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for count in 0...300 {
            let bytes = generator.bytes(count)
            #expect(identity(bytes) == identity(bytes))
            #expect(identity(bytes) != identity(bytes + [0]), "seed \(seed), \(count) bytes")
            for index in Set([0, 7, 8, 14, count / 2, count - 1]) where bytes.indices.contains(index) {
                var other = bytes
                other[index] ^= 1
                #expect(identity(bytes) != identity(other), "seed \(seed), \(count) bytes")
            }
        }
    }

    /// An id may be a number in the request and text in the answer.
    @Test(arguments: [0, 7, -1, 123_456_789_012_345, 1_234_567_890_123_456, Int64.max])
    func aNumberIsTheTextOfItsDigits(number: Int64) {
        #expect(ContentIdentity(.integer(number)) == ContentIdentity(.text(String(number))))
        #expect(ContentIdentity(.integer(number)) == ContentIdentity(.bytes(Array(String(number).utf8))))
        #expect(ContentIdentity(.integer(number)) != ContentIdentity(.text("\(number)0")))
        #expect(ContentIdentity(.null) == nil)
    }
}
