import Streams
import Testing

@testable import TLS

/// A key log without line ends: another file, or a pipe.
struct EndlessLineTests {
    @Test func `little of it is kept`() {
        let text = [UInt8](repeating: UInt8(ascii: "A"), count: 1_024)
        var buffer = LineBuffer(limit: 1_024)
        var (most, lines) = (0, 0)
        for _ in 0..<1_000 {
            var at = 0
            if buffer.next(text.span.bytes, &at) != nil { lines += 1 }
            #expect(at == text.count)
            most = max(most, buffer.heldBytes)
        }
        #expect(lines == 0)
        // A carriage return does not count.
        #expect(most <= 1_025)
    }

    /// The line after it is read.
    @Test func `it is one line`() {
        var buffer = LineBuffer(limit: 1_024)
        let text = [UInt8](repeating: UInt8(ascii: "A"), count: 3_000) + Array("\n# x\n".utf8)
        var at = 0
        let first = buffer.next(text.span.bytes, &at)
        #expect(first?.number == 1 && first?.bytes == nil)
        let second = buffer.next(text.span.bytes, &at)
        #expect(second?.number == 2 && second?.bytes == Array("# x".utf8))
    }
}
