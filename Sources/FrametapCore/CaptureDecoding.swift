import Foundation
import Framing
import Packets
import Pipeline
import Streams
import Trace

/// Decodes captures (pcap and pcapng, also with gzip) as `frametap decode` does: in one thread, the caller's, and in bounded memory.
///
///     let decoding = try CaptureDecoding(format: "im-json")
///     for event in try decoding.events(ofFile: "chat.pcapng") {
///         if case .frame(let frame) = event { print(frame.time, frame.type ?? "?", frame.length) }
///     }
public struct CaptureDecoding: Sendable {
    /// What is looked for.
    package let options: DecodingOptions

    /// Decodes connections of one format, or of any that is recognised.
    ///
    /// - Parameter format: as the option `--format` names it: a built-in format's or rule's name (`im-json`, `fixed:size=8`),
    ///   `example:NAME`, or the path of a format file; nil or `auto`: the format of each connection is recognised by its bytes, or
    ///   its port.
    /// - Throws: `FormatNameError` if there is no such format, `FormatFileError` if the file describes none, or that the file
    ///   cannot be read.
    public init(format: String? = nil) throws {
        guard let format, format != "auto" else {
            options = DecodingOptions(.automatic(try BuiltInFormats.allWithVariants()))
            return
        }
        options = DecodingOptions(
            .fixed(try FormatName.format(format, contents: Self.text(ofFile:)) { Self.text(of: $0, beside: $1) }))
    }

    private static func text(ofFile path: String) throws -> String {
        try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
    }

    private static func text(of other: String, beside path: String) -> String? {
        guard other.hasSuffix(".yaml") || other.hasSuffix(".yml") else { return nil }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        return try? String(contentsOf: URL(fileURLWithPath: other, relativeTo: folder), encoding: .utf8)
    }

    /// The trace of a file, as values: what `frametap decode --as ndjson` writes.
    ///
    /// - Parameters:
    ///   - path: a capture.
    ///   - bodyLimit: at most how many bytes of a body an event has.
    /// - Throws: `CaptureDecodingError`, if the file cannot be read to its end.
    public func events(ofFile path: String, bodyLimit: Int = 4_096) throws(CaptureDecodingError) -> [TraceEvent] {
        var events: [TraceEvent] = []
        try read(file: path, to: [sink(path, bodyLimit) { events.append($0) }])
        return events
    }

    /// The trace of a capture in memory.
    ///
    /// - Parameters:
    ///   - capture: the bytes of a capture file.
    ///   - name: the capture's, for the trace and for errors.
    ///   - bodyLimit: at most how many bytes of a body an event has.
    /// - Throws: `CaptureDecodingError`, if the capture is damaged.
    public func events(
        of capture: [UInt8], name: String = "memory", bodyLimit: Int = 4_096
    ) throws(CaptureDecodingError) -> [TraceEvent] {
        var events: [TraceEvent] = []
        try read(capture, name: name, to: [sink(name, bodyLimit) { events.append($0) }])
        return events
    }

    private func sink(_ source: String, _ bodyLimit: Int, _ take: @escaping (TraceEvent) -> Void) -> EventSink {
        EventSink(source: source, tool: "frametap", bodyLimit: bodyLimit, take)
    }

    /// Reads a file, and passes its trace to sinks while it does.
    ///
    /// - Parameters:
    ///   - path: a capture.
    ///   - sinks: what receives the trace, in this order: of your own, or `TraceForm.sink`'s.
    /// - Returns: the counts, as `summary` receives them.
    /// - Throws: `CaptureDecodingError`, if the file cannot be read to its end. The sinks have received the part before, and the
    ///   end of each connection.
    @discardableResult
    public func read(file path: String, to sinks: [any TraceSink]) throws(CaptureDecodingError) -> Summary {
        let handle: FileHandle
        do { handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path)) } catch {
            throw CaptureDecodingError("\(path): \(error.localizedDescription)")
        }
        defer { try? handle.close() }
        let size = (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
        return try read(FileSource(handle: handle), of: size, name: path, to: sinks)
    }

    /// Reads a capture in memory, and passes its trace to sinks.
    ///
    /// - Returns: the counts, as `summary` receives them.
    /// - Throws: `CaptureDecodingError`, if the capture is damaged. The sinks have received the part before.
    @discardableResult
    public func read(
        _ capture: [UInt8], name: String = "memory", to sinks: [any TraceSink]
    ) throws(CaptureDecodingError) -> Summary {
        try read(MemorySource(capture), of: capture.count, name: name, to: sinks)
    }

    private func read(
        _ source: some ByteSource, of size: Int, name: String, to sinks: [any TraceSink]
    ) throws(CaptureDecodingError) -> Summary {
        var options = options
        options.limitMemory(to: options.totalMemoryLimit, isReassembled: true)
        let decoder = Decoder(options, sinks: sinks)
        var reassembly = ReassemblyOptions()
        reassembly.limitMemory(to: options.totalMemoryLimit)
        reassembly.notices = false
        reassembly.keepConflictHistory(captureSize: size)
        reassembly.serverPorts = Set(options.knownFormats.flatMap(\.ports))
        var packets = CaptureDecoder(options: reassembly, receiver: decoder)
        var reader = CaptureReader(source)
        var fault: CaptureDecodingError?
        do { try reader.read(to: &packets) } catch {
            switch error {
            case .damaged(let damage): fault = CaptureDecodingError("\(name): \(damage)")
            case .unreadable(let failure): fault = CaptureDecodingError("\(name): \(failure)")
            }
        }
        packets.finish()
        decoder.finish(skipped: packets.counters.skippedByKind)
        decoder.flush()
        if let fault { throw fault }
        return decoder.summary
    }
}

/// Why a capture could not be read to its end.
public struct CaptureDecodingError: Error, Sendable, CustomStringConvertible {
    /// The file, the place in it, and what was expected there.
    public let description: String

    init(_ description: String) { self.description = description }
}
