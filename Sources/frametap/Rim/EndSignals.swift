import Dispatch

/// INT and TERM: the first one ends in order, a second one at once.
final class EndSignals {
    private var sources: [any DispatchSourceSignal] = []

    /// - Parameter end: called on the first signal.
    init(_ end: @escaping @Sendable () -> Void) {
        for number in [SIGINT, SIGTERM] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                // From now on the system's own action applies: the next signal ends the process.
                for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
                end()
            }
            source.resume()
            sources.append(source)
        }
    }

    func cancel() {
        for source in sources { source.cancel() }
    }
}
