import Streams
import Trace
import TraceDiff

/// The server's answers to each request, on one recorded connection.
///
/// The answers to a request are the frames that follow it, up to the next request. Heartbeats are not requests: frames that
/// follow one still answer the request before it, except for types that only occur immediately after heartbeats.
struct RecordedAnswers {
    /// A message of the server, and how long after the request it was sent.
    struct Answer {
        var item: RecordedItem
        var after: Interval
        /// The index of the recorded connection on which it was sent.
        var place: Int
        /// Whether it answers a heartbeat: if so, it is sent before messages that wait for other clients.
        var isPrompt = false
    }

    /// A message of the client, and its answers.
    struct Request {
        var item: RecordedItem
        var known: Echoes.Known
        var isHeartbeat: Bool
        var answers: [Answer] = []
    }

    /// Whether the client sent bytes that are no frame.
    private(set) var hasForeignBytes = false
    /// The messages that the server sends before the client's first request.
    private(set) var greeting: [Answer] = []
    /// Whether the server sends those before it has received anything from the client, heartbeats included.
    let speaksFirst: Bool
    /// The client's messages, in order.
    private(set) var requests: [Request] = []
    /// When the server closes, after the last request, or after the opening if there is none; nil if the client closes
    /// first.
    private(set) var closes: Interval?

    /// The client's first request; heartbeats are none.
    var firstRequest: Request? { requests.first { !$0.isHeartbeat } }

    /// - Parameter place: the index of the recorded connection.
    init(_ connection: RecordedConnection, at place: Int, _ echoes: inout Echoes) {
        speaksFirst = connection.items.first?.from == .fromServer
        let pongs = Self.heartbeatAnswers(in: connection, &echoes)
        var start = connection.opened
        var last: Int?
        var heartbeat: Int?
        for item in connection.items {
            let known = echoes.known(item)
            if item.from == .fromClient {
                guard let frame = item.frame else {
                    if case .unframed = item { hasForeignBytes = true }
                    continue
                }
                requests.append(Request(item: item, known: known, isHeartbeat: frame.isHeartbeat))
                if frame.isHeartbeat {
                    heartbeat = requests.count - 1
                } else {
                    (start, last) = (item.time, requests.count - 1)
                }
                continue
            }
            if pongs.contains(known.kind), let heartbeat {
                let pause = item.time - requests[heartbeat].item.time
                requests[heartbeat].answers.append(Answer(item: item, after: pause, place: place, isPrompt: true))
            } else if let last {
                requests[last].answers.append(Answer(item: item, after: item.time - start, place: place))
            } else {
                greeting.append(Answer(item: item, after: item.time - start, place: place))
            }
        }
        if let closing = connection.closing, closing.by == .fromServer { closes = closing.time - start }
    }

    /// Kinds of the server's frames that have the same name as the client's heartbeats, or that occur only immediately after
    /// them, and more than once.
    private static func heartbeatAnswers(in connection: RecordedConnection, _ echoes: inout Echoes) -> Set<Int> {
        var afterHeartbeats: [Int: Int] = [:]
        var elsewhere: Set<Int> = []
        var sameName: Set<Int> = []
        let names = Set(connection.frames.filter { $0.isHeartbeat && $0.from == .fromClient }.map(\.type))
        var isAfterHeartbeat = false
        for item in connection.items {
            if item.from == .fromClient {
                isAfterHeartbeat = item.frame?.isHeartbeat ?? false
                continue
            }
            let kind = echoes.known(item).kind
            if let frame = item.frame, frame.type != nil, names.contains(frame.type) { sameName.insert(kind) }
            if isAfterHeartbeat { afterHeartbeats[kind, default: 0] += 1 } else { elsewhere.insert(kind) }
            isAfterHeartbeat = false
        }
        return sameName.union(afterHeartbeats.filter { $0.value > 1 && !elsewhere.contains($0.key) }.keys)
    }
}
