import Dispatch
import Packets
import Pipeline
import Streams
import Synchronization
import Trace

/// Reads captures on several threads, of which each reads all and decodes its share of the connections: for when nobody wants to
/// see frames, and what was counted is added up.
struct SharedReading {
    /// How many threads there are.
    private static let threads = 2
    /// Smaller captures are read before a second thread would have started.
    private static let leastSize = 4 << 20

    private(set) var hasFailed = false
    private(set) var counters = CaptureCounters()

    /// Whether the first of a capture's bytes belong to all shares alike.
    static func isWorthIt(_ paths: [String], options: ReassemblyOptions) -> Bool {
        guard let first = paths.first, let input = try? FileInput(first) else { return false }
        defer { input.closeFile() }
        guard let size = input.identity?.size, size >= leastSize else { return false }
        let balance = ShareBalance(threads)
        var decoder = CaptureDecoder(options: options, receiver: balance)
        var reader = CaptureReader(input)
        // What is compressed, each thread would have to expand.
        guard (try? reader.step(to: &decoder)) != nil, !reader.isExpanding else { return false }
        decoder.finish()
        return balance.isEven
    }

    /// Reads the files.
    ///
    /// - Parameters:
    ///   - decoder: what the counts are added to.
    ///   - decodings: what the decoder looks for, loaded anew for each other thread: what threads share, each use of it would have
    ///     them wait for one another (reference counts).
    /// - Returns: false where the shares cannot be told apart, because of a limit that all connections share, or because the
    ///   file changed meanwhile. Nothing was added then.
    mutating func read(
        _ paths: [String], options: ReassemblyOptions, to decoder: Decoder, _ decodings: () throws -> DecodingOptions,
        progress: ReadingProgress
    ) rethrows -> Bool {
        let decodings = [decoder.options] + (try (1..<Self.threads).map { _ in try decodings() })
        let parts = Mutex<[Part]>([])
        @Sendable func read(_ index: Int) {
            let part = Decoder(decodings[index], sinks: [])
            var reading = CaptureReading(showsProgress: index == 0)
            let share = CaptureShare(index, of: decodings.count)
            reading.read(paths, options: options.taking(share), to: part, progress: progress) {}
            part.finish()
            parts.withLock { $0.append(Part(index: index, reading: reading, summary: part.summary)) }
        }
        let group = DispatchGroup()
        for index in 1..<decodings.count {
            DispatchQueue.global().async(group: group) { read(index) }
        }
        read(0)
        group.wait()
        let all = parts.withLock { $0 }.sorted { $0.index < $1.index }
        guard let first = all.first else { return false }
        // Where a signal ended reading, each got as far as it got.
        if !progress.isInterrupted {
            guard all.allSatisfy({ !$0.reading.hasReachedLimit && $0.reading.counters == first.reading.counters })
            else { return false }
        }
        for complaint in first.reading.complaints { complain(complaint) }
        for part in all { decoder.add(part.summary) }
        (hasFailed, counters) = (first.reading.hasFailed, first.reading.counters)
        return true
    }

    private struct Part {
        var index: Int
        var reading: CaptureReading
        var summary: Summary
    }
}

/// How many bytes of streams there are in each share.
private final class ShareBalance: StreamReceiver {
    private let shares: [Share]

    init(_ count: Int) {
        shares = (0..<count).map { Share(share: CaptureShare($0, of: count)) }
    }

    /// Whether no share has much less than it should.
    var isEven: Bool {
        let sum = shares.reduce(0) { $0 + $1.byteCount }
        return shares.allSatisfy { 3 * shares.count * $0.byteCount >= 2 * sum }
    }

    func open(_ opening: Opening) -> any ConnectionReceiver {
        shares.first { $0.share.contains(opening.client.address, opening.server.address) } ?? shares[0]
    }

    func advance(to time: Timestamp) {}

    private final class Share: ConnectionReceiver {
        let share: CaptureShare
        var byteCount = 0

        init(share: CaptureShare) { self.share = share }

        func received(_ bytes: RawSpan, from direction: Direction, at time: Timestamp, packet: Int) {
            byteCount += bytes.byteCount
        }

        func missing(_ byteCount: Int, from direction: Direction, at time: Timestamp) {}
        func noticed(_ notice: StreamNotice, from direction: Direction, at time: Timestamp, packet: Int) {}
        func finished(_ ending: Ending, from direction: Direction, at time: Timestamp) {}
        func closed(_ closing: Closing) {}
    }
}
