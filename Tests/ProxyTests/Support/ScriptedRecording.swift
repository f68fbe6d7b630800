import Framing
import NIOCore
import Packets
import Pipeline
import Streams
import Synchronization
import TestSupport
import Trace

@testable import Proxy

/// Random conversations, queued and then recorded, without sockets: the test is the clock, and decides when the recorder takes a
/// batch.
final class ScriptedRecording {
    /// The time, set by the test.
    final class Clock: Sendable {
        private let state = Mutex(Timestamp(seconds: 1_795_248_000, nanoseconds: 0))

        func now() -> Timestamp { state.withLock { $0 } }

        func pass(_ nanoseconds: Int64) {
            state.withLock { $0 = $0 + Interval(nanoseconds: nanoseconds) }
        }
    }

    /// One direction of a conversation.
    private struct Side {
        var rest: ArraySlice<UInt8>
        var isFinished = false
        var isHeld = false
    }

    let clock = Clock()
    let queue: RecordingQueue
    private let recorder: Recorder
    private let decoder: Decoder
    private let ndjson = MemoryOutput()
    private let capture: any RecordOutput
    private var open: [RecordingQueue.Handle: PerDirection<Side>] = [:]
    private let chat: ChatBytes
    /// Whether the queue has any events; otherwise the recorder would wait.
    private var hasNews = false
    private(set) var relayed: [Int: PerDirection<Int>] = [:]

    /// - Parameters:
    ///   - limit: the queue's limit, in bytes.
    ///   - capture: the output for the capture.
    init(limit: Int, options: DecodingOptions, chat: ChatBytes, capture: any RecordOutput = MemoryOutput()) {
        self.chat = chat
        self.capture = capture
        queue = RecordingQueue(limit: limit, clock: { [clock] in clock.now() })
        let packets = PacketRecorder(to: capture, tool: "tests", start: clock.now())
        decoder = Decoder(options, sinks: [packets.frames, NDJSONWriter(to: ndjson, source: "tests", tool: "tests")])
        recorder = Recorder(queue: queue, decoder: decoder, packets: packets)
    }

    /// A connection opens; its streams are ready to be received.
    func open(size: Int, longest: Int, using generator: inout SeededGenerator) throws {
        hasNews = true
        let client = Endpoint(IPAddress(v4: 0x7f00_0001), UInt16(40_000 + relayed.count))
        let handle = queue.open(client: client, server: Endpoint(IPAddress(v4: 0x0a00_0001), 9_000))
        func side(_ direction: Direction) throws -> Side {
            Side(rest: try chat.stream(of: size, longest: longest, from: direction, using: &generator)[...])
        }
        open[handle] = PerDirection(fromClient: try side(.fromClient), fromServer: try side(.fromServer))
        relayed[handle.number] = PerDirection(fromClient: 0, fromServer: 0)
    }

    /// The connections that are open.
    var connections: [RecordingQueue.Handle] { open.keys.sorted() }

    /// The next bytes of a direction pass; false if there are none.
    func pass(_ count: Int, on connection: RecordingQueue.Handle, from direction: Direction) -> Bool {
        guard let side = open[connection]?[direction], !side.isFinished, !side.rest.isEmpty else { return false }
        let bytes = side.rest.prefix(count)
        open[connection]?[direction].rest = side.rest.dropFirst(count)
        relayed[connection.number]?[direction] += bytes.count
        hasNews = true
        queue.receive(ByteBuffer(bytes: bytes), on: connection, from: direction)
        return true
    }

    /// A direction is held, or continues.
    func toggleHold(on connection: RecordingQueue.Handle, from direction: Direction) {
        guard let side = open[connection]?[direction], !side.isFinished else { return }
        open[connection]?[direction].isHeld.toggle()
        hasNews = true
        queue.hold(!side.isHeld, on: connection, from: direction)
    }

    /// A direction ends.
    func finish(_ ending: Ending, on connection: RecordingQueue.Handle, from direction: Direction) {
        guard open[connection]?[direction].isFinished == false else { return }
        hasNews = true
        queue.finish(ending, on: connection, from: direction)
        open[connection]?[direction].isFinished = true
        if ending == .reset || open[connection]?[direction.opposite].isFinished == true { open[connection] = nil }
    }

    /// Whether a direction has ended.
    func isHalfClosed(_ connection: RecordingQueue.Handle) -> Bool {
        Direction.allCases.contains { open[connection]?[$0].isFinished == true }
    }

    /// The recorder takes all queued events.
    func record() {
        guard hasNews else { return }
        hasNews = false
        _ = recorder.recordBatch()
    }

    /// The end: the trace, its counts, and the capture.
    func end() throws -> (trace: [TraceLine], summary: Summary, capture: [UInt8]) {
        queue.finish()
        _ = recorder.recordBatch()
        return (try traceLines(ndjson.text), decoder.summary, (capture as? MemoryOutput)?.bytes ?? [])
    }
}
