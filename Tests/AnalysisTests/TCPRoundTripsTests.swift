import Analysis
import Streams
import Testing
import Trace

/// TCP's own round trips.
@Suite struct TCPRoundTripsTests {
    private func connection(_ number: Int = 1) -> TracedConnection {
        let end = Endpoint(IPAddress(v4: 0x7f00_0001), 1)
        return TracedConnection(
            Opening(number: number, time: Timestamp(nanoseconds: 0), client: end, server: end))
    }

    private func packet(_ direction: Direction, _ time: Int64) -> NoticedPacket {
        NoticedPacket(from: direction, time: Timestamp(nanoseconds: time), number: 0)
    }

    /// Which copy of bytes was acknowledged is ambiguous (RFC 6298 section 3): they are not timed. What comes later is.
    @Test(arguments: [(0, false), (99, false), (100, true), (150, true)])
    func retransmittedBytesAreNotTimed(offset: Int, isTimed: Bool) throws {
        let trips = TCPRoundTrips(most: 1)
        let client = connection()
        var findings: [Finding] = []
        // The last of the first hundred bytes is timed.
        trips.captured(100, isMissing: false, packet(.fromClient, 10), on: client)
        trips.captured(100, isMissing: false, packet(.fromClient, 20), on: client)
        trips.noticed(
            .retransmitted(offset: offset, byteCount: 1), packet(.fromClient, 200), on: client, into: &findings)
        trips.noticed(.acknowledged(offset: 200), packet(.fromServer, 250), on: client, into: &findings)
        let first = try #require(trips.times(of: 1)).acknowledgments.fromClient
        #expect(first.count == (isTimed ? 1 : 0))
        if isTimed { #expect(first.maximum == Interval(nanoseconds: 240)) }
        trips.captured(100, isMissing: false, packet(.fromClient, 300), on: client)
        trips.noticed(.acknowledged(offset: 300), packet(.fromServer, 330), on: client, into: &findings)
        let both = try #require(trips.times(of: 1)).acknowledgments.fromClient
        #expect(both.count == first.count + 1 && both.minimum == Interval(nanoseconds: 30))
        #expect(findings.isEmpty)
    }

    @Test func theFirstConnectionsAreTimed() {
        let trips = TCPRoundTrips(most: 2)
        for number in 1...3 {
            trips.captured(1, isMissing: false, packet(.fromClient, 1), on: connection(number))
        }
        #expect(trips.times(of: 1) != nil && trips.times(of: 2) != nil && trips.times(of: 3) == nil)
    }
}
