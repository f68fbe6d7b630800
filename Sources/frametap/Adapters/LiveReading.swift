import LiveCapture
import Packets
import Pipeline
import Platform
import Proxy
import Streams
import Synchronization
import Trace

/// Reads packets as they arrive, and lets time pass when there are none.
struct LiveReading: ~Copyable {
    /// Whether reading came to an early end.
    private(set) var hasFailed = false

    private let recording: LiveRecording
    private var packets: LivePackets
    private var nextCount = ContinuousClock.now
    private var dropped = 0
    private var saidDropped = 0

    private static let mustEnd = Atomic(false)

    /// The maximum delay of packets as long as nothing is busy: the kernel's buffering time, and some margin.
    private static let slack = Interval.milliseconds(-200)
    /// After how many microseconds the kernel hands over its buffered packets.
    private static let handOver: UInt32 = 30_000
    /// How long nothing happens before the clock is read.
    private static let tick: Int32 = 50
    /// How many packets are processed before results are shown.
    private static let batch = 4_096

    init(_ recording: LiveRecording, options: ReassemblyOptions) {
        self.recording = recording
        packets = LivePackets(
            decoder: CaptureDecoder(options: options, receiver: recording.decoder), record: recording.captured)
    }

    /// A signal requests the end.
    static func stop() { mustEnd.store(true, ordering: .relaxed) }

    /// Reads until there is enough, or a signal arrives.
    mutating func run(_ capture: inout LiveCapture, until progress: ReadingProgress) {
        var end: Timestamp?
        reading: while !progress.isDone {
            // Read before the packets: all earlier packets, as far as the kernel has handed them over, are then included.
            let now = WallClock.now()
            if end == nil, Self.mustEnd.load(ordering: .relaxed) {
                end = now
                // Packets seen before the signal may still be in the kernel's buffer.
                usleep(Self.handOver)
            }
            if end == nil { capture.wait(milliseconds: Self.tick) }
            do throws(LiveCaptureError) {
                let count = try capture.read(Self.batch, to: &packets)
                // A busy interface must not delay the end.
                if let end, count < Self.batch || packets.latest > end { break reading }
                if count < Self.batch { packets.decoder.advance(to: now + Self.slack) }
            } catch {
                hasFailed = true
                warn(error.message)
                break reading
            }
            look(at: &capture)
            recording.flush(at: WallClock.now(), lost: dropped)
        }
        finish(&capture)
    }

    /// Queries the kernel's drop counter once a second, and reports it.
    private mutating func look(at capture: inout LiveCapture, isLast: Bool = false) {
        guard isLast || ContinuousClock.now >= nextCount else { return }
        nextCount = .now + .seconds(1)
        let counts = capture.counts()
        dropped = counts.dropped
        recording.captured?.counts = (counts.received, dropped)
        guard dropped > saidDropped else { return }
        warn(
            "the kernel dropped \(Quantities.counted(dropped - saidDropped, "packet")), \(dropped) in all: a larger --buffer, or less to print, helps"
        )
        saidDropped = dropped
    }

    private mutating func finish(_ capture: inout LiveCapture) {
        look(at: &capture, isLast: true)
        let end = max(WallClock.now(), packets.latest)
        packets.decoder.captured(until: end)
        packets.decoder.finish()
        packets.decoder.dropped(dropped)
        recording.finish(at: end, skipped: packets.decoder.counters.skippedByKind)
    }
}

/// Packets on their way to the decoder, and to a file if they are kept.
private struct LivePackets: PacketReceiver, ~Copyable {
    var decoder: CaptureDecoder
    let record: CaptureRecord?
    /// The time of the latest packet.
    private(set) var latest = Timestamp(nanoseconds: 0)

    init(decoder: consuming CaptureDecoder, record: CaptureRecord?) {
        self.decoder = decoder
        self.record = record
    }

    mutating func receive(_ packet: PacketInfo, bytes: RawSpan, options: RawSpan) -> Reception {
        latest = max(latest, packet.time)
        record?.append(bytes, originalLength: packet.originalLength, at: packet.time)
        return decoder.receive(packet, bytes: bytes, options: options)
    }

    mutating func captured(until time: Timestamp) {
        decoder.captured(until: time)
    }
}
