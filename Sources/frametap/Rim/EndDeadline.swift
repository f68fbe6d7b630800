import Dispatch
import Synchronization

/// Until when what is still to be written may wait for a reader, once a signal has asked for the end (DESIGN §6: 2 s).
enum EndDeadline {
    private static let end = Atomic<UInt64>(0)

    /// A signal has come. Pipes and terminals are given up a second later, and the process ends before two have passed.
    static func set() {
        end.store(DispatchTime.now().uptimeNanoseconds + 1_000_000_000, ordering: .relaxed)
        DispatchQueue.global().asyncAfter(deadline: .now() + 1.9) {
            complain("could not write everything that was recorded within 2 s")
            _exit(2)
        }
    }

    /// Whether waiting for a reader is over.
    static var hasPassed: Bool {
        let end = end.load(ordering: .relaxed)
        return end > 0 && DispatchTime.now().uptimeNanoseconds > end
    }
}
