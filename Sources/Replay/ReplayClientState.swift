import Streams
import Trace
import TraceDiff

/// The messages of a replaying client on one connection. It does no I/O: frames go in, actions come out.
struct ReplayClientState {
    /// What to do next.
    enum Step {
        /// Send a message of the recording, this long after now; `filled` makes of it what is sent.
        case send(RecordedItem, after: Interval)
        /// Wait until the server has said more.
        case wait
        /// Everything was sent and received.
        case done
    }

    private let items: RecordedItems
    /// When each of the awaited frames from the server arrived.
    private let answers: [Timestamp]
    private var echoes: Echoes
    private var next = 0
    /// How many of the server's frames before `next` are awaited.
    private var awaited = 0
    /// How many have arrived.
    private(set) var heard = 0
    private var lastTime: Timestamp
    /// How long after the last message the recorded server closed; nil if the client closed first.
    let closes: Interval?
    /// The server's frames of each kind that have not been received yet, by their indices.
    private var expected: [Int: [Int]] = [:]

    init(_ connection: RecordedConnection, _ rules: TraceRules) {
        items = connection.items
        answers = connection.frames.filter { $0.from == .fromServer && !$0.isHeartbeat }.map(\.time)
        lastTime = connection.opened
        let closing = connection.closing.flatMap { $0.by == .fromServer ? $0 : nil }
        closes = closing.map { max(Interval(nanoseconds: 0), $0.time - connection.lastTime) }
        echoes = Echoes(rules)
        for place in items.indices.reversed() where items.from(at: place) == .fromServer {
            expected[echoes.known(items[place]).kind, default: []].append(place)
        }
    }

    /// The server sent a frame.
    ///
    /// - Parameter shared: the bound values that were seen on any connection; those of the frame are added.
    mutating func received(_ item: RecordedItem, _ shared: inout Echoes.Values) {
        guard let frame = item.frame, !frame.isHeartbeat else { return }
        heard += 1
        if let place = expected[echoes.known(item).kind]?.popLast() {
            shared.add(echoes.note(recorded: items[place], actual: item))
        }
    }

    /// A message of the recording as it must be sent now: bound values are those that the server sent, here or else on another
    /// connection.
    mutating func filled(_ item: RecordedItem, _ shared: Echoes.Values) -> RecordedItem {
        echoes.filled(item, echoes.values, shared)
    }

    /// The server does not send the awaited frame.
    mutating func giveUpWaiting() { heard = max(heard, awaited) }

    /// The recorded time of the first event that has not happened here.
    var pendingTime: Timestamp {
        let said = items.indices[next...].first { items.from(at: $0) == .fromClient }.map { items.time(at: $0) }
        return min(said ?? .distantFuture, heard < answers.count ? answers[heard] : .distantFuture)
    }

    /// The next action.
    mutating func step() -> Step {
        while next < items.count {
            let item = items[next]
            if item.from == .fromServer {
                if let frame = item.frame, !frame.isHeartbeat { awaited += 1 }
                (next, lastTime) = (next + 1, item.time)
                continue
            }
            if heard < awaited { return .wait }
            let pause = item.time - lastTime
            (next, lastTime) = (next + 1, item.time)
            return .send(item, after: pause)
        }
        return heard < awaited ? .wait : .done
    }
}
