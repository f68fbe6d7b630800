import Dispatch
import Framing
import Pipeline
import Platform
import Proxy
import Streams
import Trace

/// The capture of a proxy's TLS as it is on the wire, with the secrets that decrypt it, written on a thread of its own.
final class CiphertextRecord {
    /// Where the proxy puts the ciphertext. It is made by the caller, as the proxy begins before there is a file.
    let queue: RecordingQueue
    private let group = DispatchGroup()
    private let file: RecordFile
    private let start: Timestamp
    private let format: Format?

    /// Creates the file. It is written once `begin` is called.
    ///
    /// - Parameters:
    ///   - records: how long a file may become, and how many are kept.
    ///   - queue: where the ciphertext comes from. What does not fit into it is dropped from the file: the relay never waits for it.
    ///   - start: when the record begins.
    init(_ path: String, as records: RecordOptions, from queue: RecordingQueue, start: Timestamp) throws {
        (self.queue, self.start) = (queue, start)
        format = try BuiltInFormats.format(named: "chunk", parameters: [:])
        file = try records.captureFile(at: path, start: start) { failure in
            warn("\(failure.message); nothing more is written there, relaying goes on")
        }
    }

    /// Begins to write what the queue has: see `RecordFile.begin`.
    func begin() {
        guard let format else { return }
        file.begin()
        // Its decoder only counts.
        var decoding = DecodingOptions(.fixed(format))
        decoding.tls = nil
        let queue = queue
        // Safe: only the thread below uses it from now on.
        nonisolated(unsafe) let recorder = Recorder(
            queue: queue, decoder: Decoder(decoding, analyses: [], sinks: []),
            packets: PacketRecorder(to: file, tool: Frametap.tool, start: start), patience: .milliseconds(500))
        DispatchQueue(label: "ciphertext").async(group: group) {
            recorder.run(isLate: { EndDeadline.dropsRest() }) { queue.pause($0) }
        }
    }

    /// Ends the capture.
    func finish() {
        queue.finish()
        group.wait()
        file.warnOfDiscarded()
    }
}
