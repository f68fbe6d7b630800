import Framing
import Replay
import Streams
import Trace
import TraceDiff

/// The client's side of a recorded conversation, as steps in recorded order: each frame is sent after the answers that the
/// recording has before it, on all connections.
package struct Script: Sendable {
    /// A message of a client.
    struct Message: Sendable {
        /// Its connection's place in the recording.
        var connection: Int
        /// Its place among the frames of its direction, from 0.
        var index: Int
        var item: RecordedItem
        /// Its bytes, with the recorded values.
        var bytes: [UInt8]
    }

    /// What is done next.
    enum Step: Hashable, Sendable {
        case open(connection: Int)
        case send(message: Int)
        /// The client ends its direction.
        case finish(connection: Int)
        /// The server closes first.
        case awaitEnd(connection: Int)
    }

    /// How many frames of the server must have arrived on a connection.
    struct Need: Hashable, Sendable {
        var connection: Int
        var frames: Int
    }

    let connections: [RecordedConnection]
    /// The clients' messages, in order.
    private(set) var messages: [Message] = []
    private(set) var steps: [Step] = []
    /// What must have arrived before each step, and at the end: the needs that are new there.
    private(set) var needs: [[Need]] = [[]]
    let rules: TraceRules
    /// Whether the server's answers to heartbeats are awaited and compared.
    let includesHeartbeats: Bool

    /// - Throws: `ReplayError` if the recording lacks bytes of a client.
    package init(_ recording: Recording, _ builder: FrameBuilder, includesHeartbeats: Bool) throws(ReplayError) {
        connections = recording.connections
        rules = recording.rules
        self.includesHeartbeats = includesHeartbeats
        var events: [(time: Timestamp, order: Int, event: Event)] = []
        for (place, connection) in connections.enumerated() {
            events.append((connection.opened, 0, .step(.open(connection: place))))
            var indices = PerDirection(fromClient: 0, fromServer: 0)
            var isAfterHeartbeat = false
            for item in connection.items {
                let index = indices[item.from]
                if item.frame != nil { indices[item.from] += 1 }
                let isHeartbeat = item.frame?.isHeartbeat ?? false
                if item.from == .fromClient {
                    isAfterHeartbeat = isHeartbeat
                    let message = Message(
                        connection: place, index: index, item: item, bytes: try builder.bytes(of: item, filled: item))
                    events.append((item.time, 1, .message(message)))
                } else if let frame = item.frame, counts(frame), !isHeartbeat || isAfterHeartbeat {
                    events.append((item.time, 1, .heard(place)))
                }
            }
            let end = connection.closing?.time ?? connection.lastTime
            let isServers = connection.closing?.by == .fromServer
            events.append(
                (end, 2, .step(isServers ? .awaitEnd(connection: place) : .finish(connection: place))))
        }
        // By time; those of one connection stay in their order.
        let sorted = events.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
        var awaited = [Int](repeating: 0, count: connections.count)
        for (_, (_, _, event)) in sorted {
            switch event {
            case .step(let step): add(step)
            case .message(let message):
                messages.append(message)
                add(.send(message: messages.count - 1))
            case .heard(let place):
                awaited[place] += 1
                let last = needs.count - 1
                needs[last].removeAll { $0.connection == place }
                needs[last].append(Need(connection: place, frames: awaited[place]))
            }
        }
    }

    /// Whether a frame of the server counts among those that are awaited: one that the rules ignore may come or not.
    func counts(_ frame: FrameEvent) -> Bool {
        (!frame.isHeartbeat || includesHeartbeats) && !rules.ignoresFrame(frame.from, frame.type)
    }

    private enum Event {
        case step(Step)
        case message(Message)
        case heard(Int)
    }

    private mutating func add(_ step: Step) {
        steps.append(step)
        needs.append([])
    }

    /// The script as the server really answers: awaited is what has arrived in a first run.
    mutating func adapt(to reached: [[Need]]) {
        for (place, known) in reached.enumerated() where place < needs.count { needs[place] = known }
    }

    /// How many frames of the server are awaited on each connection.
    var awaited: [Int] {
        var awaited = [Int](repeating: 0, count: connections.count)
        for need in needs.joined() { awaited[need.connection] = max(awaited[need.connection], need.frames) }
        return awaited
    }

    /// How many bytes the clients send.
    var byteCount: Int { messages.reduce(0) { $0 + $1.bytes.count } }

    /// The messages that directly follow one another on one connection, from one on: those that can be pipelined.
    func pipeline(from message: Int, atMost count: Int) -> Range<Int> {
        guard let first = steps.firstIndex(of: .send(message: message)) else { return message..<message }
        let connection = messages[message].connection
        var end = message
        for step in steps[first...] {
            guard case .send(let next) = step, messages[next].connection == connection, end - message < count else {
                break
            }
            end = next + 1
        }
        return message..<end
    }
}
