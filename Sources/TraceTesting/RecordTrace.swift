import Dispatch
import Foundation
import Pipeline
import Proxy
import Streams
import Trace

/// The address on which a proxy of `recordTrace` listens.
public struct TraceProxy: Sendable, CustomStringConvertible {
    /// The address, without brackets.
    public let host: String
    /// The port.
    public let port: Int

    /// `127.0.0.1:40123`
    public var description: String { HostPort(host: host, port: port).description }
}

/// Runs a client through a proxy in this process, and returns the trace of the conversation.
///
///     let trace = try await recordTrace(format: "im-json", to: "127.0.0.1:8088") { proxy in
///         try await client.login(host: proxy.host, port: proxy.port)
///     }
///
/// When `body` returns, connections that are still open have one second to end; then the proxy closes them.
///
/// - Parameters:
///   - format: a built-in format's name, or a format file's path; nil: it is recognised.
///   - server: the server's `host:port`.
///   - body: must direct the client to the proxy, which listens on a free port of 127.0.0.1.
/// - Throws: the errors of `body`; if there is no such format; if the proxy cannot listen.
public func recordTrace(
    format: String? = nil, to server: String, _ body: (TraceProxy) async throws -> Void
) async throws -> TestTrace {
    guard let address = HostPort(server) else {
        throw TraceTestingError(description: "\(server) is no address; expected host:port, such as 127.0.0.1:8088")
    }
    let decoding = try CaptureTrace.options(format: format)
    let queue = RecordingQueue()
    // The recorder blocks while it waits for data: it gets a thread of its own, not one of a task's.
    let recorded = Task {
        await withCheckedContinuation { (continuation: CheckedContinuation<[TraceEvent], Never>) in
            let thread = Thread {
                var events: [TraceEvent] = []
                let decoder = Decoder(decoding, sinks: [CaptureTrace.sink(source: server) { events.append($0) }])
                Recorder(queue: queue, decoder: decoder, packets: nil, patience: .milliseconds(100)).run {}
                continuation.resume(returning: events)
            }
            thread.start()
        }
    }
    let proxy = ProxyServer(ProxyOptions(listen: HostPort(host: "127.0.0.1", port: 0), to: address), queue: queue)
    let outcome: Result<Void, any Error>
    do {
        guard case .tcp(let place)? = try await proxy.startListening().first else {
            throw TraceTestingError(description: "the proxy does not listen")
        }
        try await body(TraceProxy(host: place.host, port: place.port))
        _ = try await proxy.drained(within: 1)
        outcome = .success(())
    } catch {
        outcome = .failure(error)
    }
    try? await proxy.close()
    queue.finish()
    let events = await recorded.value
    try outcome.get()
    return TestTrace(events)
}
