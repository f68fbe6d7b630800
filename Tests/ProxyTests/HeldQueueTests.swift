import Framing
import NIOCore
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

@testable import Proxy

/// A recorder that takes nothing while connections open and end.
@Suite struct HeldQueueTests {
    private let server = Endpoint(IPAddress(v4: 0x0a00_0001), 9_000)

    private func client(_ number: Int) -> Endpoint { Endpoint(IPAddress(v4: UInt32(number)), 40_000) }

    @Test func aFloodOfConnectionsCostsNoMemoryAndIsCounted() throws {
        let queue = RecordingQueue(limit: 100_000)
        let buffer = ByteBuffer(repeating: 1, count: 10)
        let flood = 50_000
        for number in 0..<flood {
            let connection = queue.open(client: client(number), server: server)
            queue.receive(buffer, on: connection, from: .fromClient)
            queue.finish(.reset, on: connection, from: .fromServer)
        }
        for number in 0..<flood {
            queue.refuse(client: client(number), server: server, reason: .connectFailed, detail: "so it is")
        }
        queue.finish()
        let events = queue.take(until: nil).events
        #expect(events.count < 2_000, "bounded by 100,000 bytes")
        let opened = events.count { if case .opened = $0 { true } else { false } }
        let unrecorded = events.compactMap { if case .unrecorded(let count, _) = $0 { count } else { nil } }
        #expect(unrecorded.count == 1 && opened + unrecorded[0] == 2 * flood)
    }

    @Test func nothingContradictsItselfAfterwards() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            let queue = RecordingQueue(limit: .random(in: 300...6_000, using: &generator))
            let (ndjson, capture) = (MemoryOutput(), MemoryOutput())
            let packets = PacketRecorder(to: capture, tool: "tests", start: WallClock.now())
            let options = DecodingOptions(.fixed(try ChatBytes().format))
            let decoder = Decoder(
                options, sinks: [packets.frames, NDJSONWriter(to: ndjson, source: "tests", tool: "tests")])
            let recorder = Recorder(queue: queue, decoder: decoder, packets: packets)
            var (open, relayed, opened): ([RecordingQueue.Handle: Set<Direction>], Int, Int) = ([:], 0, 0)
            var numbers: [String: Int] = [:]
            var hasNews = false  // the recorder would wait otherwise
            for step in 0..<400 {
                let direction: Direction = Bool.random(using: &generator) ? .fromClient : .fromServer
                let connection = open.keys.sorted().randomElement(using: &generator)
                switch (Int.random(in: 0..<20, using: &generator), connection) {
                case (0...3, _), (_, nil):
                    opened += 1
                    let handle = queue.open(client: client(step), server: server)
                    open[handle] = []
                    numbers["\(client(step))"] = handle.number
                case (4...6, let connection?) where open[connection]?.contains(direction) == false:
                    queue.finish(.fin, on: connection, from: direction)
                    open[connection]?.insert(direction)
                    if open[connection]?.count == 2 { open[connection] = nil }
                case (7, let connection?):
                    queue.finish(.reset, on: connection, from: direction)
                    open[connection] = nil
                case (8, let connection?):
                    queue.end(connection, because: .timeout)
                    open[connection] = nil
                case (9, _) where hasNews:
                    _ = recorder.recordBatch()
                    hasNews = false
                    continue
                case (_, let connection?) where open[connection]?.contains(direction) == false:
                    let count = Int.random(in: 1...300, using: &generator)
                    relayed += count
                    queue.receive(ByteBuffer(repeating: 7, count: count), on: connection, from: direction)
                default: continue
                }
                hasNews = true
            }
            queue.finish()
            while recorder.recordBatch() {}
            try check(
                traceLines(ndjson.text), decoder.summary, numbers, opened: opened, relayed: relayed, "seed \(seed)")
            let offline = DecodedCapture(capture.bytes, options: options)
            #expect(offline.damage == nil, "seed \(seed)")
            let left = try ComparableTrace(renumbering: traceLines(ndjson.text)).withoutClosed
            #expect(left.differences(to: ComparableTrace(try offline.lines()).withoutClosed) == [], "seed \(seed)")
        }
    }

    /// Every connection opens and closes once, in the order of its number, and every byte is recorded or counted. The numbers are
    /// those that the relay knows, by clients.
    private func check(
        _ lines: [TraceLine], _ summary: Summary, _ known: [String: Int], opened: Int, relayed: Int, _ seed: Comment
    ) {
        let openings = lines.filter { $0.event == "opened" }
        let numbers = openings.map(\.connection)
        #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count, seed)
        #expect(openings.allSatisfy { known[$0["client"] ?? ""] == $0.connection }, seed)
        #expect(lines.filter { $0.event == "closed" }.map(\.connection).sorted() == numbers, seed)
        #expect(numbers.count + summary.unrecorded == opened, seed)
        var over: Set<Int> = []
        for line in lines where line.event != "trace" && line.event != "summary" {
            #expect(!over.contains(line.connection), seed)
            if line.event == "closed" { over.insert(line.connection) }
        }
        let total = summary.total.bytes
        #expect(total.bytes - total.missing + summary.dropped == relayed, seed)
    }
}
