import Framing
import Streams

/// A client of `text-heartbeat`: a heartbeat every 5 s, the first 5 s after connecting, and free text.
package struct TextClientState: PeerMachine {
    /// The actions that it asks for.
    package typealias Action = PeerAction<Alarm, Never>

    /// The alarms that it sets.
    package enum Alarm: Hashable, Sendable {
        /// Time for a heartbeat.
        case heartbeat
    }

    /// How many of the next heartbeats are omitted, though the connection stays open.
    package var heartbeatsToSkip = 0
    /// Text that is sent in one write with the next heartbeat, as the kernel may merge them.
    package var textWithHeartbeat: [UInt8] = []
    /// Whether half of a text has been sent: a heartbeat inside a character would break it.
    package var isInsideText = false
    /// How many heartbeats the clock has sent.
    package private(set) var heartbeats = 0
    /// The number of the connection; nil while there is none.
    package private(set) var connection: Int?
    /// The server's text, concatenated: reads are not messages here. Only the most recent bytes.
    package private(set) var heard: [UInt8] = []

    /// The bytes of one heartbeat.
    package let heartbeat: [UInt8]
    private let interval: Interval
    private var character = UnfinishedCharacter()

    /// A client that is not connected.
    ///
    /// - Parameters:
    ///   - version: its system's version, as C prints a double.
    ///   - options: scales the heartbeat's interval of 5 s.
    package init(version: String, options: PeerOptions) {
        heartbeat = HeartbeatText.bytes(version: version)
        interval = options.scaled(.seconds(5))
    }

    /// Whether the server has sent this text, possibly among others.
    package func hasHeard(_ text: String) -> Bool {
        let wanted = Array(text.utf8)
        return heard.indices.contains { heard[$0...].starts(with: wanted) }
    }

    package mutating func started(at time: Timestamp) -> [Action] { [.connect(after: .seconds(0))] }

    package mutating func opened(_ number: Int, with peer: String, at time: Timestamp) -> [Action] {
        connection = number
        return [.log("connected"), .alarm(.heartbeat, after: interval)]
    }

    package mutating func due(_ alarm: Alarm, at time: Timestamp) -> [Action] {
        guard let connection else { return [] }
        if isInsideText { return [.alarm(.heartbeat, after: .milliseconds(5))] }
        let again = Action.alarm(.heartbeat, after: interval)
        guard heartbeatsToSkip == 0 else {
            heartbeatsToSkip -= 1
            return [.log("leaves out a heartbeat"), again]
        }
        heartbeats += 1
        defer { textWithHeartbeat = [] }
        return [.write(heartbeat + textWithHeartbeat, connection: connection), again]
    }

    package mutating func received(_ bytes: [UInt8], on number: Int, at time: Timestamp) -> [Action] {
        heard = (heard + bytes).suffix(65_536)
        let text = String(decoding: character.complete(with: bytes), as: UTF8.self)
        return [.log("got \(FieldValue.text(text).shortDescription)")]
    }

    package mutating func closed(_ number: Int, error: String?, at time: Timestamp) -> [Action] {
        connection = nil
        return [.log(error ?? "the connection is closed")]
    }
}
