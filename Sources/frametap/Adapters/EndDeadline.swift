import Dispatch
import Platform
import Synchronization

/// How long pending output may wait for a reader, once a signal has requested the end (2 s).
enum EndDeadline {
    private static let end = Atomic<UInt64>(0)

    /// A signal has arrived. A second later, pipes and terminals that no one reads are abandoned, and data still waiting to be
    /// decoded is only counted. A disk that accepts nothing is not waited for much longer either.
    static func set() {
        end.store(DispatchTime.now().uptimeNanoseconds + 1_000_000_000, ordering: .relaxed)
        DispatchQueue.global().asyncAfter(deadline: .now() + 5) {
            warn("the output files could not be written within 5 s: their last records may be missing")
            _exit(2)
        }
    }

    /// Whether waiting for a reader is over.
    static var hasPassed: Bool {
        let end = end.load(ordering: .relaxed)
        return end > 0 && DispatchTime.now().uptimeNanoseconds > end
    }
}
