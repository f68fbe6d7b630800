import Streams

/// The server of `text-heartbeat`: distinguishes clients by their connections, forgets silent ones, and answers free text (the
/// answer is our choice: `收到 ` and the text).
package struct TextServer: PeerMachine {
    private struct Client {
        var version: String?
        var lastRead: Timestamp
        var isAlive = true
    }

    package let setup: PeerSetup
    private let silence: Interval
    private var clients: [Int: Client] = [:]
    /// The published way of distinguishing clients, which replaces distinguishing them by their connections.
    private var byText: ClientsByText?

    /// A server without connections. The sweep's interval and the silence that it allows are 10 s each, scaled.
    package init(_ setup: PeerSetup) {
        self.setup = setup
        silence = setup.options.tolerated(.seconds(10))
        byText = setup.has("keyed-by-text") ? ClientsByText() : nil
    }

    package func label(_ number: Int) -> String? { clients[number]?.version }

    package mutating func started(at now: Timestamp) -> [PeerAction] { [.wake("sweep", after: silence)] }

    package mutating func opened(_ number: Int, at now: Timestamp) -> [PeerAction] {
        clients[number] = Client(lastRead: now)
        return []
    }

    package mutating func read(
        _ bytes: [UInt8], on number: Int, at now: Timestamp, with reader: inout any MessageReader
    ) -> [PeerInput] {
        if setup.has("cut-character"), UnfinishedCharacter.unfinished(at: bytes) > 0 {
            return [.crash("the published server crashes: a read ends inside a character, so it is no text")]
        }
        var inputs: [PeerInput] = []
        if let said = byText?.heard(bytes, at: now) { inputs.append(.note(said)) }
        if clients[number]?.isAlive == false, byText == nil { inputs.append(.note("is back")) }
        clients[number]?.lastRead = now
        clients[number]?.isAlive = true
        return inputs + reader.receive(bytes.span.bytes, at: now)
    }

    package mutating func take(_ message: PeerMessage, on number: Int, at now: Timestamp) -> [PeerAction] {
        guard let version = HeartbeatText.version(in: message.body) else {
            let answer = "收到 " + String(decoding: message.body, as: UTF8.self)
            return [.log("#\(number) \(quoted(message.body))"), .send(.bytes(Array(answer.utf8)), connection: number)]
        }
        guard clients[number]?.version != version else { return [] }
        clients[number]?.version = version
        return [.log("#\(number) runs version \(version)")]
    }

    package mutating func closed(_ number: Int, at now: Timestamp) -> [PeerAction] {
        clients[number] = nil
        return []
    }

    package mutating func due(_ timer: PeerTimer, at now: Timestamp) -> [PeerAction] {
        let silence = silence
        let again = PeerAction.wake("sweep", after: silence)
        if let said = byText?.sweep(silence, at: now) { return said.map { .log($0) } + [again] }
        var actions: [PeerAction] = []
        for (number, client) in clients.sorted(by: { $0.key < $1.key }) where client.isAlive {
            guard now - client.lastRead > silence else { continue }
            clients[number]?.isAlive = false
            actions.append(.log("\(who(number)) forgotten: silent for \((now - client.lastRead).inSeconds)"))
        }
        let alive = clients.filter(\.value.isAlive).keys.sorted().map { who($0) }
        if !clients.isEmpty {
            actions.append(.log("alive: " + (alive.isEmpty ? "nobody" : alive.joined(separator: ", "))))
        }
        return actions + [again]
    }
}

/// A client of `text-heartbeat`: a heartbeat every 5 s, the first 5 s after connecting, and free text.
package struct TextClient: PeerMachine {
    package let setup: PeerSetup
    package let name = "the client"
    /// How many of the next heartbeats are omitted, though the connection stays open.
    package var heartbeatsToSkip = 0
    /// Text that is sent in one write with the next heartbeat, as the kernel may merge them.
    package var textWithHeartbeat: [UInt8] = []
    /// How many heartbeats the clock has sent.
    package var heartbeats = 0
    /// The server's text, concatenated: reads are not messages here. Only the most recent bytes.
    package private(set) var heard: [UInt8] = []
    /// The bytes of one heartbeat.
    package let heartbeat: [UInt8]

    /// A client that is not connected, with its system's version as C prints a double.
    package init(_ setup: PeerSetup, version: String) {
        (self.setup, heartbeat) = (setup, HeartbeatText.bytes(version: version))
    }

    /// Whether the server has sent this text, possibly among others.
    package func hasHeard(_ text: String) -> Bool {
        let wanted = Array(text.utf8)
        return heard.indices.contains { heard[$0...].starts(with: wanted) }
    }

    private var nextHeartbeat: PeerAction { .wake("heartbeat", after: setup.options.scaled(.seconds(5))) }

    package mutating func opened(_ number: Int, at now: Timestamp) -> [PeerAction] { [nextHeartbeat] }

    package mutating func due(_ timer: PeerTimer, at now: Timestamp) -> [PeerAction] {
        guard heartbeatsToSkip == 0 else {
            heartbeatsToSkip -= 1
            return [.log("\(name) leaves out a heartbeat"), nextHeartbeat]
        }
        heartbeats += 1
        defer { textWithHeartbeat = [] }
        return [.send(.bytes(heartbeat + textWithHeartbeat)), nextHeartbeat]
    }

    package mutating func take(_ message: PeerMessage, on number: Int, at now: Timestamp) -> [PeerAction] {
        heard = (heard + message.body).suffix(65_536)
        return [.log("\(name) got \(quoted(message.body))")]
    }
}
