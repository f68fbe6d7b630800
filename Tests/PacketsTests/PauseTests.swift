import Packets
import Streams
import Testing

/// Segments are reported when a side has been quiet for longer than `SegmentNotice.quietAfter`.
@Suite struct PauseTests {
    @Test(arguments: [(0, 0), (50, 0), (51, 1), (900, 1)])
    func segmentsAreReportedAfterAPause(milliseconds: Int, reported: Int) {
        var conversation = Conversation()
        conversation.handshake()
        conversation.client(100, "a", ack: 200)
        conversation.server(200, "b", ack: 101)
        conversation.advance(milliseconds: milliseconds)
        conversation.client(101, "c", ack: 201)
        let notices = conversation.log.events.compactMap { event -> SegmentNotice? in
            guard case .noticed(_, .fromClient, .segment(let notice), _, _) = event else { return nil }
            return notice
        }
        #expect(notices.count == reported)
        #expect(notices.allSatisfy { $0.offset == 1 && $0.byteCount == 1 && $0.expected == 1 })
    }

    /// One quiet side is enough.
    @Test func oneQuietSideIsEnough() {
        var conversation = Conversation()
        conversation.handshake()
        conversation.client(100, "a", ack: 200)
        conversation.server(200, "b", ack: 101)
        conversation.advance(milliseconds: 40)
        conversation.client(101, "c", ack: 201)
        conversation.advance(milliseconds: 40)
        conversation.client(102, "d", ack: 201)
        let reported = conversation.log.events.count { event in
            if case .noticed(_, .fromClient, .segment, _, _) = event { true } else { false }
        }
        #expect(reported == 1)
    }
}
