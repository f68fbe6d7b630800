import Framing
import Streams
import Trace

/// What the other side may do on a silence, and whether it does.
extension HeartbeatWatch {
    private var other: String { from.opposite.sender }

    /// Determines whether a silence reaches the time at which the other side may act, or passes the time by which it should have.
    ///
    /// - Parameters:
    ///   - time: up to when the silent side is known.
    ///   - otherTime: up to when the other side is.
    func lookForEviction(before time: Timestamp, _ otherTime: Timestamp) -> [Finding] {
        guard let eviction = contract.eviction, let refreshed, !isEnded else { return [] }
        var found: [Finding] = []
        let start = refreshed + eviction.after
        if reached != refreshed, start < time {
            (reached, isOverdueReported) = (refreshed, false)
            found.append(
                finding(
                    .evictionWindow, .warning, at: start,
                    "the \(other) has heard nothing for \(eviction.after.text(digits: true)): it \(deed(eviction)) "
                        + window(eviction), data(eviction)))
        }
        let end = start + eviction.sweep + slack(eviction)
        if reached == refreshed, !isOverdueReported, end < min(time, otherTime) {
            isOverdueReported = true
            if eviction.deed == .close, otherEnd == nil {
                found.append(
                    finding(
                        .evictionOverdue, .info, at: end,
                        "the \(other) has heard nothing for \((end - refreshed).text(digits: true)) and leaves the "
                            + "connection open, where it \(deed(eviction)) \(window(eviction))", data(eviction)))
            }
        }
        return found
    }

    /// Whether the close of a connection matches a silence before it; nil if there was none, or no one closed it.
    func close(_ closing: Closing) -> Finding? {
        guard let eviction = contract.eviction, let refreshed, let by = closer(closing) else { return nil }
        let end = by == from ? closing.time : min(otherEnd ?? closing.time, closing.time)
        let silence = end - refreshed
        guard eviction.after < silence else { return nil }
        let fits =
            eviction.deed == .close && by != from && !(eviction.after + eviction.sweep + slack(eviction) < silence)
        let what = "closed by the \(by.sender) after \(silence.text(digits: true)) of silence"
        let judgement =
            if fits {
                "fits: it \(deed(eviction)) \(window(eviction))"
            } else if by == from {
                "the silent side closed it itself, it was not evicted"
            } else if eviction.deed == .forget {
                "does not fit: it only forgets a silent \(from.sender)"
            } else {
                "does not fit: it \(deed(eviction)) \(window(eviction))"
            }
        return finding(
            .evictionClose, fits ? .warning : .info, at: end, "\(what): \(judgement)",
            [
                Field("silentFor", .number(silence.seconds)), Field("by", .text(by.sender)),
                Field("fits", .boolean(fits)),
            ] + data(eviction))
    }

    /// Who closed the connection: the first to do so, even if the other side never did.
    private func closer(_ closing: Closing) -> Direction? {
        if closing.reason == .fin || closing.reason == .reset { return closing.by }
        return otherEnd == nil ? nil : from.opposite
    }

    private func deed(_ eviction: HeartbeatContract.Eviction) -> String {
        eviction.deed == .close ? "evicts" : "considers the \(from.sender) gone"
    }

    private func window(_ eviction: HeartbeatContract.Eviction) -> String {
        if eviction.sweep.nanoseconds == 0 { return "after \(eviction.after.text())" }
        return "between \(eviction.after.text()) and \((eviction.after + eviction.sweep).text())"
    }

    private func data(_ eviction: HeartbeatContract.Eviction) -> [Field] {
        [
            Field("earliest", .number(eviction.after.seconds)),
            Field("latest", .number((eviction.after + eviction.sweep).seconds)),
            Field("refreshedBy", .text(eviction.refreshedBy.rawValue)),
            Field("lastIndex", .integer(Int64(lastIndex))),
        ] + .packets(("lastPacket", lastPacket))
    }
}

extension Interval {
    /// Both, one after the other; clamped.
    static func + (left: Interval, right: Interval) -> Interval {
        Interval(nanoseconds: (Timestamp(nanoseconds: left.nanoseconds) + right).nanoseconds)
    }

    /// By how much the first is longer; clamped.
    static func - (left: Interval, right: Interval) -> Interval {
        Timestamp(nanoseconds: left.nanoseconds) - Timestamp(nanoseconds: right.nanoseconds)
    }
}
