import Streams

/// The messages of one sender to one receiving connection, until the outcome of each is settled.
///
/// Recent messages are matched all at once; of older ones, the latest are remembered in case they arrive again or late.
struct DeliveryFlow {
    /// A message on its way to this connection.
    struct Message {
        var identity: MessageIdentity
        var time: Timestamp
        /// The sender's connection, the frame's place among its direction's, and its packet.
        var connection: Int
        var index: Int
        var packet: Int
        /// Its id, for display.
        var id: String?
        /// Its place among those of the flow.
        var number = 0
        var isReceived = false

        /// Whether it was sent before another one.
        func precedes(_ other: Message) -> Bool { (time, number) < (other.time, other.number) }
    }

    /// A frame that relays a message.
    struct Reception {
        var identity: MessageIdentity
        var time: Timestamp
        var index: Int
        var packet: Int
    }

    /// The outcome of a message or reception.
    enum Event {
        /// A message was delivered.
        case delivered(Message, Reception)
        /// It was delivered after one that was sent later.
        case overtaken(Message, by: Message, Reception)
        /// It was delivered again.
        case repeated(Message, Reception)
        /// It was not delivered.
        case missing(Message)
        /// A reception that is none of the flow's messages.
        case unknown(Reception)
    }

    private var sent: [Message] = []
    private var received: [Reception] = []
    /// Messages that are no longer matched.
    private var past: [Message] = []
    private var count = 0
    /// The last-sent one of the messages delivered so far.
    private var latest: Message?

    /// At most how many are matched at once, and how many are remembered.
    static let most = (matched: 256, past: 256)

    /// Whether so much waits that some of it must be settled.
    var isFull: Bool { sent.count >= Self.most.matched || received.count >= Self.most.matched }

    mutating func add(_ message: Message) {
        var message = message
        message.number = count
        count += 1
        // Messages of a sender with several connections may be reported out of order.
        let place = sent.lastIndex { $0.time <= message.time }.map { $0 + 1 } ?? 0
        sent.insert(message, at: place)
    }

    /// Whether one that was sent later was delivered.
    func hasPassed(_ message: Message) -> Bool { latest.map { message.precedes($0) } ?? false }

    mutating func add(_ reception: Reception) { received.append(reception) }

    /// Whether a message with this content was sent, and may still arrive.
    func awaits(_ reception: Reception, comparing names: Set<String>) -> Bool {
        let wanted = reception.identity.restricted(to: names)
        return sent.contains { $0.identity.restricted(to: names) == wanted }
    }

    /// Settles the outcome of messages and receptions: afterwards, the flow is not full.
    ///
    /// - Parameters:
    ///   - within: the deadline for messages.
    ///   - names: the members of JSON bodies that are compared.
    ///   - isOver: whether nothing more will arrive; otherwise recent messages are kept.
    mutating func settle(within: Interval, comparing names: Set<String>, isOver: Bool) -> [Event] {
        var events = settleOldest(within: within, comparing: names, isOver: isOver)
        // Recent messages may have arrived very often, or others that nobody has sent. Each turn settles a message or more.
        while received.count >= Self.most.matched, !sent.isEmpty {
            events += settleOldest(within: within, comparing: names, isOver: isOver)
        }
        guard received.count >= Self.most.matched else { return events }
        // No message is left that they may be of. So many go at once that most of the next ones find room.
        let leaving = received.count - Self.most.matched / 2
        for reception in received.prefix(leaving) { events += old(reception, names) }
        received.removeFirst(leaving)
        return events
    }

    /// Settles the outcome of messages that are old enough, and of receptions of those, or from before the other messages.
    private mutating func settleOldest(
        within: Interval, comparing names: Set<String>, isOver: Bool
    ) -> [Event] {
        var keys: [MessageIdentity: Int] = [:]
        func key(_ identity: MessageIdentity) -> Int {
            let identity = identity.restricted(to: names)
            if let known = keys[identity] { return known }
            keys[identity] = keys.count
            return keys.count - 1
        }
        let matching = DeliveryMatching(
            sent.map { DeliveryMatching.Event(key: key($0.identity), time: $0.time) },
            received.map { DeliveryMatching.Event(key: key($0.identity), time: $0.time) }, within: within)
        let cut = isOver ? sent.count : settled(within)
        let cutTime = isOver ? nil : cut < sent.count ? sent[cut].time : received.last?.time
        var events: [Event] = []
        var kept: [Reception] = []
        let latestSettled = latest
        for (index, reception) in received.enumerated() {
            switch matching.meanings[index] {
            case .delivery(let place):
                sent[place].isReceived = true
                let overtaker = latest.flatMap { sent[place].precedes($0) ? $0 : nil }
                if overtaker == nil { latest = sent[place] }
                guard place < cut else {
                    kept.append(reception)
                    continue
                }
                events.append(.delivered(sent[place], reception))
                if let overtaker { events.append(.overtaken(sent[place], by: overtaker, reception)) }
            case .repetition(let place) where place < cut: events.append(.repeated(sent[place], reception))
            case .unknown where cutTime.map({ reception.time < $0 }) ?? true:
                events += old(reception, names)
            default: kept.append(reception)
            }
        }
        past += sent[..<cut]
        sent.removeFirst(cut)
        for index in sent.indices { sent[index].isReceived = false }
        // Kept messages are matched again: their receptions so far are not settled.
        if !isOver { latest = past.filter(\.isReceived).max { $0.precedes($1) } ?? latestSettled }
        received = kept
        let leaving = isOver ? past.count : max(0, past.count - Self.most.past)
        events += past.prefix(leaving).filter { !$0.isReceived }.map { .missing($0) }
        past.removeFirst(leaving)
        return events
    }

    /// How many messages are old enough to be settled; at least half, and one or more if there are too many receptions.
    private func settled(_ within: Interval) -> Int {
        let last = max(sent.last?.time ?? .distantFuture, received.last?.time ?? .distantFuture)
        let old = sent.prefix { $0.time + within < last }.count
        return max(old, sent.count / 2, received.count < Self.most.matched ? 0 : min(1, sent.count))
    }

    /// Classifies a reception that is none of the recent messages.
    private mutating func old(_ reception: Reception, _ names: Set<String>) -> [Event] {
        let wanted = reception.identity.restricted(to: names)
        let same = past.indices.filter { past[$0].identity.restricted(to: names) == wanted }
        guard let late = same.first(where: { !past[$0].isReceived }) else {
            return [same.last.map { .repeated(past[$0], reception) } ?? .unknown(reception)]
        }
        past[late].isReceived = true
        guard let latest, past[late].precedes(latest) else {
            self.latest = past[late]
            return [.delivered(past[late], reception)]
        }
        return [.delivered(past[late], reception), .overtaken(past[late], by: latest, reception)]
    }
}
