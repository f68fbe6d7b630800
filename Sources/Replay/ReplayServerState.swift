import Framing
import Streams
import Trace
import TraceDiff

/// The messages of a replaying server on one connection. It does no I/O: frames go in, actions come out.
struct ReplayServerState {
    /// An action.
    enum Action {
        /// Send a message. These are its bound values that were known when it was requested; `filled` makes of both what is sent.
        case send(RecordedAnswers.Answer, Echoes.Values)
        /// Close, this long after now.
        case close(after: Interval)
        /// Report a message to the user.
        case report(String)
    }

    private let recording: Recording
    private var echoes: Echoes
    private let recorded: [RecordedAnswers]
    /// What the server says first on each recorded connection.
    private let greetings: [[Echoes.Known]]
    /// When the requests on each recorded connection were made, in order.
    private let asked: [[Timestamp]]
    /// The recorded connection that this one follows.
    private(set) var followed: Int?
    private var isUsed: [Bool] = []

    /// What to do on unknown requests.
    private let policy: ReplayOptions.Unknown
    /// What messages do not show.
    private let hidden: HiddenValues?
    /// Whether the connection must be closed because of one.
    private var isClosing = false

    init(_ recording: Recording, unknown policy: ReplayOptions.Unknown = .close, hidden: HiddenValues? = nil) {
        (self.recording, self.policy, self.hidden) = (recording, policy, hidden)
        var echoes = Echoes(recording.rules)
        recorded = recording.connections.enumerated().map { RecordedAnswers($1, at: $0, &echoes) }
        greetings = recorded.map { recorded in recorded.greeting.map { echoes.known($0.item) } }
        self.echoes = echoes
        asked = recording.connections.map { connection in
            connection.frames.filter { $0.from == .fromClient && !$0.isHeartbeat }.map(\.time)
        }
    }

    /// A client connected; recorded connections that no other client follows are preferred.
    mutating func opened(_ taken: Set<Int>) -> [Action] {
        // A server that sends first does so before it is known what the client wants.
        guard let first = recorded.indices.first(where: { !taken.contains($0) }) ?? recorded.indices.first,
            recorded[first].speaksFirst
        else { return [] }
        return follow(first)
    }

    /// How many requests have arrived for the connection that is followed.
    var requestCount: Int {
        guard let followed else { return 0 }
        return zip(recorded[followed].requests, isUsed).count { !$0.isHeartbeat && $1 }
    }

    /// The recorded connections whose clients have not yet made a request that they made before an answer was sent, and after the
    /// request that it answers: one client's request may cause a message to another client.
    ///
    /// - Parameter arrived: how many requests have arrived for each recorded connection.
    func unasked(before answer: RecordedAnswers.Answer, arrived: [Int: Int]) -> [Int] {
        if answer.isPrompt { return [] }
        let request = answer.item.time + Interval(nanoseconds: -answer.after.nanoseconds)
        return asked.indices.filter { place in
            guard place != answer.place,
                let last = asked[place].lastIndex(where: { $0 < answer.item.time }), asked[place][last] >= request
            else { return false }
            return (arrived[place] ?? 0) <= last
        }
    }

    /// Follows a recorded connection from now on, and sends its server's greeting.
    private mutating func follow(_ place: Int) -> [Action] {
        followed = place
        isUsed = [Bool](repeating: false, count: recorded[place].requests.count)
        let greeting = sending(recorded[place].greeting)
        // After the last request, if there are any.
        guard recorded[place].firstRequest == nil, let pause = recorded[place].closes else { return greeting }
        return greeting + [.close(after: pause)]
    }

    /// Until a client has asked for something, the connection that it follows is only assumed: others may begin with the
    /// same greeting. Its first request decides.
    private mutating func followOther(beginningWith known: Echoes.Known, _ taken: Set<Int>) {
        guard let followed, requestCount == 0, recorded[followed].firstRequest?.known != known else { return }
        let others = recorded.indices.filter { place in
            greetings[place] == greetings[followed] && recorded[place].firstRequest?.known == known
        }
        guard let place = others.first(where: { !taken.contains($0) }) ?? others.first else { return }
        self.followed = place
        isUsed = [Bool](repeating: false, count: recorded[place].requests.count)
    }

    private mutating func sending(_ answers: [RecordedAnswers.Answer]) -> [Action] {
        answers.map { .send($0, echoes.values(of: $0.item)) }
    }

    /// An answer as it must be sent now: bound values are those that this client had sent when it asked, or else those that any
    /// client has sent until now.
    mutating func filled(
        _ answer: RecordedAnswers.Answer, _ known: Echoes.Values, _ shared: Echoes.Values
    ) -> RecordedItem {
        echoes.filled(answer.item, known, shared)
    }

