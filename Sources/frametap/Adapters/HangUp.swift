import Dispatch
import Platform
import Synchronization

/// HUP: whoever has moved files away (logrotate) wants them begun anew. It does not end the process any more.
enum HangUp {
    private static let received = Atomic(0)
    // Safe: it is made once, and after that only kept.
    nonisolated(unsafe) private static let source: any DispatchSourceSignal = {
        signal(SIGHUP, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: .global())
        source.setEventHandler { received.wrappingAdd(1, ordering: .relaxed) }
        source.resume()
        return source
    }()

    /// Begins to listen.
    static func listen() { _ = source }

    /// How many were received.
    static var count: Int { received.load(ordering: .relaxed) }
}
