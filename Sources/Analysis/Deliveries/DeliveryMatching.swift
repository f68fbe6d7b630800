import Streams

/// Matches each reception to a sent message, even if several have the same content.
///
/// Unique content identifies a message. Equal messages are paired in order, as many as possible, with delays nearest to the usual
/// one: so a lost one is not mistaken for the next one. If delays vary by more than the pause between equal messages, it cannot
/// be determined which of them was lost.
struct DeliveryMatching {
    /// A sent message, or a reception.
    struct Event {
        /// Equal for messages with the same content.
        var key: Int
        var time: Timestamp
    }

    /// What a reception is.
    enum Meaning: Hashable {
        /// The first one of a message, by its place among those sent.
        case delivery(Int)
        /// One more of a message.
        case repetition(Int)
        /// Of no sent message.
        case unknown
    }

    /// The result for each reception.
    private(set) var meanings: [Meaning]

    private let sent: [Event]
    private let received: [Event]
    private let within: Int64
    private var places: [Int: [Int]] = [:]
    /// The reception of each sent message.
    private var receptions: [Int?]

    /// Matches messages with receptions, both in chronological order.
    ///
    /// - Parameter within: the deadline for an equal message; one identified by unique content may be later.
    init(_ sent: [Event], _ received: [Event], within: Interval) {
        (self.sent, self.received, self.within) = (sent, received, max(1, within.nanoseconds))
        meanings = Array(repeating: .unknown, count: received.count)
        receptions = Array(repeating: nil, count: sent.count)
        for (place, event) in sent.enumerated() { places[event.key, default: []].append(place) }
        matchUnique()
        if received.contains(where: { (places[$0.key]?.count ?? 0) > 1 }) { matchEqual() }
        for index in received.indices where meanings[index] == .unknown { meanings[index] = leftover(index) }
    }

    private func delay(_ send: Int, _ reception: Int) -> Int64 {
        (received[reception].time - sent[send].time).nanoseconds
    }

    private mutating func pair(_ send: Int, _ reception: Int) {
        receptions[send] = reception
        meanings[reception] = .delivery(send)
    }

    private mutating func matchUnique() {
        for index in received.indices {
            guard let same = places[received[index].key], same.count == 1, receptions[same[0]] == nil,
                delay(same[0], index) >= 0
            else { continue }
            pair(same[0], index)
        }
    }

    // MARK: Equal messages

    /// The median delay of the pairs; nil if there are none.
    private var usualDelay: Int64? {
        let delays = receptions.enumerated().compactMap { send, reception in reception.map { delay(send, $0) } }
            .sorted()
        return delays.isEmpty ? nil : delays[delays.count / 2]
    }

    private mutating func matchEqual() {
        var usual = usualDelay ?? 0
        var best: [(send: Int, reception: Int)] = []
        // Initially, the shortest delays determine the usual one; then those nearest to it.
        for round in 0..<3 {
            let pairs = aligned(usual)
            if round > 0, pairs.elementsEqual(best, by: ==) { break }
            best = pairs
            let delays = pairs.map { delay($0.send, $0.reception) }.sorted()
            if !delays.isEmpty { usual = delays[delays.count / 2] }
        }
        for index in received.indices { meanings[index] = .unknown }
        receptions = Array(repeating: nil, count: sent.count)
        for pair in best { self.pair(pair.send, pair.reception) }
        // For unique content, the first reception is the delivery.
        for index in received.indices where meanings[index] == .unknown {
            guard let same = places[received[index].key], same.count == 1, delay(same[0], index) >= 0 else { continue }
            if let later = receptions[same[0]] {
                guard later > index else { continue }
                meanings[later] = .unknown
            }
            pair(same[0], index)
        }
    }

    private enum Move: UInt8 { case pair, skipSent, skipReceived }

    /// The pairs, in order on both sides, that cost least: 1 for an element without partner, less for a pair, depending on how
    /// far its delay is from the usual one.
    private func aligned(_ usual: Int64) -> [(send: Int, reception: Int)] {
        let width = received.count + 1
        var moves = [Move](repeating: .skipReceived, count: (sent.count + 1) * width)
        var above = (0...received.count).map(Double.init)
        for send in sent.indices {
            var row = above
            row[0] = Double(send + 1)
            moves[(send + 1) * width] = .skipSent
            let isUnique = places[sent[send].key]?.count == 1
            for reception in received.indices {
                var (best, move) = (above[reception + 1] + 1, Move.skipSent)
                if row[reception] + 1 < best { (best, move) = (row[reception] + 1, .skipReceived) }
                if sent[send].key == received[reception].key {
                    let delay = delay(send, reception)
                    if delay >= 0, isUnique || delay <= within {
                        let distance = Double(abs(delay - usual))
                        let cost = above[reception] + 0.9 * distance / (distance + Double(within))
                        if cost < best { (best, move) = (cost, .pair) }
                    }
                }
                row[reception + 1] = best
                moves[(send + 1) * width + reception + 1] = move
            }
            above = row
        }
        var (send, reception) = (sent.count, received.count)
        var pairs: [(send: Int, reception: Int)] = []
        while send > 0, reception > 0 {
            switch moves[send * width + reception] {
            case .pair:
                (send, reception) = (send - 1, reception - 1)
                pairs.append((send, reception))
            case .skipSent: send -= 1
            case .skipReceived: reception -= 1
            }
        }
        return pairs.reversed()
    }

    /// Classifies an unpaired reception: a message that was overtaken, or delivered again.
    private mutating func leftover(_ index: Int) -> Meaning {
        let before = (places[received[index].key] ?? []).filter { delay($0, index) >= 0 }
        guard let last = before.last else { return .unknown }
        let usual = usualDelay ?? 0
        let missing = before.filter { receptions[$0] == nil }
        let repeated = before.last { receptions[$0].map { $0 < index } ?? false }
        // One that is too late is more likely a repetition of another.
        let inTime = missing.filter { delay($0, index) <= within }
        if let place = (repeated == nil ? missing : inTime).min(by: {
            abs(delay($0, index) - usual) < abs(delay($1, index) - usual)
        }) {
            receptions[place] = index
            return .delivery(place)
        }
        return .repetition(repeated ?? last)
    }
}
