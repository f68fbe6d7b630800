import Foundation
import Framing
import Packets
import Pipeline
import Streams
import Trace

/// A trace as a test sees it: what was said on each connection.
///
/// Read from a trace or a capture, or recorded by `recordTrace`.
public struct TestTrace: Sendable {
    /// The trace as NDJSON, as `frametap` writes it.
    public let ndjson: String
    /// What it says.
    public let trace: RecordedTrace

    /// A trace of NDJSON.
    ///
    /// - Throws: `TraceReadError`, where it is none.
    public init(ndjson: String, source: String = "trace") throws {
        self.ndjson = ndjson
        var reader = TraceReader()
        try reader.begin(source)
        try reader.read(Array(ndjson.utf8).span.bytes)
        trace = try reader.finish()
    }

    /// The trace in a file: NDJSON, or a capture (pcap or pcapng), which is decoded.
    ///
    /// - Parameters:
    ///   - file: the path of the file.
    ///   - format: the format of a capture: a built-in one's name, or a format file's path; nil: what is recognised.
    public init(contentsOf file: URL, format: String? = nil) throws {
        let bytes = [UInt8](try Data(contentsOf: file))
        if bytes.first == UInt8(ascii: "{") || String(validating: bytes.prefix(16), as: UTF8.self) != nil {
            try self.init(ndjson: String(decoding: bytes, as: UTF8.self), source: file.lastPathComponent)
        } else {
            let text = try CaptureTrace.ndjson(of: bytes, name: file.lastPathComponent, format: format)
            try self.init(ndjson: text, source: file.lastPathComponent)
        }
    }

    // MARK: What is in it

    /// The frames of all connections.
    public var frames: [RecordedFrame] { trace.frames }

    /// The frames of a type.
    ///
    /// - Parameter sender: `client` or `server`; nil: both.
    public func frames(type: String, from sender: Sender? = nil) -> [RecordedFrame] {
        frames.filter { $0.type == type && (sender == nil || $0.from.sender == sender?.rawValue) }
    }

    /// One of both sides.
    public enum Sender: String, Sendable {
        /// The one that connects.
        case client
        /// The one that listens.
        case server
    }

    /// The heartbeats of all connections.
    public var heartbeats: [RecordedFrame] { frames.filter(\.isHeartbeat) }

    /// What analyses found, such as `heartbeat-gap`.
    public var findings: [RecordedFinding] { trace.connections.flatMap(\.findings) }

    /// Whether heartbeats came as often as the format says: there is no heartbeat gap.
    public var keepsHeartbeatContract: Bool { !findings.contains { $0.kind == Finding.Kind.heartbeatGap.rawValue } }

    /// Bytes that belong to no frame.
    public var unframed: [RecordedRun] {
        trace.connections.flatMap(\.items).compactMap { if case .unframed(let run) = $0 { run } else { nil } }
    }

    /// Bytes that were not seen.
    public var missing: [RecordedRun] {
        trace.connections.flatMap(\.items).compactMap { if case .missing(let run) = $0 { run } else { nil } }
    }
}
