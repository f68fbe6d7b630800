import Streams
import Testing

@testable import TLS

/// Handshake messages out of records.
struct HandshakeReassemblyTests {
    /// The messages of some fragments.
    private func messages(_ fragments: [[UInt8]], _ reassembly: inout HandshakeReassembly) -> [HandshakeMessage] {
        var messages: [HandshakeMessage] = []
        for fragment in fragments {
            reassembly.add(fragment.span.bytes)
            while case .message(let message) = reassembly.next() { messages.append(message) }
        }
        return messages
    }

    @Test func `records may cut messages anywhere`() {
        let bytes: [UInt8] = [1, 0, 0, 2, 7, 8, 14, 0, 0, 0, 11, 0, 0, 1, 9, 20, 0]
        for cut in 0...bytes.count {
            var reassembly = HandshakeReassembly()
            let found = messages([Array(bytes[..<cut]), Array(bytes[cut...])], &reassembly)
            #expect(found.map(\.type) == [1, 14, 11])
            #expect(found.map { Array($0.body) } == [[7, 8], [], [9]])
            #expect(reassembly.heldBytes == 2 && reassembly.isWithinMessage)
        }
    }

    /// The time is proportional to the bytes, however many messages they have.
    @Test(.timeLimit(.minutes(1))) func `many messages in one fragment`() {
        var reassembly = HandshakeReassembly()
        #expect(messages([[UInt8](repeating: 0, count: 4 << 20)], &reassembly).count == 1 << 20)
        #expect(reassembly.heldBytes == 0 && !reassembly.isWithinMessage)
    }
}
