import Streams

/// The server of `line`: answers each line; the line `esc` ends the session.
///
/// With the hazard `per-read` it answers every read, and recognises `esc` CRLF only if that is the whole read.
package struct LineServer: PeerMachine {
    /// Its answer: 13 bytes.
    package static let answer = Array("我是回答\n".utf8)

    package let setup: PeerSetup

    /// A server without connections.
    package init(_ setup: PeerSetup) { self.setup = setup }

    private var goesByReads: Bool { setup.has("per-read") }

    package mutating func read(
        _ bytes: [UInt8], on number: Int, at now: Timestamp, with reader: inout any MessageReader
    ) -> [PeerInput] {
        goesByReads ? [.message(PeerMessage(body: bytes))] : reader.receive(bytes.span.bytes, at: now)
    }

    package mutating func take(_ line: PeerMessage, on number: Int, at now: Timestamp) -> [PeerAction] {
        line.body == Array((goesByReads ? "esc\r\n" : "esc").utf8)
            ? [.log("#\(number) says goodbye"), .close(connection: number)]
            : [.log("#\(number) \(quoted(line.body))"), .send(.bytes(Self.answer), connection: number)]
    }
}

/// A client of `line`: counts the answers.
package struct LineClient: PeerMachine {
    package let setup: PeerSetup
    package let name = "the client"
    /// How many lines the server has sent.
    package private(set) var answers = 0
    /// Whether it is connected.
    package private(set) var isConnected = false

    /// A client that is not connected.
    package init(_ setup: PeerSetup) { self.setup = setup }

    package mutating func opened(_ number: Int, at now: Timestamp) -> [PeerAction] {
        isConnected = true
        return []
    }

    package mutating func take(_ line: PeerMessage, on number: Int, at now: Timestamp) -> [PeerAction] {
        answers += 1
        return [.log("\(name) got \(quoted(line.body))")]
    }

    package mutating func closed(_ number: Int, at now: Timestamp) -> [PeerAction] {
        isConnected = false
        return []
    }
}
