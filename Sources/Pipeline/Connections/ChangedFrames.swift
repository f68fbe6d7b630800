import Streams

/// The frames that rules have changed on one connection whose format has secrets.
///
/// Of what was passed on instead, a changed key or type makes a secret a value like any other, so its content is hidden on the leg
/// on which it was passed on. A frame there is known by its first bytes, which the report of the action has. Once one is not cut out
/// as it was built, the frames after it may be anything, and are hidden, too.
final class ChangedFrames {
    private struct Side {
        /// How many frames were seen, and the numbers of the latest ones that have secrets.
        var seen = 0
        var secret: [Int] = []
        /// Frames up to this number may have had secrets: they are no longer in `secret`.
        var forgotten = -1
        /// What changed frames begin with.
        var changed: [[UInt8]: Change] = [:]
        /// Whether anything was changed so far.
        var hasChanges = false
        /// Whether any frame from now on may have what is to be hidden.
        var isAny = false
    }

    private struct Change {
        /// How many bytes passed: the frame's, or those of several copies.
        var passed: Int
        /// Whether the frame that was sent has secrets.
        var isSecret: Bool
    }

    private var sides = PerDirection(fromClient: Side(), fromServer: Side())

    /// How many numbers, and how many beginnings, are kept of each side.
    private static let (mostSecret, mostChanged) = (4_096, 256)

    /// A side sent a frame.
    func sent(_ index: Int, isSecret: Bool, from direction: Direction) {
        sides[direction].seen = max(sides[direction].seen, index + 1)
        guard isSecret else { return }
        sides[direction].secret.append(index)
        guard sides[direction].secret.count == 2 * Self.mostSecret else { return }
        sides[direction].forgotten = sides[direction].secret[Self.mostSecret - 1]
        sides[direction].secret.removeFirst(Self.mostSecret)
    }

    /// A rule did something.
    func take(_ report: ActionReport) {
        let (start, direction) = (report.after, report.direction)
        guard !start.isEmpty, !sides[direction].isAny else { return }
        sides[direction].hasChanges = true
        let known = sides[direction].changed[start]
        let isSecret = known?.isSecret == true || !report.before.isEmpty && hadSecrets(report)
        sides[direction].changed[start] = Change(passed: report.passed, isSecret: isSecret)
        if sides[direction].changed.count > Self.mostChanged { loseTrack(of: direction) }
    }

    /// Whether the frame that a report is about may have had secrets.
    private func hadSecrets(_ report: ActionReport) -> Bool {
        guard let index = report.index else { return true }
        let side = sides[report.direction]
        // What was sent before its format was known has not been seen.
        return index >= side.seen || index <= side.forgotten || side.secret.contains(index)
    }

    /// Whether a frame that was passed on may have what is to be hidden.
    func mayHide(_ frame: RawSpan, from direction: Direction) -> Bool {
        if sides[direction].isAny { return true }
        guard sides[direction].hasChanges else { return false }
        // A whole frame comes first: another changed one may be its beginning.
        let start = frame.copied(0..<min(frame.byteCount, ActionReport.mostBytes))
        if let change = sides[direction].changed[start],
            start.count < ActionReport.mostBytes || change.passed.isMultiple(of: frame.byteCount)
        {
            // Others may be copies of it.
            if !change.isSecret { sides[direction].changed[start] = nil }
            return change.isSecret
        }
        let isPart = sides[direction].changed.keys.contains { known in
            (0..<min(known.count, start.count)).allSatisfy { known[$0] == start[$0] }
        }
        if isPart { loseTrack(of: direction) }
        return isPart
    }

    /// Something was passed on that is no frame.
    func unframed(from direction: Direction) {
        if sides[direction].hasChanges { loseTrack(of: direction) }
    }

    private func loseTrack(of direction: Direction) {
        (sides[direction].changed, sides[direction].isAny) = ([:], true)
    }
}

/// Brings the two legs of each connection together.
final class ConnectionLegs {
    private var alone: [Int: ChangedFrames] = [:]

    /// What the legs of a connection share.
    func changedFrames(of connection: ConnectionLeg) -> ChangedFrames? {
        guard connection.leg != nil else { return nil }
        if let known = alone.removeValue(forKey: connection.number) { return known }
        let changed = ChangedFrames()
        alone[connection.number] = changed
        return changed
    }

    /// A leg is over. The other one may never have opened.
    func close(_ connection: ConnectionLeg) {
        if connection.leg != nil { alone[connection.number] = nil }
    }
}
