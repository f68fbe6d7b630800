import Framing
import Streams

/// A client of `len16-id`: logs in on connecting; every 30 s it checks that a heartbeat has arrived since the last check, and if
/// not, disconnects and logs in again.
package struct MessageClientState: PeerMachine {
    /// The actions that it asks for.
    package typealias Action = PeerAction<Alarm, Never>

    /// The alarms that it sets.
    package enum Alarm: Hashable, Sendable {
        /// Time to check for heartbeats.
        case check
    }

    /// A chat that arrived.
    package struct Chat: Hashable, Sendable {
        /// The sender.
        package var from: String
        /// The text.
        package var text: String
    }

    private static let mostChats = 1_000

    /// The server's reply to the login; nil before it arrives.
    package private(set) var outcome: UserMessage.Outcome?
    /// The total number of heartbeats received.
    package private(set) var heartbeats = 0
    /// The total number of chats received.
    package private(set) var chatCount = 0
    /// The newest chats.
    package private(set) var chats: [Chat] = []
    /// The user's id.
    package let userID: String

    private let format: Format
    private let session: String
    private let interval: Interval
    private let hazards: Set<String>
    private var backoff: Backoff
    private var connection: (number: Int, since: Timestamp, receiver: MessageReceiver)?
    private var hasHeardHeartbeat = false

    /// A client that is not connected.
    ///
    /// - Parameter options: scales the check's interval of 30 s and the waits between attempts, 0.25 s to 30 s.
    ///   `asPublished` may have what `PublishedLengthReceiver` knows.
    package init(_ format: Format, userID: String, session: String, options: PeerOptions) {
        (self.format, self.userID, self.session) = (format, userID, session)
        interval = options.tolerated(.seconds(30))
        hazards = options.asPublished
        backoff = Backoff(
            first: options.scaled(.seconds(0.25)), longest: options.scaled(.seconds(30)),
            steady: options.scaled(.seconds(10)))
    }

    /// The texts of chats to a user, concatenated.
    package func chats(_ texts: [String], to target: String, sentAt: UInt64) -> [UInt8] {
        let receiver = MessageReceiver(format, sending: .fromClient, asPublished: [])
        return texts.flatMap {
            receiver.encode(.chat(from: userID, to: target, text: $0, sentAt: sentAt)) ?? []
        }
    }

    package mutating func started(at time: Timestamp) -> [Action] { [.connect(after: .seconds(0))] }

    package mutating func opened(_ number: Int, with peer: String, at time: Timestamp) -> [Action] {
        let receiver = MessageReceiver(format, sending: .fromClient, asPublished: hazards)
        connection = (number, time, receiver)
        hasHeardHeartbeat = false
        return [
            .log("\(userID) connected"),
            .write(receiver.encode(.login(userID: userID, session: session)) ?? [], connection: number),
            .alarm(.check, after: interval),
        ]
    }

    package mutating func received(_ bytes: [UInt8], on number: Int, at time: Timestamp) -> [Action] {
        guard connection?.number == number else { return [] }
        return (connection?.receiver.receive(bytes, at: time) ?? []).map { input in
            switch input {
            case .note(let note): return .log("\(userID) got \(note)")
            case .message(let message):
                received(message)
                return .log("\(userID) got \(message)")
            }
        }
    }

    private mutating func received(_ message: UserMessage) {
        switch message {
        case .loginResult(let outcome, _): self.outcome = outcome
        case .heartbeat:
            heartbeats += 1
            hasHeardHeartbeat = true
        case .chat(let from, _, let text, _):
            chatCount += 1
            chats = (chats + [Chat(from: from, text: text)]).suffix(Self.mostChats)
        case .login: break
        }
    }

    package mutating func due(_ alarm: Alarm, at time: Timestamp) -> [Action] {
        guard let connection else { return [] }
        guard hasHeardHeartbeat else {
            return [
                .log("\(userID) heard no heartbeat for \(interval.inSeconds): disconnects"),
                .close(connection: connection.number),
            ]
        }
        hasHeardHeartbeat = false
        return [.alarm(.check, after: interval)]
    }

    package mutating func closed(_ number: Int, error: String?, at time: Timestamp) -> [Action] {
        let wait = backoff.next(after: connection.map { time - $0.since })
        connection = nil
        outcome = nil
        let why = error ?? "the connection is closed"
        return [.log("\(userID) \(why); connects again in \(wait.seconds) s"), .connect(after: wait)]
    }
}
