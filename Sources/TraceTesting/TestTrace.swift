import Foundation
import FrametapCore
import Framing
import Packets
import Streams
import Trace

/// A trace as a test sees it: the conversation on each connection.
///
/// Read from a trace or a capture, or recorded by `recordTrace`.
public struct TestTrace: Sendable {
    /// Its events, in order.
    public let events: [TraceEvent]
    /// The conversations, by connection.
    public let trace: RecordedTrace

    /// A trace from NDJSON.
    ///
    /// - Throws: `TraceReadError`, if it is not a trace.
    public init(ndjson: String, source: String = "trace") throws {
        let bytes = Array(ndjson.utf8)
        var reader = EventReader()
        try reader.begin(source)
        let events = try reader.read(bytes.span.bytes).map(\.event)
        try reader.finish()
        self.init(events)
    }

    /// A trace from events.
    init(_ events: [TraceEvent]) {
        self.events = events
        var collector = TraceCollector()
        for event in events { collector.take(event) }
        trace = collector.trace ?? RecordedTrace(source: "")
    }

    /// The trace as NDJSON, as `frametap` writes it.
    public var ndjson: String {
        let output = MemoryOutput()
        let writer = NDJSONWriter(to: output)
        for event in events { writer.write(event) }
        writer.flush()
        return output.text
    }

    /// A trace from a file: NDJSON, or a capture (pcap or pcapng), which is decoded.
    ///
    /// - Parameters:
    ///   - file: the path of the file.
    ///   - format: the format of a capture: a built-in one's name, or a format file's path; nil: it is recognised.
    public init(contentsOf file: URL, format: String? = nil) throws {
        let bytes = [UInt8](try Data(contentsOf: file))
        if CaptureMagic.begins(bytes) {
            let decoding = try CaptureDecoding(format: format)
            self.init(
                try decoding.events(
                    of: bytes, name: file.lastPathComponent, bodyLimit: EventSink.defaultBodyLimit))
        } else {
            try self.init(ndjson: String(decoding: bytes, as: UTF8.self), source: file.lastPathComponent)
        }
    }

    // MARK: Contents

    /// The frames of all connections.
    public var frames: [FrameEvent] { trace.frames }

    /// The frames of a type.
    ///
    /// - Parameters:
    ///   - type: the type, as the format names it.
    ///   - sender: who sent them; nil: both.
    public func frames(type: String, from sender: Sender? = nil) -> [FrameEvent] {
        frames.filter { $0.type == type && (sender == nil || $0.from.sender == sender?.rawValue) }
    }

    /// One of the two sides.
    public enum Sender: String, Sendable {
        /// The side that connects.
        case client
        /// The side that listens.
        case server
    }

    /// The heartbeats of all connections.
    public var heartbeats: [FrameEvent] { frames.filter(\.isHeartbeat) }

    /// The findings of analyses, such as `heartbeat-gap`.
    public var findings: [FindingEvent] { trace.connections.flatMap(\.findings) }

    /// Whether heartbeats arrived as often as the format requires: they began, there is no gap, and they did not stop.
    public var keepsHeartbeatContract: Bool {
        let breaks: [Finding.Kind] = [.heartbeatGap, .heartbeatNever, .heartbeatStopped]
        return !findings.contains { finding in breaks.contains { $0.rawValue == finding.kind } }
    }

    /// What rules did, in order.
    public var actions: [ActionEvent] { events.compactMap { if case .action(let action) = $0 { action } else { nil } } }

    /// Bytes that belong to no frame.
    public var unframed: [RunEvent] {
        trace.connections.flatMap(\.items).compactMap { if case .unframed(let run) = $0 { run } else { nil } }
    }

    /// Bytes that were not captured.
    public var missing: [RunEvent] {
        trace.connections.flatMap(\.items).compactMap { if case .missing(let run) = $0 { run } else { nil } }
    }
}
