import Synchronization

/// How often breakpoints or rules have changed, for readers that then read them again.
final class SwitchCount: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    func increase() { count.withLock { $0 += 1 } }
}
