import Foundation
import Framing
import NIOCore
import Packets
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

@testable import Proxy
@testable import frametap

/// An incomplete record says so, wherever the recorder was too slow.
@Suite struct IncompleteRecordTests {
    private let client = Endpoint(IPAddress(v4: 0x7f00_0001), 40_000)
    private let server = Endpoint(IPAddress(v4: 0x7f00_0001), 8_088)

    /// Records the events of `relay`, in batches at its call; returns the trace, the capture, and the losses.
    private func record(
        limit: Int, _ relay: (RecordingQueue, () -> Void) -> Void
    ) throws -> (trace: [TraceLine], capture: [UInt8], losses: RecordingQueue.Losses) {
        let clock = ScriptedRecording.Clock()
        let queue = RecordingQueue(limit: limit, clock: { clock.now() })
        let (ndjson, capture) = (MemoryOutput(), MemoryOutput())
        let packets = PacketRecorder(to: capture, tool: "tests", start: clock.now())
        let decoder = Decoder(
            DecodingOptions(.fixed(try FormatOptions.format("chunk"))),
            sinks: [packets.frames, NDJSONWriter(to: ndjson, source: "tests", tool: "tests")])
        let recorder = Recorder(queue: queue, decoder: decoder, packets: packets)
        relay(queue) {
            clock.pass(1_000_000)
            _ = recorder.recordBatch()
        }
        clock.pass(1_000_000)
        queue.finish()
        _ = recorder.recordBatch()
        return (try traceLines(ndjson.text), capture.bytes, queue.losses)
    }

    /// The end of a connection, with nothing recorded before it.
    enum End: CaseIterable { case fin, reset, expiry, none }

    @Test(arguments: End.allCases, Direction.allCases)
    func whatWasDroppedBeforeAnEndIsMissingLiveAndInTheCapture(_ end: End, _ direction: Direction) throws {
        let (trace, capture, losses) = try record(limit: 20_000) { queue, batch in
            let number = queue.open(client: client, server: server)
            for _ in 0..<5 { queue.receive(ByteBuffer(repeating: 1, count: 9_000), on: number, from: direction) }
            switch end {
            case .fin: for direction in Direction.allCases { queue.finish(.fin, on: number, from: direction) }
            case .reset: queue.finish(.reset, on: number, from: direction.opposite)
            case .expiry: queue.end(number, because: .timeout)
            case .none: break
            }
            batch()
        }
        let options = DecodingOptions(.fixed(try FormatOptions.format("chunk")))
        let offline = DecodedCapture(capture, options: options)
        #expect(offline.damage == nil)
        #expect(offline.summary.total.bytes.missing == 36_000 && offline.summary.total.bytes.bytes == 45_000)
        let closed = try #require(trace.first { $0.event == "closed" })
        #expect(closed.number("missing", of: direction.sender) == 36_000, "\(closed.text)")
        let (live, read) = (ComparableTrace(trace), ComparableTrace(try offline.lines()))
        #expect(live.differences(to: read) == [])
        #expect(losses.dropped == RecordingQueue.Loss(bytes: 36_000, chunks: 4) && losses.connections == 1)
    }

    @Test func theCaptureCountsWhatItLacks() throws {
        let (_, capture, losses) = try record(limit: 20_000) { queue, batch in
            let number = queue.open(client: client, server: server)
            for _ in 0..<5 { queue.receive(ByteBuffer(repeating: 1, count: 9_000), on: number, from: .fromClient) }
            // This one opens and closes unrecorded.
            let other = queue.open(client: server, server: client)
            queue.receive(ByteBuffer(repeating: 1, count: 70_000), on: other, from: .fromServer)
            queue.finish(.reset, on: other, from: .fromClient)
            batch()
        }
        var reader = CaptureReader(CaptureBytes(capture))
        var drops = ReportedDrops()
        try reader.read(to: &drops)
        // Four chunks, two of the other connection, and that connection itself.
        #expect(drops.statistics.byInterface == 7 && drops.statistics.bySystem == 0)
        #expect(losses.unrecorded == 1 && losses.dropped.bytes == 106_000)
        let lines = QueueOptions.lines(losses, late: RecordingQueue.Loss())
        #expect(
            lines.count == 1 && lines[0].contains("dropped 106000 bytes") && lines[0].contains("not recorded at all"))
    }

    @Test func thatDroppingBeginsIsReportedOnce() {
        let notices = Notices()
        let queue = RecordingQueue(limit: 10_000, report: { notices.take($0) })
        let number = queue.open(client: client, server: server)
        for _ in 0..<3 {
            for _ in 0..<4 { queue.receive(ByteBuffer(repeating: 1, count: 9_000), on: number, from: .fromClient) }
            _ = queue.take(until: Timestamp(nanoseconds: 0))
        }
        #expect(notices.all == [.dropping])
    }

    /// Safe: used on one thread.
    private final class Notices: @unchecked Sendable {
        private(set) var all: [RecordingQueue.Notice] = []
        func take(_ notice: RecordingQueue.Notice) { all.append(notice) }
    }
}