    /// The client sent a frame.
    ///
    /// - Parameters:
    ///   - taken: the recorded connections that a client follows, or has followed.
    ///   - shared: the bound values that any client has sent; those of the frame are added.
    mutating func received(
        _ item: RecordedItem, _ taken: Set<Int>, _ shared: inout Echoes.Values
    ) -> [Action] {
        if isClosing { return [] }
        guard let frame = item.frame else { return receivedNoFrame() }
        let known = known(item)
        var actions: [Action] = []
        if followed == nil, let place = connection(beginningWith: known, taken) { actions = follow(place) }
        if !frame.isHeartbeat { followOther(beginningWith: known, taken) }
        guard let followed, let place = request(known, isHeartbeat: frame.isHeartbeat, in: followed) else {
            return actions + unknownActions(frame, known)
        }
        let request = recorded[followed].requests[place]
        isUsed[place] = true
        shared.add(echoes.note(recorded: request.item, actual: item))
        actions += sending(request.answers)
        let isLast = zip(recorded[followed].requests, isUsed).allSatisfy { $0.isHeartbeat || $1 }
        if !frame.isHeartbeat, isLast, let pause = recorded[followed].closes { actions.append(.close(after: pause)) }
        return actions
    }

    /// A frame's identity: that of a recorded request from which it differs only in the length of an equal body, if there is one.
    private mutating func known(_ item: RecordedItem) -> Echoes.Known {
        let known = echoes.known(item)
        if recorded.contains(where: { $0.requests.contains { $0.known == known } }) { return known }
        for connection in recorded {
            for request in connection.requests
            where echoes.differInLength(request.known, known, of: request.item, item) {
                return request.known
            }
        }
        return known
    }

    /// The client sent bytes that are no frame: nothing to report if the recorded one did, too.
    private mutating func receivedNoFrame() -> [Action] {
        if followed.map({ recorded[$0].hasForeignBytes }) ?? recorded.contains(where: \.hasForeignBytes) { return [] }
        let text = "the client sent bytes that are no frame; the recording has no answer to them"
        return policy == .ignore ? [.report(text)] : giveUp(text)
    }

    /// Reports that, and closes.
    private mutating func giveUp(_ text: String) -> [Action] {
        isClosing = true
        return [.report("\(text); the connection is closed"), .close(after: Interval(nanoseconds: 0))]
    }

    /// A client that waits for an answer must not wait in vain. No client waits for the answer to a heartbeat.
    private mutating func unknownActions(_ frame: FrameEvent, _ known: Echoes.Known) -> [Action] {
        let text = unknown(frame, known)
        if policy == .ignore || frame.isHeartbeat { return [.report(text)] }
        guard policy == .nearest, let (connection, request) = nearest(to: known) else { return giveUp(text) }
        let answers = recorded[connection].requests[request].answers
        return [.report("\(text); it is answered as that one was")] + sending(answers)
    }

    /// The recorded request that is most similar to a request, by its connection and its index there.
    private func nearest(to known: Echoes.Known) -> (connection: Int, request: Int)? {
        let all = recorded.indices.flatMap { connection in
            recorded[connection].requests.indices.map { (connection: connection, request: $0) }
        }
        return all.compactMap { place in
            echoes.distance(recorded[place.connection].requests[place.request].known, known).map { (place, $0) }
        }.min { $0.1 < $1.1 }?.0
    }

    /// The recorded connection that begins as this one does, or at least contains its beginning.
    private func connection(beginningWith known: Echoes.Known, _ taken: Set<Int>) -> Int? {
        let order = recorded.indices.filter { !taken.contains($0) } + recorded.indices.filter(taken.contains)
        return order.first { recorded[$0].requests.first?.known == known }
            ?? order.first { recorded[$0].requests.contains { $0.known == known } }
    }

    /// The next request with that content that has not arrived yet; if all have, the last one.
    private func request(_ known: Echoes.Known, isHeartbeat: Bool, in followed: Int) -> Int? {
        let requests = recorded[followed].requests
        let same = requests.indices.filter { requests[$0].known == known }
        let latest = isUsed.lastIndex(of: true) ?? -1
        let place =
            same.first { $0 > latest && !isUsed[$0] } ?? same.first { !isUsed[$0] } ?? same.last
        // Heartbeats may contain a counter or a time.
        return place ?? (isHeartbeat ? requests.lastIndex { $0.isHeartbeat && $0.known.kind == known.kind } : nil)
    }

    private func unknown(_ frame: FrameEvent, _ known: Echoes.Known) -> String {
        let name = PrintableText.of(frame.type ?? "a frame without a type")
        guard let (connection, place) = nearest(to: known),
            let other = recorded[connection].requests[place].item.frame
        else {
            return "the recording does not know this request, \(name), nor one like it"
        }
        let changes = echoes.changes(recorded[connection].requests[place].known, known).prefix(4).map { change in
            ChangeText.line(hidden?.shown(change, from: .fromClient) ?? change)
        }
        return PrintableText.of(
            "the recording does not know this request, \(name); nearest is frame \(other.index) of the client on connection "
                + "\(recording.connections[connection].number): \(changes.joined(separator: ", "))")
    }
}
