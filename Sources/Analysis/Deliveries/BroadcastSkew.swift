import Framing
import Histogram
import Streams
import Trace

/// The skew between the receivers of a broadcast: from the first receipt to the last, by the capture's times, and by the times of
/// day that the receipts name.
///
/// A round is a frame that the server sends to several connections with the same body, once each. For reports only, as it must
/// see the connections of all hosts.
package final class BroadcastSkew: Analysis {
    /// The upper ends of the buckets of skew, in milliseconds.
    package static let limits: [Int64] = [60, 100, 200]

    /// The rounds of a format.
    package struct Outcome {
        /// Rounds with receipts from two receivers or more.
        package var rounds = 0
        /// Rounds in which a receipt is missing.
        package var incomplete = 0
        /// By the times when the receipts were seen.
        package var seen = RoundTripTimes(digits: .three, limits: BroadcastSkew.limits)
        /// By the times that they name.
        package var stamped = RoundTripTimes(digits: .three, limits: BroadcastSkew.limits)
    }

    private struct Key: Hashable {
        var server: Endpoint
        var hash: Int
    }

    private struct Round {
        /// Its place among all rounds.
        let number: Int
        var start: Timestamp
        var format: String
        var within: Interval
        var isEchoed: Bool
        /// When each connection's receipt was seen, and the time of day it names; nil while there is none.
        var receipts: [Int: (seen: Timestamp, stamp: Interval?)?] = [:]
    }

    /// The latest round of each server and body, and the rounds whose receipts a connection owes.
    private var rounds: [Key: Round] = [:]
    private var owed: [Int: Key] = [:]
    /// Receipts that arrived before the end of their broadcast was reported, by connection.
    private var early: [Int: (seen: Timestamp, stamp: Interval?)] = [:]
    private var outcomes: [String: Outcome] = [:]

    /// The key of each round in the table, by its number.
    private var keys: [Int: Key] = [:]
    /// When receipts of each round are late.
    private var deadlines = PendingDeadlines<Int>()
    private var lastNumber = 0

    /// How many rounds are in the table at once.
    private let mostRounds: Int

    /// Has seen nothing.
    ///
    /// - Parameter mostRounds: how many rounds it follows at once. The oldest makes room for another once its receipts
    ///   are late; until then, others are not counted.
    package init(mostRounds: Int = 4_096) { self.mostRounds = mostRounds }

    /// How far apart the receivers were, by format.
    package func results() -> [(format: String, outcome: Outcome)] {
        for key in rounds.keys { close(key) }
        return outcomes.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// All frames of formats that have broadcasts.
    package func interest(in format: Format) -> FrameInterest { format.broadcast == nil ? [] : .all }

    /// Takes a broadcast, or a receipt.
    package func frame(
        _ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection, into findings: inout [Finding]
    ) {
        guard connection.hasBegun, let format = connection.format, let broadcast = format.broadcast else { return }
        let side = format.directions[frame.direction]
        let values = FrameValues(info: frame.info, direction: frame.direction, isHeartbeat: frame.isHeartbeat)
        let body = bytes.extracting(frame.shape.head..<frame.shape.head + frame.shape.body)
        if frame.direction == .fromServer {
            guard values.fulfil(broadcast.sent, content: bytes, shape: frame.shape, format: side) else { return }
            send(Self.key(body, connection), frame.info.time, connection.number, format.name, broadcast)
        } else if values.fulfil(broadcast.receipt, content: bytes, shape: frame.shape, format: side) {
            // Other text of a client that repeats broadcasts is not a receipt.
            if broadcast.isEchoed, owed[connection.number] != Self.key(body, connection) { return }
            take((frame.info.time, Self.stamp(body)), connection.number)
        }
    }

    private static func key(_ body: RawSpan, _ connection: TracedConnection) -> Key {
        var hasher = Hasher()
        body.withUnsafeBytes { hasher.combine(bytes: $0) }
        return Key(server: connection.opening.server, hash: hasher.finalize())
    }

    private func send(_ key: Key, _ time: Timestamp, _ connection: Int, _ format: String, _ broadcast: Broadcast) {
        if let round = rounds[key], round.receipts[connection] != nil || round.start + round.within < time {
            close(key)
        }
        guard rounds[key] != nil || makeRoom(at: time) else {
            // What it sends now confirms none of the older rounds.
            owed[connection] = nil
            return
        }
        var round = rounds[key] ?? begin(key, time, format, broadcast)
        round.start = min(round.start, time)
        deadlines.arm(round.number, at: round.start + round.within)
        round.receipts[connection] = .some(nil)
        // A frame that only a pause ends is reported later than its receipt.
        if let receipt = early.removeValue(forKey: connection), receipt.seen >= time {
            round.receipts[connection] = .some(receipt)
        } else {
            owed[connection] = key
        }
        rounds[key] = round
    }

    private func begin(_ key: Key, _ time: Timestamp, _ format: String, _ broadcast: Broadcast) -> Round {
        lastNumber += 1
        keys[lastNumber] = key
        return Round(
            number: lastNumber, start: time, format: format, within: broadcast.within, isEchoed: broadcast.isEchoed)
    }

    /// Closes the oldest round if the table is full and its receipts are late; returns whether there is room now.
    private func makeRoom(at time: Timestamp) -> Bool {
        while rounds.count >= mostRounds {
            guard let (number, _) = deadlines.popFirst(before: time) else { return false }
            if let key = keys[number] { close(key) }
        }
        return true
    }

    private func take(_ receipt: (seen: Timestamp, stamp: Interval?), _ connection: Int) {
        guard let key = owed.removeValue(forKey: connection), rounds[key] != nil else {
            early[connection] = receipt
            return
        }
        rounds[key]?.receipts[connection] = .some(receipt)
    }

    private func close(_ key: Key) {
        guard let round = rounds.removeValue(forKey: key) else { return }
        keys[round.number] = nil
        deadlines.cancel(round.number)
        guard round.receipts.count > 1 else { return }
        var outcome = outcomes[round.format] ?? Outcome()
        let receipts = round.receipts.values.compactMap { $0 }
        // A frame that no one repeats is merely sent to several, and not a broadcast.
        if round.isEchoed, receipts.isEmpty { return }
        outcome.rounds += 1
        if receipts.count < round.receipts.count { outcome.incomplete += 1 }
        let seen = receipts.map(\.seen)
        if seen.count > 1, let first = seen.min(), let last = seen.max() { outcome.seen.add(last - first) }
        if let skew = Self.skew(receipts.compactMap { $0.stamp?.nanoseconds }) { outcome.stamped.add(skew) }
        outcomes[round.format] = outcome
    }

    /// From the first to the last of some times of day.
    private static func skew(_ stamps: [Int64]) -> Interval? {
        let day: Int64 = 86_400_000_000_000
        guard stamps.count > 1, let first = stamps.min(), let last = stamps.max() else { return nil }
        if last - first < day / 2 { return Interval(nanoseconds: last - first) }
        // Some are on the next day.
        let moved = stamps.map { $0 < day / 2 ? $0 + day : $0 }
        return Interval(nanoseconds: (moved.max() ?? 0) - (moved.min() ?? 0))
    }

    /// The time of day that a text ends with, `08:00:00.013`.
    static func stamp(_ body: RawSpan) -> Interval? {
        guard body.byteCount >= 12 else { return nil }
        let text = body.copied(body.byteCount - 12..<body.byteCount)
        func number(_ range: Range<Int>) -> Int64? {
            var value: Int64 = 0
            for byte in text[range] {
                guard (0x30...0x39).contains(byte) else { return nil }
                value = value * 10 + Int64(byte - 0x30)
            }
            return value
        }
        guard text[2] == 0x3a, text[5] == 0x3a, text[8] == 0x2e, let hours = number(0..<2), let minutes = number(3..<5),
            let seconds = number(6..<8), let millis = number(9..<12), hours < 24, minutes < 60, seconds < 61
        else { return nil }
        return .milliseconds(((hours * 60 + minutes) * 60 + seconds) * 1_000 + millis)
    }

    /// A receipt that a connection owes will not arrive any more.
    package func closed(_ closing: Closing, on connection: TracedConnection, into findings: inout [Finding]) {
        owed[connection.number] = nil
        early[connection.number] = nil
    }
}
