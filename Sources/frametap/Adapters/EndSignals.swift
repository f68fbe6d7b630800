import Dispatch
import Platform
import Synchronization

/// INT and TERM: the first one ends the process cleanly, a second one immediately.
///
/// What comes right after the first one is the same one again: coreutils' `timeout` signals its child and then the child's group.
final class EndSignals {
    private var sources: [any DispatchSourceSignal] = []

    /// Whoever announces something after this may get a signal immediately: it is handled.
    ///
    /// - Parameter end: called on the first signal, on a thread where it may wait.
    init(_ end: @escaping @Sendable () -> Void) {
        // Handled one after the other, and never queued after `end`: a second signal does not wait for it.
        let queue = DispatchQueue(label: "signals")
        let first = FirstSignal()
        let registered = DispatchSemaphore(value: 0)
        for number in [SIGINT, SIGTERM] {
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                switch first.age() {
                case nil: DispatchQueue.global().async(execute: end)
                case .some(..<FirstSignal.echo): break
                default: EndSignals.endAtOnce(number)
                }
            }
            source.setRegistrationHandler { registered.signal() }
            source.resume()
            sources.append(source)
        }
        // Until then a signal ends the process, as it would without this: ignored, it would be lost.
        for _ in sources { registered.wait() }
        #if canImport(Darwin)
        // A source does not keep the signal from ending the process; on Linux it does, and this would disable it.
        for number in [SIGINT, SIGTERM] { signal(number, SIG_IGN) }
        #endif
    }

    /// Starts work whose announcements come when signals are handled, and cancels it on the first one.
    static func cancelling<Success: Sendable>(
        _ work: sending @escaping @isolated(any) () async throws -> Success
    ) -> (signals: EndSignals, work: Task<Success, any Error>) {
        let (waiting, handled) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            for await _ in waiting {}
            return try await work()
        }
        let signals = EndSignals { task.cancel() }
        handled.finish()
        return (signals, task)
    }

    /// Ends the process with the signal, as the system would have.
    private static func endAtOnce(_ number: Int32) -> Never {
        signal(number, SIG_DFL)
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, number)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
        raise(number)
        _exit(128 + number)
    }

    /// From now on a signal ends the process at once: all that is left is to report, and that may block, too.
    func cancel() {
        for source in sources { source.cancel() }
        for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
    }
}

/// When the first signal came.
private final class FirstSignal: Sendable {
    /// For this long, in nanoseconds, another signal is the first one again.
    static let echo: UInt64 = 300_000_000

    private let time = Atomic<UInt64>(0)

    /// How long ago it came, in nanoseconds; nil if this is the first one.
    func age() -> UInt64? {
        let now = DispatchTime.now().uptimeNanoseconds
        let (isFirst, came) = time.compareExchange(expected: 0, desired: now, ordering: .relaxed)
        return isFirst ? nil : now - min(came, now)
    }
}
