import Streams
import Testing

@testable import TLS

/// Handshake messages that say how long they are: nothing of those that are too long is kept.
struct LongMessageTests {
    @Test func `a message has at most 1 MiB`() {
        let (longest, tooLong): ([UInt8], [UInt8]) = ([11, 0x10, 0, 0, 7], [11, 0x10, 0, 1, 7])
        var reassembly = HandshakeReassembly()
        reassembly.add(longest.span.bytes)
        #expect(reassembly.next() == .needsMore)
        #expect(reassembly.heldBytes == 5)
        reassembly.reset()
        reassembly.add(tooLong.span.bytes)
        #expect(reassembly.next() == .tooLong(1_048_577))
        reassembly.add(tooLong.span.bytes)
        #expect(reassembly.heldBytes == 0)
    }

    /// A ClientHello, as the beginning of a connection.
    @Test func `one that is too long is named`() {
        let begun = run([.bytes(hex("1603010004 01100000"), .fromClient)], KeyLog())
        #expect(begun.log.allEvents.isEmpty && begun.connection.heldBytes == 4)
        let refused = run([.bytes(hex("1603010004 01100001"), .fromClient)], KeyLog())
        #expect(refused.log.allEvents.first == .unsupported("a handshake message of 1048577 bytes"))
        #expect(refused.connection.heldBytes == 0)
    }
}
