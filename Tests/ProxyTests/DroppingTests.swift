import Dispatch
import Framing
import NIOCore
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

@testable import Proxy

/// A recorder that is too slow.
@Suite struct DroppingTests {
    let client = Endpoint(IPAddress(v4: 0x7f00_0001), 40_000)
    let server = Endpoint(IPAddress(v4: 0x7f00_0001), 8_088)

    @Test func whatIsLeftOutIsSaidAndFramingResumes() throws {
        let chat = try ChatBytes()
        let clock = ScriptedRecording.Clock()
        let queue = RecordingQueue(limit: 40_000, clock: { clock.now() })
        let ndjson = MemoryOutput()
        let decoder = Decoder(
            DecodingOptions(.fixed(chat.format)), sinks: [NDJSONWriter(to: ndjson, source: "tests", tool: "tests")])
        let recorder = Recorder(queue: queue, decoder: decoder, packets: nil)
        let number = queue.open(client: client, server: server)
        let message = try chat.message("txt", Array(repeating: UInt8(ascii: "x"), count: 9_000))
        let buffer = ByteBuffer(bytes: message)
        for _ in 0..<7 { queue.receive(buffer, on: number, from: .fromClient) }
        clock.pass(1_000)
        #expect(recorder.recordBatch())
        queue.receive(buffer, on: number, from: .fromClient)
        queue.finish(.fin, on: number, from: .fromClient)
        queue.finish(.fin, on: number, from: .fromServer)
        queue.finish()
        #expect(!recorder.recordBatch())
        let lines = try traceLines(ndjson.text)
        let size = message.count
        let dropped = lines.filter { $0.event == "dropped" }
        #expect(dropped.map { [$0[number: "offset"], $0[number: "length"]] } == [[2 * size, 5 * size]])
        #expect(dropped.first?["reason"] == "recorder too slow")
        let missing = lines.filter { $0.event == "missing" }
        #expect(missing.map { [$0[number: "offset"], $0[number: "length"]] } == [[2 * size, 5 * size]])
        let offsets = lines.filter { $0.event == "frame" }.map { $0[number: "offset"] }
        #expect(offsets == [0, size, 7 * size])
        #expect(decoder.summary.dropped == 5 * size)
        #expect(decoder.summary.total.bytes.bytes == 8 * size)
    }

    @Test func tinyReadsDoNotCostManyTimesTheirSize() {
        let limit = 1 << 20
        let queue = RecordingQueue(limit: limit)
        let number = queue.open(client: client, server: server)
        var allocator = AdaptiveRecvByteBufferAllocator(minimum: 512, initial: 2_048, maximum: 65_536)
        var (held, dropped) = (0, 0)
        for _ in 0..<20_000 {
            var buffer = allocator.buffer(allocator: ByteBufferAllocator())
            buffer.writeInteger(UInt8(0))
            _ = allocator.record(actualReadBytes: 1)
            queue.receive(buffer, on: number, from: .fromClient)
        }
        queue.finish()
        var batch = RecordingQueue.Batch()
        queue.take(until: nil, into: &batch)
        held += batch.bytes.capacity
        for event in batch.events {
            switch event {
            case .received(_, _, let chunk, _): held += chunk.storageCapacity
            case .dropped(_, _, let loss, _): dropped += loss.bytes
            default: break
            }
        }
        #expect(held <= limit, "\(held) bytes are held for a limit of \(limit)")
        #expect(dropped > 0)
    }

    /// Secrets wait with the connections that are open, and are gone with those that were not recorded at all.
    @Test func secretsDoNotCollectInAFullQueue() {
        let queue = RecordingQueue(limit: 20_000)
        let open = queue.open(client: client, server: server)
        // One that has lost nothing.
        let quiet = queue.open(client: client, server: server)
        for _ in 0..<40 { queue.receive(ByteBuffer(repeating: 0, count: 2_000), on: open, from: .fromClient) }
        let secret = Array("CLIENT_RANDOM 00 11\n".utf8)
        queue.learn(secret, of: open)
        for _ in 0..<1_000 {
            let other = queue.open(client: client, server: server)
            queue.learn(Array(repeating: UInt8(ascii: "x"), count: 1_000), of: other)
            queue.finish(.reset, on: other, from: .fromClient)
        }
        queue.learn(secret, of: open)
        queue.learn(secret, of: quiet)
        var batch = RecordingQueue.Batch()
        queue.take(until: nil, into: &batch)
        let learned = batch.events.compactMap { if case .learned(let lines, _) = $0 { lines } else { nil } }
        #expect(learned == [secret + secret, secret])
        #expect(queue.losses.unrecorded == 1_000)
    }

    @Test func aHeldRecorderDoesNotHoldTheRelay() async throws {
        let hold = DispatchSemaphore(value: 0)
        let ends = try await Ends("exchange")
        let options = DecodingOptions(.fixed(try ChatBytes().format))
        let queue = RecordingQueue(limit: 300_000)
        let proxy = try await RunningProxy(to: ends.server, options: options, queue: queue, hold: hold)
        try ends.program.send("\(proxy.port)")
        let seen = try await ends.result()
        #expect(seen.arrived(from: "client", to: "server") && seen.arrived(from: "server", to: "client"), "\(seen)")
        hold.signal()
        let recording = try await proxy.stop()
        let lines = try recording.lines()
        let relayed = 6 << 20
        #expect(recording.summary.dropped > relayed / 2 && recording.summary.dropped < relayed)
        let dropped = lines.filter { $0.event == "dropped" }.reduce(0) { $0 + ($1[number: "length"] ?? 0) }
        #expect(dropped == recording.summary.dropped)
        let total = recording.summary.total.bytes
        #expect(total.bytes - total.missing + dropped == relayed)
        let offline = ComparableTrace(try DecodedCapture(recording.capture, options: options).lines())
        #expect(ComparableTrace(lines).withoutClosed.differences(to: offline.withoutClosed) == [])
    }
}
