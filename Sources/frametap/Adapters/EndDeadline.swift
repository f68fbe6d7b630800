import Dispatch
import Platform
import Synchronization

/// Until when what is still to be written may wait for a reader, once a signal has asked for the end (2 s).
enum EndDeadline {
    private static let end = Atomic<UInt64>(0)

    /// A signal has come. A second later pipes and terminals that nobody reads are given up, and what still waits to be decoded
    /// is only counted. A disk that does not take anything either is not waited for much longer.
    static func set() {
        end.store(DispatchTime.now().uptimeNanoseconds + 1_000_000_000, ordering: .relaxed)
        DispatchQueue.global().asyncAfter(deadline: .now() + 5) {
            warn("could not write what was recorded within 5 s")
            _exit(2)
        }
    }

    /// Whether waiting for a reader is over.
    static var hasPassed: Bool {
        let end = end.load(ordering: .relaxed)
        return end > 0 && DispatchTime.now().uptimeNanoseconds > end
    }
}
