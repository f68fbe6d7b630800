import Framing
import Replay
import Streams
import Trace
import TraceDiff

/// Plays the client's side of a conversation once. It does no I/O: what happens goes in, what to do comes out.
struct Play {
    /// What happened.
    enum Event {
        /// A connection is open.
        case opened(Int)
        /// It could not be opened.
        case refused(Int, String)
        /// What was written last has been read, as far as that can be known.
        case read(isProven: Bool)
        case heard(Int, RecordedItem)
        case ended(Int, Ending)
        /// A time has come.
        case wake
    }

    /// What to do.
    enum Action: Equatable {
        case connect(Int)
        /// Write, and say when it has been read.
        case write(Int, [UInt8])
        /// End the client's direction.
        case finish(Int)
        case wake(at: Timestamp)
        /// Everything is over.
        case done
    }

    private enum Phase: Equatable {
        case stepping, connecting, writing, closing, done
        case awaitingEnd(of: Int)
    }

    private let script: Script
    private let variation: Variation
    private let builder: FrameBuilder
    private let patience: Interval
    private let lingering: Interval
    /// Whether the server is known to close after the client, by connection; nil: not known, this is the first run.
    private let closes: [Bool]?

    private var phase = Phase.stepping
    private var next = 0
    private var heard: [Int]
    private var ended: [Ending?]
    private var isFinished: [Bool]
    private var pieces: [[UInt8]] = []
    private var writingTo = 0
    /// Whether it is not known if what was written last has been read.
    private var isUnsure = false
    private var since: Timestamp?
    /// Needs that a pipeline has passed over.
    private var carried: [Script.Need] = []
    private var lastMessage: Int?
    private var echoes: Echoes?
    /// The recorded frames of the server that have not arrived yet, by connection and kind.
    private var expected: [[Int: [RecordedItem]]] = []
    private(set) var outcome: Outcome

    /// - Parameters:
    ///   - patience: how long an answer may take.
    ///   - lingering: for how long a server is listened to that does not close.
    init(
        _ script: Script, _ variation: Variation, _ builder: FrameBuilder, patience: Interval, lingering: Interval,
        closes: [Bool]?
    ) {
        (self.script, self.variation, self.builder) = (script, variation, builder)
        (self.patience, self.lingering, self.closes) = (patience, lingering, closes)
        let count = script.connections.count
        heard = [Int](repeating: 0, count: count)
        ended = [Ending?](repeating: nil, count: count)
        isFinished = [Bool](repeating: false, count: count)
        outcome = Outcome(
            items: [[RecordedItem]](repeating: [], count: count), closes: [Bool](repeating: false, count: count))
        guard !script.rules.bindings.isEmpty else { return }
        var echoes = Echoes(script.rules)
        for connection in script.connections {
            var kinds: [Int: [RecordedItem]] = [:]
            for item in connection.items.reversed() where item.from == .fromServer {
                kinds[echoes.known(item).kind, default: []].append(item)
            }
            expected.append(kinds)
        }
        self.echoes = echoes
    }

    /// A server that closes after its client does so within this time.
    private static let prompt = Interval.milliseconds(100)

    private var isFirst: Bool { closes == nil }

    /// Begins.
    mutating func begin(at now: Timestamp) -> [Action] { advance(at: now) }

    /// Something happened.
    mutating func take(_ event: Event, at now: Timestamp) -> [Action] {
        switch event {
        case .opened: if phase == .connecting { phase = .stepping }
        case .refused(_, let why): return fail(.refused(why))
        case .read(let isProven):
            // A server that has ended the connection had read enough for that.
            if ended[writingTo] == nil {
                outcome.cuts += 1
                if isProven { outcome.proven += 1 }
                isUnsure = !isProven
            }
            guard phase == .writing else { return [] }
            if ended[writingTo] != nil { pieces = [] }
            if pieces.isEmpty {
                phase = .stepping
            } else {
                return [.write(writingTo, pieces.removeFirst())]
            }
        case .heard(let place, let item): hear(item, on: place)
        case .ended(let place, let ending):
            if isUnsure, place == writingTo, ended[place] == nil {
                outcome.cuts -= 1
                isUnsure = false
            }
            ended[place] = ended[place] ?? ending
            // One that takes its time to close is not waited for in each run.
            if isFinished[place] {
                outcome.closes[place] = phase != .closing || since.map { now - $0 <= Self.prompt } ?? true
            }
        case .wake: break
        }
        return advance(at: now)
    }

    private mutating func hear(_ item: RecordedItem, on place: Int) {
        outcome.items[place].append(item)
        guard let frame = item.frame, !frame.isHeartbeat || script.includesHeartbeats else { return }
        if script.counts(frame) { heard[place] += 1 }
        guard let kind = echoes?.known(item).kind, let recorded = expected[place][kind]?.popLast() else { return }
        echoes?.note(recorded: recorded, actual: item)
    }

