import Framing
import Pipeline
import Streams
import TestSupport
import Testing

@testable import Proxy
@testable import frametap

/// What is kept of a recording for captures of some connections.
@Suite struct PacketJournalTests {
    private func record(_ connections: Int, limit: Int) throws -> PacketJournal {
        let journal = PacketJournal(limit: limit)
        let start = Timestamp(seconds: 1_795_248_000, nanoseconds: 0)
        let recorder = PacketRecorder(to: nil, tool: "tests", start: start, journal: journal)
        let server = Endpoint(IPAddress(v4: 0x7f00_0001), 8_088)
        for number in 1...connections {
            let client = Endpoint(IPAddress(v4: 0x7f00_0001), UInt16(40_000 + number))
            let opening = Opening(number: number, time: start, client: client, server: server)
            recorder.opened(opening)
            let bytes = Array("line \(number)\n".utf8)
            recorder.received(bytes.span.bytes, on: opening.connectionLeg, from: .fromClient, at: start)
            recorder.finished(.reset, on: opening.connectionLeg, from: .fromClient, at: start)
        }
        return journal
    }

    private func bodies(_ capture: [UInt8]) throws -> [String?] {
        try DecodedCapture(capture, options: DecodingOptions(.fixed(try FormatOptions.format("line")))).lines()
            .filter { $0.event == "frame" }.map { $0.text(of: "body", "text") }
    }

    @Test func aCaptureHasTheConnectionsAskedFor() throws {
        let journal = try record(50, limit: 1 << 20)
        let (bytes, isComplete) = journal.capture(tool: "tests", of: [3, 50, 51])
        #expect(try bodies(bytes) == ["line 3", "line 50"] && isComplete, "51 has not been recorded yet")
        #expect(try bodies(journal.capture(tool: "tests", of: []).bytes).isEmpty)
    }

    /// The oldest packets are evicted, and that is said of the connections that they belong to.
    @Test func memoryIsBounded() throws {
        let journal = try record(3_000, limit: 20_000)
        let last = journal.capture(tool: "tests", of: [3_000])
        #expect(try bodies(last.bytes) == ["line 3000"] && last.isComplete)
        #expect(!journal.capture(tool: "tests", of: [1]).isComplete)
        #expect(!journal.capture(tool: "tests", of: [1, 3_000]).isComplete)
        let all = journal.capture(tool: "tests", of: Set(1...3_000))
        #expect(all.bytes.count < 20_000 && !all.isComplete)
        // Which of them lost their beginning, and no others.
        let complete = (1...3_000).filter { journal.capture(tool: "tests", of: [$0]).isComplete }
        #expect(complete.count > 10 && complete.count < 100 && complete == Array(complete[0]...3_000))
    }
}
