import Dispatch
import Packets
import Pipeline
import Platform
import Streams
import Synchronization
import Trace

/// Reads captures on several threads, each of which decodes its share of the connections: used if no frames are shown, and the counts
/// are added up.
///
/// One file is read once for all of them. Of several files, which are read as one timeline, each thread reads everything.
struct SharedReading {
    /// Smaller captures are read before another thread would have started.
    private static let leastSize = 4 << 20

    private(set) var hasFailed = false
    private(set) var counters = CaptureCounters()

    /// A share of the work for each thread, estimated from the first bytes of a capture; nil if that could not be done evenly, or is not
    /// worth it.
    ///
    /// - Parameter threads: how many.
    static func shares(_ threads: Int, of paths: [String], options: ReassemblyOptions) -> [CaptureShare]? {
        guard let first = paths.first, let input = try? FileInput(first) else { return nil }
        defer { input.closeFile() }
        guard let size = input.identity?.size, size >= leastSize else { return nil }
        let weights = ShareWeights()
        var decoder = CaptureDecoder(options: options, receiver: weights)
        var reader = CaptureReader(input)
        // Of several files, each thread would have to decompress all.
        guard (try? reader.step(to: &decoder)) != nil, !reader.isExpanding || paths.count == 1 else { return nil }
        decoder.finish()
        // Few hosts cannot be divided among many threads, but perhaps among some.
        var count = threads
        while count > 1 {
            if let shares = weights.shares(count) { return shares }
            count /= 2
        }
        return nil
    }

    /// Reads the files.
    ///
    /// - Parameters:
    ///   - shares: a share of the work for each thread.
    ///   - decoder: receives the added counts.
    ///   - decodings: what the decoder looks for, loaded anew for each other thread: shared objects would make the threads
    ///     contend with one another (reference counts).
    /// - Returns: false if the work cannot be split by share, because of a limit that all connections share, or because the file
    ///   changed meanwhile. Nothing was added then.
    mutating func read(
        _ paths: [String], _ shares: [CaptureShare], options: ReassemblyOptions, to decoder: Decoder,
        _ decodings: () throws -> DecodingOptions,
        progress: ReadingProgress
    ) rethrows -> Bool {
        let decodings = [decoder.options] + (try shares.dropFirst().map { _ in try decodings() })
        // If it cannot be opened, each reader tries again, and reports it.
        let input = paths.count == 1 ? try? FileInput(paths[0], progress) : nil
        defer { input?.closeFile() }
        let capture = input.map { SharedCapture($0, for: shares.count) }
        let parts = Mutex<[Part]>([])
        @Sendable func read(_ index: Int) {
            defer { capture?.leave(index) }
            var own = decodings[index]
            own.memoryLimit /= shares.count
            // What analyses remember has limits for each bucket of hosts (`HostBuckets`): they do not depend on the share.
            let part = Decoder(own, sinks: [])
            var reading = CaptureReading(showsProgress: index == 0)
            // At a limit that all connections share, everything has to be read again, by one thread.
            reading.read(
                paths, from: capture.map { SharedCaptureReader($0, share: index) },
                options: options.taking(shares[index]), to: part, progress: progress
            ) {
                $0 || part.hasReachedMemoryLimit
            } whenRead: {
            }
            if progress.isAbandoned { return part.abandon() }
            part.finish()
            parts.withLock {
                $0.append(
                    Part(
                        index: index, reading: reading, summary: part.summary,
                        hasReachedLimit: reading.hasReachedLimit || part.hasReachedMemoryLimit))
            }
        }
        let group = DispatchGroup()
        for index in 1..<decodings.count {
            // Queues of their own always have threads, and leave that of signals free.
            DispatchQueue(label: "share").async(group: group) { read(index) }
        }
        read(0)
        group.wait()
        let all = parts.withLock { $0 }.sorted { $0.index < $1.index }
        if progress.isAbandoned {
            progress.startOver()
            return false
        }
        guard let first = all.first else { return false }
        let joined = CaptureCounters.joined(all.map(\.reading.counters))
        // If a signal ended reading, each thread stopped where it was.
        if !progress.isInterrupted {
            guard joined != nil, all.allSatisfy({ !$0.hasReachedLimit }) else { return false }
        }
        for complaint in first.reading.complaints { warn(complaint) }
        for part in all { decoder.add(part.summary) }
        (hasFailed, counters) = (first.reading.hasFailed, joined ?? first.reading.counters)
        return true
    }

    private struct Part {
        var index: Int
        var reading: CaptureReading
        var summary: Summary
        var hasReachedLimit: Bool
    }
}

/// The amount of work in each bucket of a capture's connections: its bytes, and a constant for each packet.
private final class ShareWeights: StreamReceiver {
    private var buckets = (0..<HostBuckets.count).map { _ in Bucket() }

    /// Shares of equal weight; nil if one would have much less than it should.
    func shares(_ count: Int) -> [CaptureShare]? {
        let weights = buckets.map(\.weight)
        let shares = CaptureShare.balanced(weights, into: count)
        let sum = weights.reduce(0, +)
        let isEven = shares.allSatisfy { share in
            let own = weights.indices.reduce(0) { share.has($1) ? $0 + weights[$1] : $0 }
            return 3 * shares.count * own >= 2 * sum
        }
        return isEven ? shares : nil
    }

    func open(_ opening: Opening) -> any ConnectionReceiver {
        buckets[HostBuckets.bucket(opening.client.address, opening.server.address)]
    }

    func advance(to time: Timestamp) {}

    private final class Bucket: ConnectionReceiver {
        var weight = 0

        func received(_ bytes: RawSpan, from direction: Direction, at time: Timestamp, packet: Int) {
            weight += bytes.byteCount + 100
        }

        func missing(_ byteCount: Int, from direction: Direction, at time: Timestamp) {}
        func noticed(_ notice: StreamNotice, from direction: Direction, at time: Timestamp, packet: Int) {}
        func finished(_ ending: Ending, from direction: Direction, at time: Timestamp) {}
        func closed(_ closing: Closing) {}
    }
}
