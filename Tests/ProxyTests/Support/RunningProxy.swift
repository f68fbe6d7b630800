import Dispatch
import Framing
import Interception
import NIOCore
import NIOPosix
import Packets
import Pipeline
import Streams
import TestSupport
import Trace

@testable import Proxy

/// A proxy in this process, with its recorder on a thread of its own.
final class RunningProxy: Sendable {
    let port: Int
    let queue: RecordingQueue
    private let server: ProxyServer
    private let recording: EventLoopFuture<Recording>

    /// The recording of a proxy.
    struct Recording: Sendable {
        var ndjson: String
        var text: String
        var capture: [UInt8]
        var summary: Summary
    }

    /// Starts a proxy on a port chosen by the system.
    ///
    /// - Parameters:
    ///   - hold: a semaphore that the recorder waits for before its first batch.
    init(
        to port: Int, options decoding: DecodingOptions? = nil, queue: RecordingQueue = RecordingQueue(),
        connectTimeout: Double = 10, stages: (@Sendable (Int) -> StageChain?)? = nil, hold: DispatchSemaphore? = nil,
        threads: Int = 1
    ) async throws {
        let decoding = try decoding ?? DecodingOptions(.automatic([ChatBytes().format]))
        self.queue = queue
        var options = ProxyOptions(
            listen: HostPort(host: "127.0.0.1", port: 0), to: HostPort(host: "127.0.0.1", port: port))
        options.connectTimeout = connectTimeout
        if let stages { options.stages = { connection, _ in stages(connection) } }
        server = ProxyServer(options, queue: queue, threads: threads)
        let promise = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Recording.self)
        recording = promise.futureResult
        DispatchQueue(label: "recorder").async {
            hold?.wait()
            promise.succeed(Self.record(queue, decoding))
        }
        guard case .tcp(let address)? = try await server.startListening().first else {
            throw Program.Failure(description: "listens on no port")
        }
        self.port = address.port
    }

    private static func record(_ queue: RecordingQueue, _ options: DecodingOptions) -> Recording {
        let (ndjson, text, capture) = (MemoryOutput(), MemoryOutput(), MemoryOutput())
        let packets = PacketRecorder(to: capture, tool: "tests", start: WallClock.now())
        let sinks: [any TraceSink] = [
            packets.frames, NDJSONWriter(to: ndjson, source: "tests", tool: "tests"), TextWriter(to: text),
        ]
        let decoder = Decoder(options, sinks: sinks)
        Recorder(queue: queue, decoder: decoder, packets: packets).run { _ in }
        return Recording(ndjson: ndjson.text, text: text.text, capture: capture.bytes, summary: decoder.summary)
    }

    /// Waits until all connections have ended by themselves, stops, and returns the recording.
    func stop(draining seconds: Double = 20) async throws -> Recording {
        _ = try await server.drained(within: seconds)
        try await server.close()
        queue.finish()
        return try await recording.get()
    }
}

extension RunningProxy.Recording {
    /// The lines of the trace.
    func lines() throws -> [TraceLine] { try traceLines(ndjson) }

    /// How the connections ended, in the order of their numbers: `fin by client`.
    func endings() throws -> [String] {
        try lines().filter { $0.event == "closed" && $0["leg"] != "out" }.sorted { $0.connection < $1.connection }
            .map { line in (line["reason"] ?? "?") + (line["by"].map { " by \($0)" } ?? "") }
    }
}