    private mutating func fail(_ failure: Outcome.Failure) -> [Action] {
        guard phase != .done else { return [] }
        phase = .done
        outcome.failure = failure
        // What was written last is not known to have been read, and nothing follows it: no cut.
        if isUnsure { outcome.cuts -= 1 }
        return [.done]
    }

    // MARK: Steps

    private mutating func advance(at now: Timestamp) -> [Action] {
        while phase == .stepping {
            let needs = carried + script.needs[next]
            if let waiting = wait(for: needs, at: now) { return waiting }
            guard next < script.steps.count else {
                phase = .closing
                since = now
                let open = ended.indices.filter { ended[$0] == nil && !isFinished[$0] }
                for place in open { isFinished[place] = true }
                return open.map { .finish($0) } + linger(at: now)
            }
            let step = script.steps[next]
            next += 1
            switch step {
            case .open(let place):
                phase = .connecting
                return [.connect(place)]
            case .send(let message): return send(message)
            case .finish(let place):
                if ended[place] == nil {
                    isFinished[place] = true
                    return [.finish(place)] + advance(at: now)
                }
            case .awaitEnd(let place):
                since = now
                phase = .awaitingEnd(of: place)
            }
        }
        return if case .awaitingEnd(let place) = phase {
            awaitEnd(of: place, at: now)
        } else {
            phase == .closing ? linger(at: now) : []
        }
    }

    /// Waits for the server to close a connection, as it did in the recording.
    private mutating func awaitEnd(of place: Int, at now: Timestamp) -> [Action] {
        if ended[place] == nil, isFirst || closes?[place] ?? false {
            if !isDue(at: now) { return [.wake(at: deadline)] }
            if !isFirst { return fail(.noAnswer(message: lastMessage)) }
        }
        outcome.closes[place] = ended[place] != nil
        if let since, ended[place] != nil { outcome.slowest = max(outcome.slowest, now - since) }
        since = nil
        phase = .stepping
        return advance(at: now)
    }

    /// Waits for frames of the server; nil if nothing is left to wait for.
    private mutating func wait(for needs: [Script.Need], at now: Timestamp) -> [Action]? {
        let unmet = needs.filter { heard[$0.connection] < $0.frames }
        if let first = unmet.first, !isFirst || !isDue(at: now) {
            if let ending = ended[first.connection] { return fail(.closed(ending, message: lastMessage)) }
            since = since ?? now
            if isDue(at: now) { return fail(.noAnswer(message: lastMessage)) }
            return [.wake(at: deadline)]
        }
        if let since { outcome.slowest = max(outcome.slowest, unmet.isEmpty ? now - since : outcome.slowest) }
        since = nil
        carried = []
        outcome.reached.append(
            needs.map { Script.Need(connection: $0.connection, frames: min($0.frames, heard[$0.connection])) })
        return nil
    }

    private var deadline: Timestamp { (since ?? Timestamp(nanoseconds: 0)) + patience }

    private func isDue(at now: Timestamp) -> Bool { since.map { now >= $0 + patience } ?? false }

    private mutating func send(_ message: Int) -> [Action] {
        let place = script.messages[message].connection
        if let ending = ended[place] { return fail(.closed(ending, message: lastMessage)) }
        if let pipeline = variation.pipeline, pipeline.messages.lowerBound == message {
            var all = pipeline.messages.map { bytes(of: $0) }
            // The steps in between are these messages; what they await is awaited after them.
            for _ in pipeline.messages.dropFirst() {
                carried += script.needs[next]
                outcome.reached.append([])
                next += 1
            }
            if pipeline.isMerged {
                let last = pipeline.lastBytes.map { all.removeLast().cut(at: [$0]) } ?? []
                pieces = [all.flatMap { $0 } + (last.first ?? [])] + last.dropFirst()
            } else {
                pieces = all
            }
            lastMessage = pipeline.messages.upperBound - 1
        } else {
            pieces = bytes(of: message).cut(at: variation.offsets(of: message))
            lastMessage = message
        }
        (phase, writingTo) = (.writing, place)
        return [.write(place, pieces.removeFirst())]
    }

    private mutating func bytes(of message: Int) -> [UInt8] {
        let message = script.messages[message]
        guard let item = echoes?.filled(message.item) else { return message.bytes }
        return (try? builder.bytes(of: message.item, filled: item)) ?? message.bytes
    }

    // MARK: The end

    /// Waits for the server to close too, or for more of what it says.
    private mutating func linger(at now: Timestamp) -> [Action] {
        let start = since ?? now
        let awaited = ended.indices.contains { ended[$0] == nil && (closes?[$0] ?? true) }
        let isOpen = ended.contains { $0 == nil }
        let end = start + (awaited ? patience : lingering)
        if isOpen, now < end { return [.wake(at: end)] }
        outcome.ends = ended
        outcome.unanswered = zip(script.awaited, heard).reduce(0) { $0 + max(0, $1.0 - $1.1) }
        // One that closed after its client in the baseline does so again.
        if awaited, !isFirst { return fail(.notClosed) }
        phase = .done
        return [.done]
    }
}
