import Dispatch
import Framing
import Pipeline
import Platform
import Proxy
import Streams
import Trace

/// The capture of a proxy's TLS as it is on the wire, with the secrets that decrypt it, written on a thread of its own.
final class CiphertextRecord {
    /// Where the proxy puts the ciphertext.
    let queue: RecordingQueue
    private let group = DispatchGroup()

    /// Creates the file.
    ///
    /// - Parameter limit: how many bytes may wait to be written; beyond, they are dropped from the file. The relay never waits for it.
    init(_ path: String, limit: Int) throws {
        queue = RecordingQueue(limit: limit)
        let start = WallClock.now()
        let file = try RecordFile(path, of: .blocks, rotation: nil, keep: nil, start: start) { failure in
            warn("\(failure.message); nothing more is written there, relaying goes on")
        }
        guard let format = try BuiltInFormats.format(named: "chunk", parameters: [:]) else { return }
        // Its decoder only counts.
        var decoding = DecodingOptions(.fixed(format))
        decoding.tls = nil
        // Safe: only the thread below uses it from now on.
        nonisolated(unsafe) let recorder = Recorder(
            queue: queue, decoder: Decoder(decoding, analyses: [], sinks: []),
            packets: PacketRecorder(to: file, tool: Frametap.tool, start: start), patience: .milliseconds(500))
        DispatchQueue(label: "ciphertext").async(group: group) {
            recorder.run(isLate: { EndDeadline.hasPassed }) { usleep(2_000) }
        }
    }

    /// Ends the capture.
    func finish() {
        queue.finish()
        group.wait()
    }
}
