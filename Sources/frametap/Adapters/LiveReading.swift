import LiveCapture
import Packets
import Pipeline
import Platform
import Proxy
import Streams
import Synchronization
import Trace

/// Reads packets as they pass, and lets time pass where there are none.
struct LiveReading: ~Copyable {
    /// Whether reading came to an early end.
    private(set) var hasFailed = false

    private let recording: LiveRecording
    private var packets: LivePackets
    private var nextCount = ContinuousClock.now
    private var dropped = 0
    private var saidDropped = 0

    private static let mustEnd = Atomic(false)

    /// Packets come this much late at most, as long as nobody is busy: what the kernel collects, and then some.
    private static let slack = Interval.milliseconds(-200)
    /// After how long, in microseconds, the kernel has handed over what it had.
    private static let handOver: UInt32 = 30_000
    /// How long nothing happens before the clock is looked at.
    private static let tick: Int32 = 50
    /// How many packets are taken before what they say is shown.
    private static let batch = 4_096

    init(_ recording: LiveRecording, options: ReassemblyOptions) {
        self.recording = recording
        packets = LivePackets(
            decoder: CaptureDecoder(options: options, receiver: recording.decoder), record: recording.captured)
    }

    /// A signal asks for the end.
    static func stop() { mustEnd.store(true, ordering: .relaxed) }

    /// Reads until it is enough, or a signal comes.
    mutating func run(_ capture: inout LiveCapture, until progress: ReadingProgress) {
        var end: Timestamp?
        reading: while !progress.isDone {
            // What was seen before the clock was read is behind it, as far as the kernel has handed it over.
            let now = WallClock.now()
            if end == nil, Self.mustEnd.load(ordering: .relaxed) {
                end = now
                // What was seen before the signal may still be with the kernel.
                usleep(Self.handOver)
            }
            if end == nil { capture.wait(milliseconds: Self.tick) }
            do throws(LiveCaptureError) {
                let count = try capture.read(Self.batch, to: &packets)
                // A busy interface must not keep the end from coming.
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

    /// Asks once a second what the kernel lost, and says so.
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

/// Packets on their way to the decoder, and into a file where they are kept.
private struct LivePackets: PacketReceiver, ~Copyable {
    var decoder: CaptureDecoder
    let record: CaptureRecord?
    /// The time of the latest.
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
