import Streams
import Trace

/// A heartbeat ended a gap, and whose fault that was shows in what follows at once: all that were due, or not.
final class HeartbeatDoubt {
    /// By when they have to be there.
    let until: Timestamp
    private var missed: Int
    private let alone: Finding
    private let withAll: Finding

    /// - Parameters:
    ///   - missed: how many were due, the one that came included.
    ///   - alone: what is told if fewer come.
    ///   - withAll: what is told if all do.
    init(until: Timestamp, missed: Int, alone: Finding, withAll: Finding) {
        (self.until, self.alone, self.withAll) = (until, alone, withAll)
        // One may have been just about to be due.
        self.missed = missed - 1
    }

    /// Takes a heartbeat, the one that came included; what to tell, once that is known.
    func resolve(with time: Timestamp) -> Finding? {
        if until < time { return alone }
        missed -= 1
        return missed <= 0 ? withAll : nil
    }

    /// What to tell if no other comes before `time`, once that is known.
    func resolve(before time: Timestamp) -> Finding? { until < time ? alone : nil }

    /// What to tell if no other comes.
    func resolve() -> Finding { alone }
}

extension HeartbeatDoubt? {
    /// Takes a heartbeat; tells what there is to tell, once that is known.
    mutating func take(_ time: Timestamp, into findings: inout [Finding]) {
        guard let finding = self?.resolve(with: time) else { return }
        findings.append(finding)
        self = nil
    }
}
