import Packets
import Pipeline
import Streams
import Trace

/// The bytes of a capture in memory, read in pieces of one size.
package struct CaptureBytes: ByteSource {
    private let bytes: [UInt8]
    private let piece: Int
    private var offset = 0

    /// A source that starts at the first byte.
    package init(_ bytes: [UInt8], piece: Int = .max) {
        self.bytes = bytes
        self.piece = piece
    }

    /// Puts the next piece into the buffer.
    package mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(Never) -> Int {
        let count = min(buffer.count, piece, bytes.count - offset)
        bytes.withUnsafeBytes { all in
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: all[offset..<offset + count]))
        }
        offset += count
        return count
    }
}

/// The results of decoding a capture.
package struct DecodedCapture {
    /// The trace.
    package var ndjson: String
    /// The counts.
    package var summary: Summary
    /// The error in the file.
    package var damage: CaptureError?
    /// What the receiver saw.
    package var counters: CaptureCounters

    /// Decodes a capture as `frametap decode` does.
    ///
    /// - Parameter sinks: further sinks that receive the trace.
    package init(
        _ bytes: [UInt8], options: DecodingOptions, piece: Int = .max, bodyLimit: Int = 4_096,
        sinks: [any TraceSink] = []
    ) {
        self.init(merging: [bytes], options: options, piece: piece, bodyLimit: bodyLimit, sinks: sinks)
    }

    /// Decodes several captures as one, as `frametap decode` does.
    package init(
        merging captures: [[UInt8]], options: DecodingOptions, piece: Int = .max, bodyLimit: Int = 4_096,
        sinks: [any TraceSink] = []
    ) {
        let output = MemoryOutput()
        let writer = NDJSONWriter(to: output, source: "tests", tool: "tests", bodyLimit: bodyLimit)
        let decoder = Decoder(options, sinks: [writer] + sinks)
        var reassembly = ReassemblyOptions()
        reassembly.notices = false
        var capture = CaptureDecoder(options: reassembly, receiver: decoder)
        if captures.count == 1 {
            var reader = CaptureReader(CaptureBytes(captures[0], piece: piece), chunk: 1 << 14)
            do {
                try reader.read(to: &capture)
            } catch {
                if case .damaged(let error) = error { damage = error }
            }
            capture.finish()
            counters = capture.counters
        } else {
            var merge = CaptureMerge(captures.map { CaptureBytes($0, piece: piece) }, chunk: 1 << 14)
            var packets = MergedPackets(to: capture)
            reading: while true {
                switch merge.step(to: &packets) {
                case .more: continue
                case .failed(_, .damaged(let error)): damage = error
                case .stopped, .end: break reading
                }
            }
            packets.receiver.finish()
            counters = packets.receiver.counters
        }
        decoder.finish()
        decoder.flush()
        (ndjson, summary) = (output.text, decoder.summary)
    }

    /// The lines of the trace.
    package func lines() throws -> [TraceLine] { try traceLines(ndjson) }
}
