import Control
import Framing
import Proxy
import Replay
import Streams
import Trace

/// `frametap send` into a connection that passes through a proxy, by the proxy's API.
final class ControlledSending: SendingConnection {
    private let client: ControlClient
    private let path: [String]
    private let connection: Int
    private let from: Direction
    private let timeout: Interval
    private var reader = EventReader()
    private var cursor = 0
    private let show: (String) -> Void
    /// What the other side has said.
    private(set) var answered: [FrameEvent] = []

    /// - Parameters:
    ///   - listener: the name of the listener at which the connection came.
    ///   - from: the side in whose name frames are sent.
    ///   - show: takes each answer, as a line of a trace.
    init(
        _ client: ControlClient, listener: String, connection: Int, from: Direction, timeout: Interval,
        show: @escaping (String) -> Void
    ) async throws {
        (self.client, self.connection, self.from, self.timeout) = (client, connection, from, timeout)
        self.show = show
        path = ["listeners", listener]
        try reader.begin("the proxy's API")
        let start = "{\"event\":\"trace\",\"version\":\(NDJSONWriter.version),\"source\":\"\",\"tool\":\"\"}\n"
        _ = try reader.read(Array(start.utf8).span.bytes)
        cursor = try await client.get(path + ["events"], query: [("limit", "0")])["latest"]?.integer ?? 0
    }

    /// The proxy refuses frames for a connection that is over.
    var isOpen: Bool { true }

    func send(_ bytes: [UInt8]) async throws -> MissingAnswer? {
        let frame = JSONValue.object([
            .init("from", .text(from.sender)), .init("bytes", .text(Hexadecimal.text(bytes))),
        ])
        try await client.post(path + ["connections", "\(connection)", "frames"], frame)
        let count = answered.count
        // The other side may never be silent.
        let deadline = ContinuousClock.now + .nanoseconds(timeout.nanoseconds)
        var patience = timeout.seconds
        while let answer = try await next(within: patience) {
            show(answer.line)
            answered.append(answer.frame)
            if ContinuousClock.now > deadline { break }
            patience = Self.quiet.seconds
        }
        if answered.count > count { return nil }
        var missing = Self.unanswered(in: timeout)
        if await !knowsFormat() {
            missing.reason +=
                " that the proxy knows as a frame: it has not recognized the connection's format; start the proxy with --format"
        }
        return missing
    }

    /// Whether the proxy knows the format of the connection, as far as its events tell: otherwise it records no frames.
    private func knowsFormat() async -> Bool {
        let query = [("connection", "\(connection)")]
        guard let page = try? await client.get(path + ["events"], query: query), page["missed"]?.integer == 0,
            case .array(let events)? = page["events"]
        else { return true }
        return events.contains { event in
            event["event"]?.string == "frame" || event["event"]?.string == "format" && event["format"]?.string != nil
        }
    }

    /// The other side's next frame; nil if there is none in time.
    private func next(within seconds: Double) async throws -> (line: String, frame: FrameEvent)? {
        let query = [
            ("when", "from == \"\(from.opposite.sender)\""), ("connection", "\(connection)"), ("after", "\(cursor)"),
            ("timeout", "\(seconds)"),
        ]
        let page: JSONValue
        do {
            page = try await client.get(path + ["wait"], query: query)
        } catch let failure as ControlClient.Failure where failure.status == 408 {
            return nil
        }
        cursor = page["next"]?.integer ?? cursor
        guard case .array(let events)? = page["events"], case .object(let members)? = events.first else { return nil }
        let line = JSONValue.object(members.filter { $0.name != "cursor" }).compactText
        for (event, _) in try reader.read(Array((line + "\n").utf8).span.bytes) {
            if case .frame(let frame) = event { return (line, frame) }
        }
        return nil
    }
}
