import Dispatch
import Platform
import Synchronization

/// HUP: files that were moved away (by logrotate) must be created anew. It no longer ends the process.
enum HangUp {
    private static let received = Atomic(0)
    // Safe: it is made once, and after that only kept.
    nonisolated(unsafe) private static let source: any DispatchSourceSignal = {
        signal(SIGHUP, SIG_IGN)
        // One that comes before the source is registered is lost: there are no files yet that could have been moved away.
        let registered = DispatchSemaphore(value: 0)
        let source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: .global())
        source.setRegistrationHandler { registered.signal() }
        source.setEventHandler { received.wrappingAdd(1, ordering: .relaxed) }
        source.resume()
        registered.wait()
        return source
    }()

    /// Starts handling the signal.
    static func listen() { _ = source }

    /// How many were received.
    static var count: Int { received.load(ordering: .relaxed) }
}
