import FrametapCore
import Framing
import Interception
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
/// With `rules`, the proxy does something to frames or bytes on their way, as `frametap proxy --rule` does; what it did are the
/// trace's `actions`. The same seed makes the same choices each time.
///
///     recordTrace(format: "im-json", to: server, rules: [#"drop: type == "ack"; once: true"#]) { proxy in … }
///
/// - Parameters:
///   - format: a built-in format's name, or a format file's path; nil: it is recognised.
///   - server: the server's `host:port`.
///   - rules: rules as `--rule` takes them. Those for frames need the format.
///   - seed: decides what rules do by chance.
///   - body: must direct the client to the proxy, which listens on a free port of 127.0.0.1.
/// - Throws: the errors of `body`; if there is no such format; `FormatFileError` if a rule is wrong; if the proxy cannot listen.
public func recordTrace(
    format: String? = nil, to server: String, rules: [String] = [], seed: UInt64 = 1,
    _ body: (TraceProxy) async throws -> Void
) async throws -> TestTrace {
    guard let address = HostPort(server) else {
        throw TraceTestingError(description: "\(server) is no address; expected host:port, such as 127.0.0.1:8088")
    }
    let decoding = try CaptureDecoding(format: format).options
    var options = ProxyOptions(listen: HostPort(host: "127.0.0.1", port: 0), to: address)
    options.stages = try stages(rules, seed: seed, decoding)
    let record: @Sendable (RecordingQueue) -> [TraceEvent] = { queue in
        var events: [TraceEvent] = []
        let decoder = Decoder(
            decoding, sinks: [EventSink(source: server, tool: "frametap TraceTesting") { events.append($0) }])
        Recorder(queue: queue, decoder: decoder, packets: nil, patience: .milliseconds(100)).run { _ in }
        return events
    }
    let events = try await RecordedProxy.run(options, record) { place in
        try await body(TraceProxy(host: place.host, port: place.port))
    }
    return TestTrace(events)
}

/// What makes the stages of a connection; nil if there are no rules.
private func stages(
    _ texts: [String], seed: UInt64, _ decoding: DecodingOptions
) throws -> (@Sendable (Int, Endpoint) -> StageChain?)? {
    if texts.isEmpty { return nil }
    var format: Format?
    if case .fixed(let known) = decoding.choice { format = known }
    let rules = RuleSet(
        try texts.enumerated().map { try RuleFile.rule($1, number: $0 + 1, format: format) }, seed: seed)
    if rules.needsFormat, format == nil {
        throw TraceTestingError(description: "rules for frames need the format; expected recordTrace(format: …)")
    }
    return { [format] connection, _ in rules.stages(of: connection, format: format) }
}
