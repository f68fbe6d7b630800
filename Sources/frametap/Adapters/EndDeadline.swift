import Dispatch
import Platform
import Synchronization

/// How long pending output is written once a signal has requested the end: as long as it advances.
///
/// There is no limit beyond that. What waits is bounded by the queue, and a second signal ends the process at once (`EndSignals`).
final class EndDeadline: Sendable {
    /// How long a reader may still take, and how long nothing may advance, in nanoseconds.
    private static let (patience, longestPause) = (UInt64(1_000_000_000), UInt64(5_000_000_000))

    private let end = Atomic<UInt64>(0)
    private let lastAdvance = Atomic<UInt64>(0)
    private let hasAbandonedReader = Atomic(false)

    /// A signal has arrived.
    func set(at now: UInt64) {
        lastAdvance.store(now, ordering: .relaxed)
        end.store(now + Self.patience, ordering: .relaxed)
    }

    /// Something was recorded.
    func advance(at now: UInt64) { lastAdvance.store(now, ordering: .relaxed) }

    /// An output was given up because no one read it.
    func abandonReader() { hasAbandonedReader.store(true, ordering: .relaxed) }

    /// Whether waiting for a reader is over.
    func hasPassed(at now: UInt64) -> Bool {
        let end = end.load(ordering: .relaxed)
        return end > 0 && now > end
    }

    /// Whether a reader that has accepted nothing since `start` is given up: after a second, once the signal has arrived; at once if
    /// another one was, so that several do not add up.
    func abandonsReader(silentSince start: UInt64, at now: UInt64) -> Bool {
        hasPassed(at: now) && (hasAbandonedReader.load(ordering: .relaxed) || now > start + Self.patience)
    }

    /// Whether data that still waits to be decoded is only counted: a reader has stopped. A recorder that is merely slow goes on.
    func dropsRest(at now: UInt64) -> Bool { hasPassed(at: now) && hasAbandonedReader.load(ordering: .relaxed) }

    /// How many nanoseconds the output may still stand still; 0: the process must end.
    func remainingPause(at now: UInt64) -> UInt64 {
        let latest = lastAdvance.load(ordering: .relaxed) + Self.longestPause
        return latest > now ? latest - now : 0
    }
}

/// The deadline of this process.
extension EndDeadline {
    private static let process = EndDeadline()
    static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    /// A signal has arrived. A second later, pipes and terminals that no one reads are abandoned. A disk that accepts nothing is
    /// not waited for much longer either.
    static func set() {
        process.set(at: now)
        watch()
        DispatchQueue.global().asyncAfter(deadline: .now() + 2) {
            warn("recording goes on until it has caught up; a second signal ends at once, and loses the rest")
        }
    }

    /// Ends the process once nothing advances.
    private static func watch() {
        let remaining = process.remainingPause(at: now)
        guard remaining > 0 else {
            warn("the output files could not be written within 5 s: their last records may be missing")
            _exit(2)
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(Int(remaining))) { watch() }
    }

    /// Whether a reader that has accepted nothing since `start` is given up.
    static func abandonsReader(silentSince start: UInt64) -> Bool {
        guard process.abandonsReader(silentSince: start, at: now) else { return false }
        process.abandonReader()
        return true
    }

    /// Something was written.
    static func advance() { process.advance(at: now) }

    /// For each piece that is recorded: whether it and the rest are only counted.
    static func dropsRest() -> Bool {
        let now = now
        process.advance(at: now)
        return process.dropsRest(at: now)
    }
}
