import ArgumentParser
import Dispatch
import Proxy
import Streams

/// What happens if recording does not keep up with relaying.
struct QueueOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Buffer at most this much relayed traffic until it is recorded; beyond it, traffic is dropped from the records.",
            valueName: "size"))
    var queueLimit = ByteAmount(bytes: 64 << 20)

    @Flag(
        help: "Drop nothing from the records: when recording cannot keep up, relaying waits for it.")
    var lossless = false

    func validate() throws {
        if queueLimit.bytes < 1 { throw ValidationError("--queue-limit is 0; expected 1 or more bytes") }
    }

    /// The queue, which reports on standard error when the recorder is too slow.
    func queue() -> RecordingQueue {
        let limit = queueLimit.bytes
        return RecordingQueue(
            limit: limit, isLossless: lossless,
            report: { notice in
                // A relay's thread must not wait for standard error.
                DispatchQueue.global().async { warn(Self.text(notice, limit: limit)) }
            })
    }

    private static func text(_ notice: RecordingQueue.Notice, limit: Int) -> String {
        switch notice {
        case .dropping:
            """
            recording does not keep up, and \(limit) bytes are waiting for it: what passes now is relayed, but dropped from the \
            records (--lossless makes the relay wait instead, --queue-limit keeps more)
            """
        case .waiting:
            "recording does not keep up, and \(limit) bytes are waiting for it: the relay waits, too (--lossless)"
        }
    }

    /// The final report; empty if nothing was lost and nothing had to wait.
    static func lines(_ losses: RecordingQueue.Losses, late: RecordingQueue.Loss) -> [String] {
        var lines: [String] = []
        let (bytes, chunks) = (losses.dropped.bytes + late.bytes, losses.dropped.chunks + late.chunks)
        if bytes > 0 || losses.unrecorded > 0 {
            var line = "the records are not complete: dropped \(bytes) bytes in \(chunks) chunks"
            if losses.connections > 0 { line += " of \(losses.connections) connections" }
            if losses.unrecorded > 0 { line += "; \(losses.unrecorded) connections were not recorded at all" }
            if late.bytes > 0 {
                line += "; \(late.bytes) of them because the reader of the output had stopped"
            }
            lines.append(line)
        }
        if losses.pauses > 0 {
            let tenths = losses.paused.nanoseconds / 100_000_000
            lines.append(
                "the relay waited for the recorder \(losses.pauses) times, \(tenths / 10).\(tenths % 10) s in all (--lossless)"
            )
        }
        return lines
    }
}
